/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("obj_session", "sessions");

static void answer(duda_request_t *dr, int result)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d", result);
    response->end(dr, NULL);
}

/* /create/NAME/VALUE/SECONDS: 0 seconds is a session of the browser */
void create(duda_request_t *dr)
{
    char *name = param->get(dr, 0), *value = param->get(dr, 1);
    long seconds = 0;
    int result;

    param->get_number(dr, 2, &seconds);
    result = session->create(dr, name, value, seconds ? (int)(time(NULL) + seconds) : 0);
    free(name);
    free(value);
    answer(dr, result);
}

void twice(duda_request_t *dr)
{
    int first = session->create(dr, "one", "1", 0), second = session->create(dr, "two", "2", 0);

    answer(dr, first == 0 && second == 0 && session->isset(dr, "one") == 0 ? 0 : -1);
}

void get(duda_request_t *dr)
{
    char *name = param->get(dr, 0), *value = session->get(dr, name);

    response->http_status(dr, 200);
    response->printf(dr, "%s %d", value ? value : "none", session->isset(dr, name));
    response->finalize(dr, NULL);
    free(name);
    mem->free(value);
}

void destroy(duda_request_t *dr)
{
    char *name = param->get(dr, 0);
    int result = session->destroy(dr, name);

    free(name);
    answer(dr, result);
}

void wrong(duda_request_t *dr)
{
    answer(dr, session->create(dr, NULL, "x", 0) == -1 && session->create(dr, "x", NULL, 0) == -1 &&
                       session->get(dr, NULL) == NULL && session->isset(dr, NULL) == -1 &&
                       session->destroy(dr, NULL) == -1 &&
                       session->create(NULL, "x", "x", 0) == -1 && session->init("late") == -1
                   ? 0
                   : -1);
}

int duda_main()
{
    static const struct {
        char *name;
        int params;
    } methods[] = {{"create", 3}, {"get", 1}, {"destroy", 1}, {"twice", 0}, {"wrong", 0}};
    duda_interface_t *all = map->interface_new("s");

    for (int i = 0; i < 5; i++) {
        duda_method_t *method =
            map->method_new(methods[i].name, methods[i].name, methods[i].params);

        for (int n = 0; n < methods[i].params; n++)
            map->method_add_param(map->param_new("p", 0), method);
        map->interface_add_method(method, all);
    }
    map->add_interface(all);
    return session->init("store");
}
