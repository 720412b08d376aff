/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/words.h"
#include "objects/request/json_body.h"
#include "objects/objects.h"
#include "service/receive.h"
#include "service/request.h"
#include "service/table.h"

#include <stdlib.h>
#include <string.h>

enum { LEVEL_CLEAN = 3 };

/* ---- methods ---- */

static int is_method(duda_request_t *dr, int method, const char *call)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, call);

    return rq && rq->sr.method == method ? MK_TRUE : MK_FALSE;
}

static int is_get(duda_request_t *dr)
{
    return is_method(dr, MK_HTTP_METHOD_GET, "request->is_get");
}

static int is_post(duda_request_t *dr)
{
    return is_method(dr, MK_HTTP_METHOD_POST, "request->is_post");
}

static int is_head(duda_request_t *dr)
{
    return is_method(dr, MK_HTTP_METHOD_HEAD, "request->is_head");
}

static int is_put(duda_request_t *dr)
{
    return is_method(dr, MK_HTTP_METHOD_PUT, "request->is_put");
}

static int is_delete(duda_request_t *dr)
{
    return is_method(dr, MK_HTTP_METHOD_DELETE, "request->is_delete");
}

/* ---- the body ---- */

static int is_data(duda_request_t *dr)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "request->is_data");

    return rq && rq->body.len > 0 &&
                   (rq->sr.method == MK_HTTP_METHOD_POST || rq->sr.method == MK_HTTP_METHOD_PUT)
               ? MK_TRUE
               : MK_FALSE;
}

static void *get_data(duda_request_t *dr, unsigned long *len)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "request->get_data");
    bool has_body = rq && rq->body.bytes;

    if (len)
        *len = has_body ? rq->body.len : 0;
    return has_body ? mk_duda_request_copy(NULL, (struct mk_str){rq->body.bytes, rq->body.len})
                    : NULL;
}

static const char *body(duda_request_t *dr, size_t *len)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "request->body");
    bool has_body = rq && rq->body.bytes;

    if (len)
        *len = has_body ? rq->body.len : 0;
    return has_body ? rq->body.bytes : NULL;
}

static long content_length(duda_request_t *dr)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "request->content_length");

    return rq && rq->body.bytes ? (long)rq->body.len : -1;
}

static const struct cJSON *json_body(duda_request_t *dr)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "request->json_body");

    return rq && rq->r ? mk_duda_json_body(rq) : NULL;
}

static int read_body(duda_request_t *dr, const struct duda_receiver *receiver, void *arg)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "request->read");

    if (!mk_duda_may_receive(rq, receiver))
        return -1;
    return mk_duda_receive_body(rq, receiver, arg) == 0 ? 0 : -1;
}

/* ---- fields ---- */

/* "Name" and "Name:" are the same field. @return p NULL: it is absent */
static struct mk_str field(duda_request_t *dr, const char *name, const char *call)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, call);
    struct mk_str s = mk_str_from(name);

    if (!rq || !rq->r || !name)
        return (struct mk_str){NULL, 0};
    if (s.len > 0 && s.p[s.len - 1] == ':')
        s.len--;
    return mk_request_header(rq->r, s);
}

static int is_content_type(duda_request_t *dr, const char *type)
{
    struct mk_str value = field(dr, "Content-Type", "request->is_content_type");

    return value.p && type && text_is(value, mk_str_from(type)) ? MK_TRUE : MK_FALSE;
}

/* Asked without the colon, the value begins with the blank behind it, which services below level 3 skip. */
static char *header_get(duda_request_t *dr, const char *name)
{
    struct mk_str value = field(dr, name, "request->header_get");
    bool has_blank;
    char *copy = value.p ? malloc(value.len + 2) : NULL;

    if (!copy)
        return NULL;
    has_blank = mk_duda_request_of(dr)->service->level < LEVEL_CLEAN && name[0] &&
                name[strlen(name) - 1] != ':';
    copy[0] = ' ';
    memcpy(copy + has_blank, value.p, value.len);
    copy[value.len + has_blank] = '\0';
    return copy;
}

static char *header(duda_request_t *dr, const char *name)
{
    struct mk_str value = field(dr, name, "request->header");

    return value.p ? mk_duda_request_copy(mk_duda_request_of(dr), value) : NULL;
}

static int header_cmp(duda_request_t *dr, const char *name, const char *val)
{
    struct mk_str value = field(dr, name, "request->header_cmp"), wanted = mk_str_from(val);

    return value.p && val && value.len >= wanted.len && memcmp(value.p, val, wanted.len) == 0 ? 0
                                                                                              : -1;
}

static int header_contains(duda_request_t *dr, const char *name, const char *val)
{
    struct mk_str value = field(dr, name, "request->header_contains"), wanted = mk_str_from(val);

    for (size_t i = 0; value.p && val && i + wanted.len <= value.len; i++) {
        if (text_begins((struct mk_str){value.p + i, value.len - i}, wanted))
            return (int)i;
    }
    return -1;
}

/* ---- is it still there? ---- */

static int validate_socket(int socket)
{
    const struct mk_duda_worker *w = mk_duda_here()->worker;

    return w && mk_duda_table_has_socket(w->requests, socket) ? MK_TRUE : MK_FALSE;
}

static int validate_request(duda_request_t *dr)
{
    const struct mk_duda_worker *w = mk_duda_here()->worker;

    return w && mk_duda_table_has(w->requests, dr) ? MK_TRUE : MK_FALSE;
}

struct mk_request *mk_duda_request_given(duda_request_t *dr)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "duda_request");

    if (!rq || !rq->r)
        return NULL;
    rq->is_given = true;
    return rq->r;
}

const struct duda_api_request mk_duda_request = {
    .is_data = is_data,
    .is_get = is_get,
    .is_post = is_post,
    .is_head = is_head,
    .is_put = is_put,
    .is_delete = is_delete,
    .is_content_type = is_content_type,
    .get_data = get_data,
    .content_length = content_length,
    .header_get = header_get,
    .header_cmp = header_cmp,
    .header_contains = header_contains,
    .validate_socket = validate_socket,
    .validate_request = validate_request,
    .header = header,
    .body = body,
    .json_body = json_body,
    .read = read_body,
};
