/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"
#include "service/request.h"

#include <monkey/web/query.h>

/* Values of the query: those of libmonkey-web. */

static struct mk_str find(duda_request_t *dr, const char *name, const char *call)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, call);
    struct mk_str value;

    if (!rq || !rq->r || !name || mk_query_value(rq->r, mk_str_from(name), &value) <= 0)
        return (struct mk_str){NULL, 0};
    return value;
}

static char *get(duda_request_t *dr, const char *name)
{
    return mk_duda_pointer(find(dr, name, "query->get")).data;
}

static int get_number(duda_request_t *dr, const char *name, long *res)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "query->get_number");
    int64_t n;

    if (!rq || !rq->r || !name || !res || mk_query_int(rq->r, mk_str_from(name), &n) <= 0 ||
        (int64_t)(long)n != n)
        return -1;
    *res = (long)n;
    return 0;
}

static int next(duda_request_t *dr, size_t *at, char **name, char **value)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "query->next");
    struct mk_str n, v;
    int found = MK_E_BAD;

    if (!rq || !rq->r || !at || !name || !value)
        return -1;
    while (found == MK_E_BAD)
        found = mk_query_next(rq->r, at, &n, &v);
    if (found <= 0)
        return -1;
    *name = mk_duda_pointer(n).data;
    *value = mk_duda_pointer(v).data;
    return 0;
}

const struct duda_api_query mk_duda_query = {.get = get, .get_number = get_number, .next = next};
