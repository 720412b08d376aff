/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"
#include "service/pattern.h"
#include "service/routes.h"

#include <limits.h>

/* Parts of the path: by number at level 1, by name at levels 2 and 3. */

/* ---- level 1 ---- */

static struct mk_str by_index(duda_request_t *dr, short int idx, const char *call)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, call);

    if (!rq || idx < 0 || idx >= dr->n_params)
        return (struct mk_str){NULL, 0};
    return mk_duda_str(dr->params[idx]);
}

static char *index_get(duda_request_t *dr, short int idx)
{
    struct mk_str value = by_index(dr, idx, "param->get");

    return value.p ? mk_duda_request_copy(NULL, value) : NULL;
}

static int index_get_number(duda_request_t *dr, short int idx, long *res)
{
    struct mk_str value = by_index(dr, idx, "param->get_number");

    return value.p && res && mk_duda_number_read(value, res) ? 0 : -1;
}

static short int index_count(duda_request_t *dr)
{
    return mk_duda_request_check(dr, "param->count") ? dr->n_params : -1;
}

static short int index_len(duda_request_t *dr, short int idx)
{
    struct mk_str value = by_index(dr, idx, "param->len");

    return value.p ? (short int)(value.len > SHRT_MAX ? SHRT_MAX : value.len) : -1;
}

const struct duda_api_param_by_index mk_duda_param_by_index = {
    .get = index_get, .get_number = index_get_number, .count = index_count, .len = index_len};

/* ---- level 2 ---- */

static struct mk_str by_key(struct mk_duda_request *rq, const char *key)
{
    if (rq && rq->route && rq->r && key)
        return mk_path_value(rq->r, mk_str_from(key));
    if (!rq || !rq->rule || !key)
        return (struct mk_str){NULL, 0};
    return mk_duda_variable(rq->rule, mk_duda_rest(rq->service, mk_duda_str(rq->sr.uri_processed)),
                            mk_str_from(key));
}

static char *key_get(duda_request_t *dr, const char *key)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "param->get");
    struct mk_str value = by_key(rq, key);

    return value.p ? mk_duda_request_copy(rq, value) : NULL;
}

static int key_get_number(duda_request_t *dr, const char *key, long *res)
{
    struct mk_str value = by_key(mk_duda_request_check(dr, "param->get_number"), key);

    return value.p && res && mk_duda_number_read(value, res) ? 0 : -1;
}

const struct duda_api_param_by_key mk_duda_param_by_key = {.get = key_get,
                                                           .get_number = key_get_number};
