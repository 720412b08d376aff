/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/gateway/variables.h"

#include "kit/text/words.h"

#include <monkey/field.h>
#include <monkey/notes.h>
#include <monkey/server.h>

#include <stdio.h>

/* One walk: what is known, and who takes it. The first error stays and stops the rest. */
struct walk {
    const struct gateway_variables *v;
    struct mk_request *r;
    struct mk_request_facts f;
    struct mk_conn_facts conn;
    gateway_put_fn fn;
    void *arg;
    int error;
};

static bool is_own(const struct walk *w, struct mk_str name)
{
    for (size_t i = 0; i < w->v->nown; i++) {
        const struct mk_str own = w->v->own[i].name;

        if (text_is(own, name))
            return true;
    }
    return false;
}

static void put(struct walk *w, struct mk_str name, struct mk_str value)
{
    if (w->error == 0 && value.p && !is_own(w, name))
        w->error = w->fn(w->arg, name, value);
}

static void put_text(struct walk *w, struct mk_str name, const char *value)
{
    put(w, name, mk_str_from(value));
}

static void put_number(struct walk *w, struct mk_str name, uint64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    put_text(w, name, text);
}

/* ---- fields ---- */

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

size_t gateway_field_name(char dst[GATEWAY_NAME_MAX], struct mk_str field)
{
    static const char prefix[] = "HTTP_";
    const size_t before = sizeof(prefix) - 1;

    if (field.len == 0 || field.len > GATEWAY_NAME_MAX - before)
        return 0;
    memcpy(dst, prefix, before);
    for (size_t i = 0; i < field.len; i++) {
        char c = field.p[i];

        if (c == '-')
            c = '_';
        else if (!is_letter_or_digit(c))
            return 0;
        dst[before + i] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    return before + field.len;
}

/* Those that have variables of their own, or none. */
static bool is_withheld(const struct walk *w, struct mk_str name)
{
    if ((mk_field_rules(name) & MK_RULE_HOP) || text_is_word(name, MK_STR("Content-Type")) ||
        text_is_word(name, MK_STR("Proxy")) || text_is_word(name, MK_STR("Expect")))
        return true;
    return w->f.user.p && text_is_word(name, MK_STR("Authorization"));
}

/* Is there a line of this name before at, or behind it? */
static bool is_repeated(const struct mk_request *r, struct mk_str name, const char *line,
                        bool before)
{
    struct mk_str other, value;
    uint32_t at = 0;
    bool behind = false;

    while (mk_request_next_unnoted(r, &at, &other, &value)) {
        if (other.p == line) {
            if (before)
                return false;
            behind = true;
        } else if ((before || behind) && text_is_word(other, name)) {
            return true;
        }
    }
    return false;
}

/* All values of a name as one. @return p NULL without memory. */
static struct mk_str join(struct mk_request *r, struct mk_str name)
{
    struct mk_str between = text_is_word(name, MK_STR("Cookie")) ? MK_STR("; ") : MK_STR(", ");
    struct mk_str other, value;
    size_t len = 0;
    uint32_t at = 0;
    char *text;

    while (mk_request_next_unnoted(r, &at, &other, &value))
        len += text_is_word(other, name) ? value.len + between.len : 0;
    text = mk_request_alloc(r, len + 1);
    if (!text)
        return (struct mk_str){NULL, 0};
    len = 0;
    for (at = 0; mk_request_next_unnoted(r, &at, &other, &value);) {
        if (!text_is_word(other, name))
            continue;
        if (len > 0) {
            memcpy(text + len, between.p, between.len);
            len += between.len;
        }
        if (value.len > 0)
            memcpy(text + len, value.p, value.len);
        len += value.len;
    }
    return (struct mk_str){text, len};
}

static void put_fields(struct walk *w)
{
    char text[GATEWAY_NAME_MAX];
    struct mk_str name, value;
    uint32_t at = 0;

    while (w->error == 0 && mk_request_next_unnoted(w->r, &at, &name, &value)) {
        size_t len = is_withheld(w, name) ? 0 : gateway_field_name(text, name);

        if (len == 0 || is_repeated(w->r, name, name.p, true))
            continue;
        if (is_repeated(w->r, name, name.p, false)) {
            value = join(w->r, name);
            if (!value.p)
                w->error = MK_E_NOMEM;
        }
        put(w, (struct mk_str){text, len}, value.p ? value : MK_STR(""));
    }
    for (at = 0; w->error == 0 && mk_request_next_passed(w->r, &at, &name, &value);)
        put(w, (struct mk_str){text, gateway_field_name(text, name)}, value);
}

/* ---- who speaks with whom ---- */

void gateway_split_address(const char *address, struct mk_str *host, struct mk_str *port)
{
    const char *colon = strrchr(address, ':');

    *host = *port = (struct mk_str){"", 0};
    if (strncmp(address, "unix:", 5) == 0 || !colon)
        return;
    *port = mk_str_from(colon + 1);
    *host = (struct mk_str){address, (size_t)(colon - address)};
    if (host->len >= 2 && host->p[0] == '[')
        *host = (struct mk_str){host->p + 1, host->len - 2};
    if (text_is_word(*host, MK_STR("::")) || text_is_word(*host, MK_STR("0.0.0.0")) ||
        text_is_word(*host, MK_STR("*")))
        *host = (struct mk_str){"", 0};
}

/* The authority without its port; the brackets of an IPv6 address stay (RFC 3875 section 4.1.14). */
static struct mk_str without_port(struct mk_str authority)
{
    size_t len = authority.len;

    while (len > 0 && authority.p[len - 1] >= '0' && authority.p[len - 1] <= '9')
        len--;
    if (len > 0 && authority.p[len - 1] == ':')
        authority.len = len - 1;
    return authority;
}

static void put_server(struct walk *w)
{
    struct mk_str host, port, name = without_port(w->f.host);
    bool is_secure = strcmp(w->f.scheme, "https") == 0;

    gateway_split_address(w->conn.listen, &host, &port);
    if (name.len == 0)
        name = *w->f.site_name ? mk_str_from(w->f.site_name)
               : host.len > 0  ? host
                               : MK_STR("localhost");
    if (port.len == 0)
        port = is_secure ? MK_STR("443") : MK_STR("80");
    put(w, MK_STR("SERVER_NAME"), name);
    put(w, MK_STR("SERVER_PORT"), port);
    if (host.len > 0)
        put(w, MK_STR("SERVER_ADDR"), host);
}

static void put_peer(struct walk *w)
{
    char text[MK_PEER_TEXT];
    struct mk_str peer = {text, mk_conn_peer(w->f.conn, text)};

    put(w, MK_STR("REMOTE_ADDR"), peer);
    put(w, MK_STR("REMOTE_HOST"), peer); /* names are not looked up (section 4.1.9) */
    if (!w->conn.peer_is_unix)
        put_number(w, MK_STR("REMOTE_PORT"), w->conn.peer_port);
}

/* The scheme by which the user that the server knows was found. */
static void put_user(struct walk *w)
{
    struct mk_str how = mk_request_header(w->r, MK_STR("Authorization"));
    size_t len = 0;

    if (!w->f.user.p)
        return;
    while (len < how.len && how.p[len] != ' ')
        len++;
    if (len > 0)
        put(w, MK_STR("AUTH_TYPE"), (struct mk_str){how.p, len});
    put(w, MK_STR("REMOTE_USER"), w->f.user);
}

static void put_security(struct walk *w)
{
    if (strcmp(w->f.scheme, "https") != 0)
        return;
    put(w, MK_STR("HTTPS"), MK_STR("on"));
    put_text(w, MK_STR("SSL_PROTOCOL"), w->conn.tls_version);
    put_text(w, MK_STR("SSL_CIPHER"), w->conn.tls_cipher);
    put(w, MK_STR("SSL_CLIENT_VERIFY"),
        w->conn.client_subject.p ? MK_STR("SUCCESS") : MK_STR("NONE"));
    put(w, MK_STR("SSL_CLIENT_S_DN"), w->conn.client_subject);
}

/* ---- what is asked ---- */

static void put_script(struct walk *w)
{
    const struct gateway_script *s = w->v->script;

    put(w, MK_STR("SCRIPT_NAME"), s->name);
    put_text(w, MK_STR("SCRIPT_FILENAME"), s->filename);
    if (s->info.len > 0) {
        put(w, MK_STR("PATH_INFO"), s->info);
        put_text(w, MK_STR("PATH_TRANSLATED"), s->translated);
    }
    put_text(w, MK_STR("DOCUMENT_ROOT"), w->f.document_root);
    put(w, MK_STR("DOCUMENT_URI"), w->f.path);
}

static void put_body(struct walk *w)
{
    if (w->v->has_body && w->v->content_length >= 0)
        put_number(w, MK_STR("CONTENT_LENGTH"), (uint64_t)w->v->content_length);
    if (w->v->has_body)
        put(w, MK_STR("CONTENT_TYPE"), mk_request_header(w->r, MK_STR("Content-Type")));
}

static void put_request(struct walk *w)
{
    char software[40];

    (void)snprintf(software, sizeof(software), "Monkey/%s", mk_version());
    put(w, MK_STR("GATEWAY_INTERFACE"), MK_STR("CGI/1.1"));
    put(w, MK_STR("SERVER_PROTOCOL"), w->f.protocol);
    put_text(w, MK_STR("SERVER_SOFTWARE"), software);
    put(w, MK_STR("REQUEST_METHOD"), w->f.method);
    put(w, MK_STR("REQUEST_URI"), w->f.target);
    put_text(w, MK_STR("REQUEST_SCHEME"), w->f.scheme);
    put(w, MK_STR("QUERY_STRING"), w->f.query.p ? w->f.query : MK_STR(""));
    put(w, MK_STR("REDIRECT_STATUS"), MK_STR("200")); /* php-cgi runs nothing without it */
}

int gateway_variables_each(const struct gateway_variables *v, struct mk_request *r,
                           gateway_put_fn put_one, void *arg)
{
    struct walk w = {.v = v,
                     .r = r,
                     .f = {.size = sizeof(w.f)},
                     .conn = {.size = sizeof(w.conn)},
                     .fn = put_one,
                     .arg = arg};

    mk_request_facts(r, &w.f);
    mk_conn_facts(w.f.conn, &w.conn);
    put_request(&w);
    put_script(&w);
    put_body(&w);
    put_server(&w);
    put_peer(&w);
    put_user(&w);
    put_security(&w);
    put_fields(&w);
    for (size_t i = 0; w.error == 0 && i < v->nown; i++)
        w.error = put_one(arg, v->own[i].name, v->own[i].value);
    return w.error;
}
