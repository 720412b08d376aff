/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("space2", "the paths of level 2");

static void say(duda_request_t *dr, const char *who)
{
    char *id = param->get(dr, "id"), *name = param->get(dr, "name");
    long number = -7;
    int result = param->get_number(dr, "id", &number);

    response->http_status(dr, 200);
    response->printf(dr, "%s %s %s %d %ld", who, id ? id : "-", name ? name : "-", result, number);
    response->end(dr, NULL);
}

static void at_root(duda_request_t *dr)
{
    say(dr, "root");
}

static void user(duda_request_t *dr)
{
    say(dr, "user");
}

static void both(duda_request_t *dr)
{
    say(dr, "both");
}

static void foo(duda_request_t *dr)
{
    say(dr, "foo");
}

static void bar(duda_request_t *dr)
{
    say(dr, "bar");
}

static void any(duda_request_t *dr)
{
    say(dr, "any");
}

int duda_main()
{
    router->root(at_root);
    router->map("/user/:id/posts/:name", both);
    router->map("/user/:id", user);
    router->map("/foo/", foo);
    router->map("/bar", bar);
    router->map("/:id", any);
    return 0;
}
