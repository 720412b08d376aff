/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/base64/base64.h"

DUDA_REGISTER("tests", "base64");

static void show(duda_request_t *dr, unsigned char *text, size_t len)
{
    response->http_status(dr, 200);
    if (text)
        response->printf(dr, "%s %zu", (char *)text, len);
    else
        response->print(dr, "none", 4);
    mem->free(text);
    response->end(dr, NULL);
}

static void encode(duda_request_t *dr)
{
    mk_pointer query = dr->sr->query_string;
    size_t len = 0;
    unsigned char *text = base64->encode((unsigned char *)(query.data ? query.data : ""), query.len, &len);

    show(dr, text, len);
}

static void decode(duda_request_t *dr)
{
    mk_pointer query = dr->sr->query_string;
    size_t len = 0;
    unsigned char *text = base64->decode((unsigned char *)(query.data ? query.data : ""), query.len, &len);

    show(dr, text, len);
}

int duda_main()
{
    duda_load_package(base64, "base64");
    map->static_add_ref("/encode", encode);
    map->static_add_ref("/decode", decode);
    return 0;
}
