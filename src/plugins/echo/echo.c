/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/plugin.h>

#include <stdio.h>
#include <string.h>

/* For tests: answers with the request's head as it was understood, and with its body. */

enum { FIRST_MAX = 1024 };

/* "METHOD target HTTP/1.m", the fields, an empty line. @return bytes of it, written or not. */
static size_t put_head(struct mk_request *r, char *dst, size_t size)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_str name, value;
    uint32_t at = 0;
    size_t len;

    mk_request_facts(r, &facts);
    len = (size_t)snprintf(dst, size, "%.*s %.*s HTTP/1.%u\r\n", (int)facts.method.len,
                           facts.method.p, (int)facts.target.len, facts.target.p, facts.minor);
    while (mk_request_next_header(r, &at, &name, &value))
        len += (size_t)snprintf(len < size ? dst + len : NULL, len < size ? size - len : 0,
                                "%.*s: %.*s\r\n", (int)name.len, name.p, (int)value.len, value.p);
    return len +
           (size_t)snprintf(len < size ? dst + len : NULL, len < size ? size - len : 0, "\r\n");
}

static ssize_t produce_body(struct mk_request *r, void *arg, char *dst, size_t len)
{
    (void)arg;
    return mk_request_read(r, dst, len);
}

/* @param rest  is more of the body to come? */
static int answer(struct mk_request *r, struct mk_str text, bool rest)
{
    struct mk_reply p;
    int err = mk_reply_begin(&p, r, 200);

    if (err < 0)
        return err;
    mk_reply_line(&p, MK_STR("Content-Type"), MK_STR("text/plain; charset=utf-8"));
    mk_reply_line(&p, MK_STR("Cache-Control"), MK_STR("no-store"));
    err = mk_reply_end(&p, rest ? -1 : (int64_t)text.len);
    if (err == 0)
        err = mk_reply_memory(r, text);
    return err == 0 && rest ? mk_reply_producer(r, produce_body, NULL) : err;
}

static enum mk_verdict refuse(struct mk_request *r, ssize_t err)
{
    switch (err) {
    case MK_E_PEER:
        return MK_VERDICT_CLOSE;
    case MK_E_LIMIT:
        return mk_reply_error(r, 413, NULL);
    case MK_E_NOMEM:
        return mk_reply_error(r, 503, NULL);
    default:
        return mk_reply_error(r, 400, NULL);
    }
}

/* What is there of the body already. @return its end, MK_E_AGAIN or an error; 1: there is no room for more. */
static ssize_t read_first(struct mk_request *r, char first[FIRST_MAX], size_t *len)
{
    ssize_t n = 1;

    while (n > 0 && *len < FIRST_MAX) {
        n = mk_request_read(r, first + *len, FIRST_MAX - *len);
        *len += n > 0 ? (size_t)n : 0;
    }
    return n > 0 ? 1 : n;
}

static enum mk_verdict echo_on_handle(struct mk_request *r, const struct mk_context *ctx,
                                      void *data)
{
    char first[FIRST_MAX];
    size_t len = 0, size;
    ssize_t n = read_first(r, first, &len);
    char *text;

    (void)ctx;
    (void)data;
    if (n == MK_E_AGAIN && len == 0)
        return MK_VERDICT_LATER;
    if (n < 0 && n != MK_E_AGAIN)
        return refuse(r, n);
    size = put_head(r, NULL, 0);
    text = mk_request_alloc(r, size + len + 1);
    if (!text)
        return refuse(r, MK_E_NOMEM);
    (void)put_head(r, text, size + 1);
    memcpy(text + size, first, len);
    (void)answer(r, (struct mk_str){text, size + len}, n != 0);
    return MK_VERDICT_DONE;
}

static const struct mk_plugin echo = {
    MK_PLUGIN("echo", "answers with what was asked, for tests"),
    .on_handle = echo_on_handle,
    .traits = MK_TRAIT_ANSWERS,
};
MK_PLUGIN_EXPORT(echo);
