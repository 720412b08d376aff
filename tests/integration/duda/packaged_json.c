/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/json/json.h"

DUDA_REGISTER("tests", "json");

static void show(duda_request_t *dr, int status, const char *text)
{
    response->http_status(dr, status);
    response->printf(dr, "%s", text ? text : "none");
    response->end(dr, NULL);
}

/* The posted body, printed. */
static void echo(duda_request_t *dr)
{
    json_t *item = json->parse_data(dr);
    char *text;

    if (!item) {
        show(dr, 400, json->get_error());
        return;
    }
    text = json->print_unformatted_gc(dr, item);
    json->delete (item);
    show(dr, 200, text);
}

/* A tree of each kind of item. */
static void build(duda_request_t *dr)
{
    json_t *object = json->create_object(), *list = json->create_array();

    json->add_to_object(object, "List", list);
    json->add_to_array(list, json->create_null());
    json->add_to_array(list, json->create_true());
    json->add_to_array(list, json->create_false());
    json->add_to_array(list, json->create_bool(1));
    json->add_to_array(list, json->create_number(42));
    json->add_to_object(object, "size", json->create_number(json->get_array_size(list)));
    json->add_to_object(json->get_array_item(list, 9) ? list : object, "text",
                        json->create_string(json->get_object_item(object, "list")->string));
    show(dr, 200, json->print_gc(dr, object));
    json->delete (object);
}

/* A text that is read, and one that is not. */
static void constant(duda_request_t *dr)
{
    static const char bad[] = "[1] x";
    json_t *item = json->parse("{\"a\" : 0.5}");
    char *text = json->print(item), *plain = json->print_unformatted(item);
    char *both = NULL;

    json->delete (item);
    if (json->parse(bad) || json->get_error() != bad + 4 ||
        asprintf(&both, "%s %s", text, plain) < 0)
        both = NULL;
    mem->free(text);
    mem->free(plain);
    show(dr, 200, both);
    free(both);
}

int duda_main()
{
    duda_load_package(json, "json");
    map->static_add_ref("/echo", echo);
    map->static_add_ref("/build", build);
    map->static_add_ref("/constant", constant);
    return 0;
}
