/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/words.h"
#include "objects/objects.h"
#include "service/answer.h"

#include <monkey/web/cookie.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LEVEL_ROUTER = 2, DATE_ROOM = 64, COOKIE_ROOM = MK_COOKIE_PAIR + 3 * MK_COOKIE_ATTRIBUTE };

/* RFC 6265 section 4.1.1: what would end the pair is not allowed in it. */
static bool is_plain(const char *text, int len)
{
    for (int i = 0; i < len; i++) {
        if ((unsigned char)text[i] <= ' ' || text[i] == ';' || text[i] == ',' || text[i] == 127)
            return false;
    }
    return true;
}

static void write_expires(char date[DATE_ROOM], int expires)
{
    time_t at = expires;
    struct tm tm;

    date[0] = '\0';
    if (expires > 0 && gmtime_r(&at, &tm))
        (void)strftime(date, DATE_ROOM, "; expires=%a, %d %b %Y %H:%M:%S GMT", &tm);
}

static int set(duda_request_t *dr, char *key, int key_len, char *val, int val_len, int expires)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "cookie->set");
    char date[DATE_ROOM], *text;
    bool has_path;
    int len;

    if (!rq || !rq->r || !key || key_len <= 0 || !val || val_len < 0 || !is_plain(key, key_len) ||
        memchr(key, '=', (size_t)key_len) || !is_plain(val, val_len))
        return -1;
    has_path = rq->service->level < LEVEL_ROUTER && !rq->service->ws.is_root;
    write_expires(date, expires);
    len = asprintf(&text, "%.*s=%.*s; path=/%s%s", key_len, key, val_len, val,
                   has_path ? rq->service->ws.name.data : "", date);
    if (len < 0)
        return -1;
    len = mk_duda_answer_field(rq, MK_STR("Set-Cookie"), (struct mk_str){text, (size_t)len});
    free(text);
    return len;
}

static int destroy(duda_request_t *dr, char *key, int key_len)
{
    static char deleted[] = "deleted";

    return set(dr, key, key_len, deleted, (int)sizeof(deleted) - 1, COOKIE_EXPIRE_TIME);
}

/* In one line of the field. */
static bool find_in(struct mk_str line, struct mk_str key, struct mk_str *value)
{
    while (line.len > 0) {
        struct mk_str pair = text_trim(text_cut(&line, ';'));
        bool has_value = memchr(pair.p, '=', pair.len) != NULL;

        if (text_is(text_cut(&pair, '='), key) && has_value) {
            *value = pair;
            return true;
        }
    }
    return false;
}

static bool find(struct mk_duda_request *rq, const char *key, struct mk_str *value)
{
    struct mk_str name, line;
    uint32_t at = 0;

    if (!rq || !rq->r || !key)
        return false;
    while (mk_request_next_header(rq->r, &at, &name, &line)) {
        if (text_is_word(name, MK_STR("Cookie")) && find_in(line, mk_str_from(key), value))
            return true;
    }
    return false;
}

static int get(duda_request_t *dr, char *key, char **val, int *val_len)
{
    struct mk_str value;

    if (!find(mk_duda_request_check(dr, "cookie->get"), key, &value) || value.len > INT_MAX)
        return -1;
    if (val)
        *val = mk_duda_pointer(value).data;
    if (val_len)
        *val_len = (int)value.len;
    return 0;
}

static int cmp(duda_request_t *dr, char *key, char *val)
{
    struct mk_str value;

    return val && find(mk_duda_request_check(dr, "cookie->cmp"), key, &value) &&
                   text_is(value, mk_str_from(val))
               ? 0
               : -1;
}

/* ---- level 3 ---- */

static char *value_of(duda_request_t *dr, const char *name)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "cookie->value");
    struct mk_str value;

    return find(rq, name, &value) ? mk_duda_request_copy(rq, value) : NULL;
}

/* @return MK_SAME_SITE_UNSAID: no such word */
static enum mk_same_site same_site_of(const char *word)
{
    const struct mk_str name = mk_str_from(word);

    if (!word || text_is_word(name, MK_STR("Lax")))
        return MK_SAME_SITE_LAX;
    if (text_is_word(name, MK_STR("Strict")))
        return MK_SAME_SITE_STRICT;
    return text_is_word(name, MK_STR("None")) ? MK_SAME_SITE_NONE : MK_SAME_SITE_UNSAID;
}

static int put(duda_request_t *dr, const struct duda_cookie *c)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "cookie->put");
    struct mk_cookie cookie = {.size = sizeof(cookie)};
    const char *why = "its same_site is not Lax, Strict or None";
    char text[COOKIE_ROOM];
    ssize_t len = MK_E_INVALID;

    if (!rq || !rq->r || !c || !c->name || !c->value)
        return -1;
    cookie.name = mk_str_from(c->name);
    cookie.value = mk_str_from(c->value);
    cookie.path = mk_str_from(c->path ? c->path : "/");
    cookie.domain = mk_str_from(c->domain);
    cookie.has_max_age = c->max_age != 0;
    cookie.max_age = c->max_age;
    cookie.same_site = same_site_of(c->same_site);
    cookie.secure = c->is_secure;
    cookie.http_only = c->is_http_only;
    cookie.partitioned = c->is_partitioned;
    if (cookie.same_site != MK_SAME_SITE_UNSAID)
        len = mk_cookie_write(text, sizeof(text), &cookie, &why);
    if (len >= 0)
        return mk_duda_answer_field(rq, MK_STR("Set-Cookie"), (struct mk_str){text, (size_t)len});
    mk_duda_log(rq->service, MK_LOG_WARN, "%s: cookie->put(\"%.60s\"): %s", rq->callback, c->name,
                len == MK_E_INVALID ? why : "it is too long");
    return -1;
}

const struct duda_api_cookie mk_duda_cookie = {
    .set = set, .get = get, .cmp = cmp, .destroy = destroy, .value = value_of, .put = put};
