/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/words.h"
#include "objects/objects.h"
#include "service/request.h"

/* The query string, as sent. */

struct entry {
    struct mk_str key, value;
};

/* Entries without `=` or without a key do not count. @return false: there are no more */
static bool next_entry(struct mk_str *rest, struct entry *e)
{
    while (rest->len > 0) {
        struct mk_str value = text_cut(rest, '&');
        bool has_value = memchr(value.p, '=', value.len) != NULL;

        e->key = text_cut(&value, '=');
        e->value = value;
        if (has_value && e->key.len > 0)
            return true;
    }
    return false;
}

static struct mk_str query_of(const struct mk_duda_request *rq)
{
    return rq ? mk_duda_str(rq->sr.query_string) : (struct mk_str){NULL, 0};
}

static int count(duda_request_t *dr)
{
    struct mk_str rest = query_of(mk_duda_request_check(dr, "qs->count"));
    struct entry e;
    int n = 0;

    while (n < QS_ENTRIES_SIZE && next_entry(&rest, &e))
        n++;
    return n;
}

/* @param key  NULL: any */
static bool find(const struct mk_duda_request *rq, const char *key, int idx, struct entry *e)
{
    struct mk_str rest = query_of(rq);

    for (int n = 0; n < QS_ENTRIES_SIZE && next_entry(&rest, e); n++) {
        if (key ? text_is(e->key, mk_str_from(key)) : n == idx)
            return true;
    }
    return false;
}

static char *get(duda_request_t *dr, const char *key)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "qs->get");
    struct entry e;

    return key && find(rq, key, 0, &e) ? mk_duda_request_copy(rq, e.value) : NULL;
}

static char *get_id(duda_request_t *dr, int idx)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "qs->get_id");
    struct entry e;

    return find(rq, NULL, idx, &e) ? mk_duda_request_copy(rq, e.value) : NULL;
}

static int cmp(duda_request_t *dr, const char *key, const char *value)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "qs->cmp");
    struct entry e;

    return key && value && find(rq, key, 0, &e) && text_is(e.value, mk_str_from(value)) ? 0 : -1;
}

const struct duda_api_qs mk_duda_qs = {.count = count, .get = get, .get_id = get_id, .cmp = cmp};
