/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"
#include "service/routes.h"

#include <limits.h>

/* Parts of the path: by number at level 1, by name at level 2. */

/* Strict: a sign at most, then digits. @return -1: no number, or too large a one; *number is untouched */
static int read_number(struct mk_str text, long *number)
{
    bool is_negative = text.len > 0 && text.p[0] == '-';
    size_t i = is_negative || (text.len > 0 && text.p[0] == '+');
    long n = 0;

    if (i == text.len)
        return -1;
    for (; i < text.len; i++) {
        if (text.p[i] < '0' || text.p[i] > '9' || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_sub_overflow(n, text.p[i] - '0', &n))
            return -1;
    }
    if (!is_negative && n == LONG_MIN)
        return -1;
    *number = is_negative ? n : -n;
    return 0;
}

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

    return value.p && res ? read_number(value, res) : -1;
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

    return value.p && res ? read_number(value, res) : -1;
}

const struct duda_api_param_by_key mk_duda_param_by_key = {.get = key_get,
                                                           .get_number = key_get_number};
