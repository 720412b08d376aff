/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("space1", "the paths of level 1");

static void say(duda_request_t *dr, const char *who)
{
    long number = -7;
    int result = param->get_number(dr, 0, &number);

    response->http_status(dr, 200);
    response->printf(dr, "%s", who);
    for (short int i = 0; i < param->count(dr); i++) {
        char *text = param->get(dr, i);

        gc->add(dr, text);
        response->printf(dr, " %s:%d", text, param->len(dr, i));
    }
    if (param->count(dr) > 0)
        response->printf(dr, " %d %ld %s", result, number, param->get(dr, 8) ? "more" : "");
    response->end(dr, NULL);
}

void at_root(duda_request_t *dr)
{
    say(dr, "root");
}

void show(duda_request_t *dr)
{
    say(dr, "show");
}

static void builtin(duda_request_t *dr)
{
    say(dr, "builtin");
}

static void apples(duda_request_t *dr)
{
    say(dr, "apples");
}

static void second(duda_request_t *dr)
{
    say(dr, "second");
}

int duda_main()
{
    duda_interface_t *i = map->interface_new("item");
    duda_method_t *m = map->method_new("show", "show", 2);

    map->method_add_param(map->param_new("id", 5), m);
    map->method_add_param(map->param_new("word", 0), m);
    map->interface_add_method(m, i);
    map->interface_add_method(map->method_builtin_new("all", builtin, 0), i);
    map->add_interface(i);
#ifndef NO_ROOT
    map->static_root("at_root");
#endif
    map->static_add_ref("/apples", apples);
    map->static_add_ref("/apples/red", second);
    map->static_add_ref("/item/show", second);
#ifdef FORCE
    conf->force_redirect();
#endif
    return 0;
}
