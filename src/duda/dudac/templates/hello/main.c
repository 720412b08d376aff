#include "webservice.h"

DUDA_REGISTER("@NAME@", "says hello");

/* GET /@NAME@/greet?name=... The page is html/index.html. */
static void greet(duda_request_t *dr)
{
    const char *name = query->get(dr, "name");

    response->send(dr, 200, "text/plain; charset=utf-8", "Hello, %s!\n",
                   name && *name ? name : "world");
}

int duda_main()
{
    router->get("/greet", greet);
    return 0;
}
