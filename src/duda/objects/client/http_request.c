/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/client/http_request.h"

#include "kit/text/words.h"

#include <monkey/field.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a service may write ---- */

static bool is_token(struct mk_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] <= ' ' || text.p[i] > '~' || strchr("\"(),/:;<=>?@[\\]{}", text.p[i]))
            return false;
    }
    return text.len > 0;
}

static bool is_value(struct mk_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.p[i];

        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* The framing, the connection and the server's name are ours to write; an Expect would be waited for. */
static bool is_ours(struct mk_str name)
{
    return (mk_field_rules(name) & (MK_RULE_MESSAGE | MK_RULE_HOP)) ||
           text_is_word(name, MK_STR("Host")) || text_is_word(name, MK_STR("Expect"));
}

static bool is_field(struct mk_str line)
{
    struct mk_str value = line, name = text_cut(&value, ':');

    return name.len < line.len && is_token(name) && is_value(value) && !is_ours(name);
}

/* @return bytes of all lines; 0: none; MK_E_INVALID */
static ssize_t measure_fields(const char *const *fields)
{
    size_t len = 0;

    for (; fields && *fields; fields++) {
        const struct mk_str line = mk_str_from(*fields);

        len += line.len + 2;
        if (len > HTTP_FIELDS_MAX || !is_field(line))
            return MK_E_INVALID;
    }
    return (ssize_t)len;
}

static int copy_fields(struct http_request *q, const char *const *fields)
{
    const ssize_t len = measure_fields(fields);

    if (len <= 0)
        return (int)len;
    q->fields = malloc((size_t)len);
    if (!q->fields)
        return MK_E_NOMEM;
    for (; *fields; fields++) {
        const struct mk_str line = mk_str_from(*fields);

        memcpy(q->fields + q->fields_len, line.p, line.len);
        q->fields_len += line.len;
        memcpy(q->fields + q->fields_len, "\r\n", 2);
        q->fields_len += 2;
    }
    return 0;
}

static int copy_method(struct http_request *q, const char *method)
{
    const struct mk_str m = mk_str_from(method ? method : q->has_body ? "POST" : "GET");

    if (m.len > HTTP_METHOD_MAX || !is_token(m) || text_is(m, MK_STR("CONNECT")))
        return MK_E_INVALID;
    memcpy(q->method, m.p, m.len);
    q->method[m.len] = '\0';
    return 0;
}

static int copy_body(struct http_request *q, const struct duda_http_options *o)
{
    q->has_body = o->body || o->more;
    if (!o->body)
        return o->length > 0 && !o->more ? MK_E_INVALID : 0;
    if (o->more)
        return MK_E_INVALID;
    q->body = malloc(o->length + 1);
    if (!q->body)
        return MK_E_NOMEM;
    memcpy(q->body, o->body, o->length);
    q->body_len = o->length;
    return 0;
}

/* @return 0; MK_E_BAD: it is no URL; MK_E_NOMEM. What was there stays then. */
static int set_url(struct http_request *q, struct mk_str url)
{
    struct http_url to;
    char *copy;

    if (!http_url_read(&to, url))
        return MK_E_BAD;
    copy = malloc(url.len + 1);
    if (!copy)
        return MK_E_NOMEM;
    memcpy(copy, url.p, url.len);
    copy[url.len] = '\0';
    free(q->url);
    q->url = copy;
    return http_url_read(&q->to, (struct mk_str){copy, url.len}) ? 0 : MK_E_BAD;
}

int http_request_init(struct http_request *q, const char *url,
                      const struct duda_http_options *options)
{
    int err;

    *q = (struct http_request){.redirects = options->redirects};
    if (!url || options->redirects > HTTP_REDIRECTS_MAX)
        return MK_E_INVALID;
    err = set_url(q, mk_str_from(url));
    if (err == 0)
        err = copy_body(q, options);
    if (err == 0)
        err = copy_method(q, options->method);
    if (err == 0)
        err = copy_fields(q, options->fields);
    return err == MK_E_BAD ? MK_E_INVALID : err;
}

void http_request_fini(struct http_request *q)
{
    free(q->url);
    free(q->fields);
    free(q->body);
    *q = (struct http_request){.url = NULL};
}

/* ---- redirects ---- */

bool http_request_is_redirect(unsigned status)
{
    return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

static bool is_secret(struct mk_str name)
{
    return text_is_word(name, MK_STR("Authorization")) || text_is_word(name, MK_STR("Cookie"));
}

static bool is_of_body(struct mk_str name)
{
    return text_begins(name, MK_STR("Content-"));
}

static void drop_fields(struct http_request *q, bool (*is_dropped)(struct mk_str name))
{
    struct mk_str rest = {q->fields, q->fields_len};
    size_t kept = 0;

    while (rest.len > 0) {
        const struct mk_str line = {rest.p, text_cut(&rest, '\n').len + 1};
        struct mk_str value = line;

        if (is_dropped(text_cut(&value, ':')))
            continue;
        memmove(q->fields + kept, line.p, line.len);
        kept += line.len;
    }
    q->fields_len = kept;
}

/* As browsers do: RFC 9110 sections 15.4.2 to 15.4.4. */
static bool becomes_get(const struct http_request *q, unsigned status)
{
    const bool is_post = strcmp(q->method, "POST") == 0, is_head = strcmp(q->method, "HEAD") == 0;

    return status == 303 ? !is_head : is_post && status <= 302;
}

int http_request_redirect(struct http_request *q, unsigned status, struct mk_str location)
{
    char url[HTTP_URL_MAX];
    const size_t len = http_url_join(&q->to, location, url);
    struct http_url to;
    bool is_same;
    int err;

    if (q->redirects == 0)
        return MK_E_LIMIT;
    if (len == 0 || !http_url_read(&to, (struct mk_str){url, len}) ||
        (q->to.is_secure && !to.is_secure))
        return MK_E_BAD;
    is_same = http_url_is_same_origin(&q->to, &to);
    err = set_url(q, (struct mk_str){url, len});
    if (err < 0)
        return err;
    q->redirects--;
    if (!is_same)
        drop_fields(q, is_secret);
    if (!becomes_get(q, status))
        return 0;
    memcpy(q->method, "GET", sizeof("GET"));
    q->has_body = false;
    drop_fields(q, is_of_body);
    return 0;
}

/* ---- the head ---- */

static bool has_field(const struct http_request *q, struct mk_str name)
{
    struct mk_str rest = {q->fields, q->fields_len};

    while (rest.len > 0) {
        struct mk_str value = text_cut(&rest, '\n');

        if (text_is_word(text_cut(&value, ':'), name))
            return true;
    }
    return false;
}

/* A body that is empty is told only of methods that mean one: RFC 9110 section 8.6. */
static int write_framing(const struct http_request *q, int64_t length, char *dst, size_t size)
{
    if (q->has_body && length < 0)
        return snprintf(dst, size, "Transfer-Encoding: chunked\r\n\r\n");
    if (q->has_body || strcmp(q->method, "POST") == 0 || strcmp(q->method, "PUT") == 0)
        return snprintf(dst, size, "Content-Length: %lld\r\n\r\n",
                        q->has_body ? (long long)length : 0LL);
    return snprintf(dst, size, "\r\n");
}

char *http_request_head(const struct http_request *q, int64_t length, size_t *len)
{
    enum { FIXED = 256 };
    const struct mk_str target = q->to.target, authority = q->to.authority;
    const size_t size = FIXED + sizeof(q->method) + target.len + authority.len + q->fields_len;
    char *head = malloc(size);
    size_t at;

    if (!head)
        return NULL;
    at = (size_t)snprintf(head, size, "%s %s%.*s HTTP/1.1\r\nHost: %.*s\r\n%s%s", q->method,
                          target.len > 0 && target.p[0] == '/' ? "" : "/", (int)target.len,
                          target.p, (int)authority.len, authority.p,
                          has_field(q, MK_STR("User-Agent")) ? "" : "User-Agent: duda\r\n",
                          has_field(q, MK_STR("Accept")) ? "" : "Accept: */*\r\n");
    if (q->fields_len > 0)
        memcpy(head + at, q->fields, q->fields_len);
    at += q->fields_len;
    *len = at + (size_t)write_framing(q, length, head + at, size - at);
    return head;
}
