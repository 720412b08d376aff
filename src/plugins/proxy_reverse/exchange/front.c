/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/front.h"

#include "kit/text/words.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

/* ---- what stays of an answer ---- */

enum { TYPE, DISPOSITION, CACHE, EXPIRES, STAYS };

static const struct mk_str names[STAYS] = {
    [TYPE] = MK_STR_INIT("Content-Type"),
    [DISPOSITION] = MK_STR_INIT("Content-Disposition"),
    [CACHE] = MK_STR_INIT("Cache-Control"),
    [EXPIRES] = MK_STR_INIT("Expires"),
};

/* Kept with the request, which an order has sent elsewhere. */
struct front {
    struct mk_str values[STAYS]; /* p NULL: none */
};

static const char key;
static const char no_memory[] = "no memory to send what the backend names";

static const char *answer_bytes(const struct proxy_exchange *x)
{
    return x->down->bytes + x->down->at;
}

static struct mk_str find(const struct proxy_exchange *x, struct mk_str name)
{
    return mk_response_find(&x->answer, answer_bytes(x), name);
}

static bool copy_value(struct mk_request *r, struct mk_str *to, struct mk_str value)
{
    char *copy;

    *to = (struct mk_str){NULL, 0};
    if (!value.p)
        return true;
    copy = mk_request_alloc(r, value.len + 1);
    if (!copy)
        return false;
    memcpy(copy, value.p, value.len);
    copy[value.len] = '\0';
    *to = (struct mk_str){copy, value.len};
    return true;
}

/* A file has none of its own. */
static bool pass_cookies(struct proxy_exchange *x)
{
    const struct mk_str set_cookie = MK_STR("Set-Cookie");
    char text[PROXY_COOKIE_ROOM];
    struct mk_str name, value;
    uint32_t at = 0;

    while (mk_response_next(&x->answer, answer_bytes(x), &at, &name, &value)) {
        if (text_is_word(name, set_cookie) &&
            mk_reply_field(x->r, set_cookie, proxy_answer_value(x, name, value)) < 0)
            return false;
    }
    return !x->attempt.sets_cookie ||
           mk_reply_field(x->r, set_cookie, proxy_answer_cookie(x, text)) == 0;
}

static bool keep_fields(struct proxy_exchange *x)
{
    struct front *front = mk_request_alloc(x->r, sizeof(*front));

    if (!front)
        return false;
    for (unsigned i = 0; i < STAYS; i++) {
        if (!copy_value(x->r, &front->values[i], find(x, names[i])))
            return false;
    }
    return mk_request_keep(x->r, &key, front) == 0;
}

/* Another type than that of the parts' frame would hide them. */
static bool is_in_parts(const struct mk_head *head)
{
    return mk_head_status(head) == 206 &&
           text_begins(mk_head_get(head, names[TYPE]), MK_STR("multipart/byteranges"));
}

int proxy_front_head(struct mk_request *r, const struct mk_context *ctx, struct mk_head *head)
{
    const struct front *front = mk_request_kept(r, &key);
    const unsigned status = mk_head_status(head);
    int err = 0;

    (void)ctx;
    if (!front || (status != 200 && status != 206 && status != 304))
        return 0;
    for (unsigned i = is_in_parts(head) || status == 304 ? TYPE + 1 : TYPE; i < STAYS && err == 0;
         i++) {
        if (front->values[i].p)
            err = mk_head_set(head, names[i], front->values[i]);
    }
    return err;
}

/* ---- orders ---- */

bool proxy_front_find(const struct proxy_exchange *x, struct proxy_front_order *order)
{
    *order = (struct proxy_front_order){.is_file = false};
    if (x->answer.status >= 300)
        return false;
    if (x->set->accel != PROXY_ACCEL_OFF)
        order->value = find(x, MK_STR("X-Accel-Redirect"));
    if (order->value.p || !x->set->sendfile_root)
        return order->value.p != NULL;
    order->is_file = true;
    order->value = find(x, MK_STR("X-Sendfile"));
    if (!order->value.p)
        order->value = find(x, MK_STR("X-Lighttpd-Send-File"));
    return order->value.p != NULL;
}

static bool is_directory(const char *root, struct mk_str path)
{
    char whole[PATH_MAX];
    struct stat st;
    int len = snprintf(whole, sizeof(whole), "%s%s", root, path.p);

    return len > 0 && (size_t)len < sizeof(whole) && stat(whole, &st) == 0 && S_ISDIR(st.st_mode);
}

static const char *take_file(struct proxy_exchange *x, struct mk_str value)
{
    struct mk_request_facts f = {.size = sizeof(f)};
    const char *root = x->set->sendfile_root, *why;
    char *room = mk_request_alloc(x->r, value.len + 2), real[PATH_MAX];
    struct mk_str path;

    if (!room)
        return no_memory;
    mk_request_facts(x->r, &f);
    if (!x->is_head && !text_is(f.method, MK_STR("GET")))
        return "only a GET or a HEAD is answered by X-Sendfile";
    path = proxy_front_beneath(room, value, root);
    if (!path.p)
        return "X-Sendfile names no file beneath SendfileRoot";
    why = f.symlinks ? proxy_front_follow(real, root, &path) : NULL;
    if (why)
        return why;
    if (is_directory(root, path))
        return "X-Sendfile names a directory";
    return copy_value(x->r, &x->file, path) ? NULL : no_memory;
}

/* The part of a target before its query is a path of the site that an order may name. */
static bool may_go(const struct proxy_exchange *x, struct mk_str target)
{
    struct mk_str path = text_cut(&target, '?'), beneath = x->set->accel_path;
    char *decoded = mk_request_alloc(x->r, path.len + 1);
    ssize_t n = decoded ? proxy_front_decode(decoded, path) : MK_E_NOMEM;

    if (n <= 0 || decoded[0] != '/')
        return false;
    return x->set->accel != PROXY_ACCEL_BENEATH ||
           ((size_t)n > beneath.len && memcmp(decoded, beneath.p, beneath.len) == 0);
}

static const char *move(struct proxy_exchange *x, struct mk_str target)
{
    if (!may_go(x, target))
        return "X-Accel-Redirect names no path that AccelRedirect allows";
    if (mk_request_reroute(x->r, target) < 0)
        return "X-Accel-Redirect cannot be followed, or leads back too often";
    proxy_exchange_leave(x);
    return NULL;
}

const char *proxy_front_obey(struct proxy_exchange *x, const struct proxy_front_order *order)
{
    const char *why;

    if (!keep_fields(x) || !pass_cookies(x))
        return no_memory;
    why = order->is_file ? take_file(x, order->value) : move(x, order->value);
    if (!why)
        mk_request_ends_on_hangup(x->r, false); /* as for any file */
    return why;
}

enum mk_verdict proxy_front_guard(struct mk_request *r)
{
    struct mk_request_facts f = {.size = sizeof(f)};

    mk_request_facts(r, &f);
    return mk_request_kept(r, &key) && f.document_root
               ? mk_reply_beneath(r, mk_str_from(f.document_root), f.path)
               : mk_reply_error(r, 404, NULL);
}
