#include "webservice.h"

DUDA_REGISTER("@NAME@", "says hello");

/* GET /@NAME@/greet?name=... The page is html/index.html. */
static void greet(duda_request_t *dr)
{
    char *name = qs->get(dr, "name");

    response->http_status(dr, 200);
    response->http_header(dr, "Content-Type: text/plain; charset=utf-8");
    response->printf(dr, "Hello, %s!\n", name && *name ? name : "world");
    response->end(dr, NULL);
}

int duda_main()
{
    router->map("/greet", greet);
    return 0;
}
