/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("misuse", "what no service should do");

static duda_request_t *old;

static void no_status(duda_request_t *dr)
{
    response->print(dr, "x", 1);
    response->end(dr, NULL);
}

static void twice(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->print(dr, "once", 4);
    response->finalize(dr, NULL);
    response->print(dr, "more", 4);
    response->end(dr, NULL);
}

static void row(duda_request_t *dr)
{
    int results[5];

    results[0] = response->http_header(dr, "X-A: 1\r\nX-Evil: 1");
    results[1] = response->http_header(dr, "nothing");
    results[2] = response->http_header(dr, NULL);
    results[3] = response->http_header(dr, "X-Good: yes");
    results[4] = response->http_header(dr, "Transfer-Encoding: chunked");
    response->http_status(dr, 200);
    response->printf(dr, "%d %d %d %d %d", results[0], results[1], results[2], results[3],
                     results[4]);
    response->end(dr, NULL);
}

static void many_rows(duda_request_t *dr)
{
    int last = 0;

    for (int i = 0; i < 10000; i++)
        last = response->http_header(dr, "X-Many: and many more of them");
    response->http_status(dr, 200);
    response->printf(dr, "%d", last);
    response->end(dr, NULL);
}

static void status(duda_request_t *dr)
{
    int low = response->http_status(dr, 42), high = response->http_status(dr, 600);

    response->http_status(dr, 299);
    response->printf(dr, "%d %d", low, high);
    response->end(dr, NULL);
}

static void interim(duda_request_t *dr)
{
    response->http_status(dr, 100);
    response->end(dr, NULL);
}

static void nulls(duda_request_t *dr)
{
    int n = 0;
    unsigned long len = 7;
    long number;

    n += response->http_status(NULL, 200) == -1;
    n += response->print(dr, NULL, 3) == -1;
    n += response->print(dr, "x", -1) == -1;
    n += response->printf(NULL, "x") == -1;
    n += response->sendfile(dr, NULL) == -1;
    n += response->sendfile(dr, "/no/such/file") == -1;
    n += response->sendfile(dr, "/") == -1;
    n += response->sendfile_range(dr, "/proc/self/maps", 10, 10) == -1;
    n += response->http_content_type(dr, NULL) == -1;
    n += response->wait(NULL) == -1;
    n += response->flush(NULL) == -1;
    n += response->_end(NULL, NULL) == -1;
    n += request->get_data(NULL, &len) == NULL && len == 0;
    n += request->header_get(dr, NULL) == NULL;
    n += request->header_cmp(dr, NULL, NULL) == -1;
    n += request->header_contains(dr, "Host", NULL) == -1;
    n += request->is_get(NULL) == MK_FALSE;
    n += request->validate_request((duda_request_t *)(void *)&n) == MK_FALSE;
    n += request->validate_socket(-1) == MK_FALSE;
    n += qs->get(dr, NULL) == NULL && qs->count(NULL) == 0;
    n += cookie->get(dr, NULL, NULL, NULL) == -1;
    n += cookie->set(dr, NULL, 1, "x", 1, 0) == -1;
    n += param->get(dr, -1) == NULL && param->get_number(dr, 0, &number) == -1;
    n += gc->add(dr, NULL) == 0 && gc->add(NULL, NULL) == -1;
    n += map->static_add_ref("/late", nulls) == -1;
    response->http_status(dr, 200);
    response->printf(dr, "%d", n);
    response->end(dr, NULL);
}

static void keep(duda_request_t *dr)
{
    old = dr;
    response->http_status(dr, 200);
    response->end(dr, NULL);
}

/* The request that was kept is over. */
static void use_old(duda_request_t *dr)
{
    int valid = old == dr ? -1 : request->validate_request(old),
        result = response->print(old, "x", 1);

    response->finalize(old, NULL);
    response->http_status(dr, 200);
    response->printf(dr, "%d %d", valid, result);
    response->end(dr, NULL);
}

static void huge(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%1000000d", 7);
    response->end(dr, NULL);
}

static void length(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->http_content_length(dr, qs->count(dr) ? 3 : 30);
    response->print(dr, "123456", 6);
    response->end(dr, NULL);
}

int duda_main()
{
    map->static_add_ref("/no-status", no_status);
    map->static_add_ref("/twice", twice);
    map->static_add_ref("/row", row);
    map->static_add_ref("/many", many_rows);
    map->static_add_ref("/status", status);
    map->static_add_ref("/interim", interim);
    map->static_add_ref("/nulls", nulls);
    map->static_add_ref("/keep", keep);
    map->static_add_ref("/old", use_old);
    map->static_add_ref("/huge", huge);
    map->static_add_ref("/length", length);
    return 0;
}
