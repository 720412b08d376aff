/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/head.h"

#include "kit/pure/number.h"
#include "kit/pure/percent.h"

#include <monkey/field.h>

#include <strings.h>

#define VIA "1.1 monkey"

enum { IP_TEXT_MAX = 45 }; /* INET6_ADDRSTRLEN without its end */

struct out {
    char *at, *end;
    bool is_full;
};

static void put(struct out *o, struct mk_str s)
{
    if (s.len > (size_t)(o->end - o->at)) {
        o->is_full = true;
        return;
    }
    memcpy(o->at, s.p, s.len);
    o->at += s.len;
}

static void put_line(struct out *o, struct mk_str name, struct mk_str value)
{
    put(o, name);
    put(o, MK_STR(": "));
    put(o, value);
    put(o, MK_STR("\r\n"));
}

static char folded(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c | 0x20);
    return c == '_' ? '-' : c;
}

/* Gateways that hand fields on as variables (CGI, WSGI) take `X_Name` for `X-Name`: so must we. */
static bool is_named(struct mk_str name, struct mk_str wanted)
{
    if (name.len != wanted.len)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        if (folded(name.p[i]) != folded(wanted.p[i]))
            return false;
    }
    return true;
}

static bool is_one_of(struct mk_str name, const struct mk_str *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_named(name, names[i]))
            return true;
    }
    return false;
}

bool proxy_is_hop_by_hop(struct mk_str name)
{
    return mk_field_rules(name) & MK_RULE_HOP;
}

bool proxy_has_token(struct mk_str list, struct mk_str token)
{
    struct mk_str one;

    while (mk_list_next(&list, &one)) {
        if (is_named(one, token))
            return true;
    }
    return false;
}

bool proxy_connection_has(proxy_fields_fn next, const void *of, struct mk_str token)
{
    struct mk_str name, value;
    uint32_t at = 0;

    while (next(of, &at, &name, &value)) {
        if (is_named(name, MK_STR("Connection")) && proxy_has_token(value, token))
            return true;
    }
    return false;
}

bool proxy_may_trail(struct mk_str name)
{
    return !(mk_field_rules(name) & MK_RULE_NO_TRAILER);
}

bool proxy_has_all(struct mk_str list, struct mk_str tokens)
{
    struct mk_str one;

    while (mk_list_next(&tokens, &one)) {
        if (!proxy_has_token(list, one))
            return false;
    }
    return true;
}

bool proxy_may_announce(struct mk_str names)
{
    struct mk_str name;

    while (mk_list_next(&names, &name)) {
        if (!proxy_may_trail(name))
            return false;
    }
    return true;
}

/* Methods are told apart by case (RFC 9110 section 9.1). */
static bool is_method(struct mk_str method, struct mk_str wanted)
{
    return method.len == wanted.len && memcmp(method.p, wanted.p, method.len) == 0;
}

bool proxy_counts_hops(struct mk_str method)
{
    return is_method(method, MK_STR("OPTIONS")) || is_method(method, MK_STR("TRACE"));
}

int64_t proxy_hops(struct mk_str value)
{
    static const int64_t many = 1000000000;
    int64_t hops = 0;

    for (size_t i = 0; i < value.len; i++) {
        if (value.p[i] < '0' || value.p[i] > '9')
            return -1;
        hops = hops < many ? hops * 10 + (value.p[i] - '0') : many;
    }
    return value.len > 0 ? hops : -1;
}

/* ---- the first line ---- */

static void put_encoded(struct out *o, struct mk_str text, const char *kept)
{
    for (size_t i = 0; i < text.len; i++) {
        char code[PERCENT_GROWTH];

        put(o, (struct mk_str){code, percent_encode(code, (struct mk_str){text.p + i, 1}, kept)});
    }
}

static bool begins_with(struct mk_str text, struct mk_str prefix)
{
    return text.len >= prefix.len && memcmp(text.p, prefix.p, prefix.len) == 0;
}

/* The path that matched, from an offset on, not the bytes that were sent. */
static void put_path(struct out *o, const struct proxy_request *q, size_t from)
{
    put_encoded(o, (struct mk_str){q->path.p + from, q->path.len - from}, PERCENT_PATH);
    if (q->query.p) {
        put(o, MK_STR("?"));
        put(o, q->query);
    }
}

/* Is this path as it was sent, unescaped, the one that matched? Slashes behind slashes do not count. */
static bool says_path(struct mk_str sent, struct mk_str path)
{
    size_t at = 0;

    for (size_t i = 0; i < sent.len; i++) {
        char c = sent.p[i];

        if (c == '%' && i + 2 < sent.len) {
            c = (char)(hex_value(sent.p[i + 1]) * 16 + hex_value(sent.p[i + 2]));
            i += 2;
        }
        if (c == '/' && at > 0 && path.p[at - 1] == '/')
            continue;
        if (at == path.len || path.p[at++] != c)
            return false;
    }
    return at == path.len;
}

/* Is it "http://host", and what is behind that? */
static bool skip_authority(struct mk_str *target)
{
    const char *at = memchr(target->p, ':', target->len), *end = target->p + target->len;

    if (!at || end - at < 3 || at[1] != '/' || at[2] != '/')
        return false;
    for (at += 3; at < end && *at != '/' && *at != '?'; at++) {
    }
    *target = (struct mk_str){at, (size_t)(end - at)};
    return true;
}

/*
 * What was sent goes on as it is where it says the path that matched. Where another path was asked in its place (dot
 * segments, an index file, a redirect of ours), that one goes on: otherwise "/private/../public" would pass as what it is
 * here and be something else behind us. Of "http://host/path" only the path is for a server (RFC 9112 section 3.2.1);
 * without one OPTIONS is about the server as a whole (section 3.2.4).
 */
static int put_target(struct out *o, const struct proxy_request *q,
                      const struct proxy_settings *set)
{
    struct mk_str target = q->target, sent;
    const char *mark;

    if (target.len == 0)
        return MK_E_BAD;
    if (target.p[0] != '/' && !(target.p[0] == '*' && target.len == 1) && !skip_authority(&target))
        return MK_E_BAD;
    if (set->rewrite_from.p && begins_with(q->path, set->rewrite_from)) {
        put(o, set->rewrite_to);
        put_path(o, q, set->rewrite_from.len);
        return 0;
    }
    mark = memchr(target.p, '?', target.len);
    sent = (struct mk_str){target.p, mark ? (size_t)(mark - target.p) : target.len};
    if (target.len == 0 && is_method(q->method, MK_STR("OPTIONS")))
        put(o, MK_STR("*"));
    else if (says_path(sent, q->path))
        put(o, target);
    else
        put_path(o, q, 0);
    return 0;
}

static void put_host(struct out *o, const struct proxy_request *q, const struct proxy_settings *set,
                     struct mk_str authority)
{
    struct mk_str host = q->host.p ? q->host : authority;

    if (set->host == PROXY_HOST_SERVER)
        host = authority;
    else if (set->host == PROXY_HOST_TEXT)
        host = set->host_text;
    put_line(o, MK_STR("Host"), host);
}

/* ---- the client's fields ---- */

static const struct mk_str of_forwarding[] = {
    MK_STR_INIT("X-Forwarded-For"),
    MK_STR_INIT("X-Forwarded-Proto"),
    MK_STR_INIT("X-Forwarded-Host"),
    MK_STR_INIT("Forwarded"),
};

static const struct mk_str real_ip = MK_STR_INIT("X-Real-IP");
static const struct mk_str forwarded_port = MK_STR_INIT("X-Forwarded-Port");

static bool is_in(const struct proxy_line *list, struct mk_str name)
{
    for (; list; list = list->next) {
        if (is_named(name, list->name))
            return true;
    }
    return false;
}

/* What we say ourselves, or what was said of the client's connection only. */
static bool is_replaced(const struct proxy_settings *set, struct mk_str name)
{
    static const struct mk_str ours[] = {MK_STR_INIT("Host"), MK_STR_INIT("Expect"),
                                         MK_STR_INIT("Via")};

    if (proxy_is_hop_by_hop(name) || is_one_of(name, ours, sizeof(ours) / sizeof(ours[0])))
        return true;
    if (set->forwarded != PROXY_FORWARDED_OFF &&
        is_one_of(name, of_forwarding, sizeof(of_forwarding) / sizeof(of_forwarding[0])))
        return true;
    if ((set->real_ip && is_named(name, real_ip)) ||
        (set->forwarded_port && is_named(name, forwarded_port)))
        return true;
    return is_in(set->sets, name) || is_in(set->removes, name);
}

/* @return bytes of all Connection lines. */
static size_t length_of_connection(const struct proxy_request *q)
{
    struct mk_str name, value;
    uint32_t at = 0;
    size_t len = 0;

    while (q->next(q->of, &at, &name, &value)) {
        if (is_named(name, MK_STR("Connection")))
            len += value.len;
    }
    return len;
}

/* Nearly all clients say at most `close` or `keep-alive`, which are the names of no other field. */
static bool names_fields(const struct proxy_request *q)
{
    static const struct mk_str usual[] = {MK_STR_INIT("close"), MK_STR_INIT("keep-alive"),
                                          MK_STR_INIT("upgrade")};
    struct mk_str name, value;
    uint32_t at = 0;

    while (q->next(q->of, &at, &name, &value)) {
        if (is_named(name, MK_STR("Connection")) &&
            !is_one_of(value, usual, sizeof(usual) / sizeof(usual[0])))
            return true;
    }
    return false;
}

/* Fields behind a body can be announced where there can be any. */
static bool announces(const struct proxy_request *q, struct mk_str name, struct mk_str value)
{
    return q->content_length < 0 && is_named(name, MK_STR("Trailer")) && proxy_may_announce(value);
}

static int put_fields(struct out *o, const struct proxy_request *q,
                      const struct proxy_settings *set)
{
    bool asks = names_fields(q);
    struct mk_str name, value;
    char digits[NUMBER_TEXT];
    uint32_t at = 0;

    if (asks && length_of_connection(q) > PROXY_CONNECTION_MAX)
        return MK_E_LIMIT;
    while (q->next(q->of, &at, &name, &value)) {
        bool stays = is_replaced(set, name) && !announces(q, name, value);

        if (q->hops > 0 && is_named(name, MK_STR("Max-Forwards")))
            value = number_text(digits, (uint64_t)q->hops - 1);
        if (!stays && !(asks && proxy_connection_has(q->next, q->of, name)))
            put_line(o, name, value);
    }
    for (at = 0; q->next_passed && q->next_passed(q->of, &at, &name, &value);) {
        if (!is_replaced(set, name))
            put_line(o, name, value);
    }
    return 0;
}

/* ---- who the client is ---- */

static bool is_between_parameters(char c)
{
    return c == ';' || c == ',' || c == ' ' || c == '\t';
}

/*
 * Does what follows a value of Forwarded stand on its own? Behind an open quote it would be the client's. Readers differ in
 * what they make of quotes and backslashes where RFC 7239 section 4 has none: with those it is no value.
 */
static bool is_closed(struct mk_str value)
{
    bool quoted = false;

    for (size_t i = 0; i < value.len; i++) {
        char c = value.p[i];

        if (c == '\\' && !quoted)
            return false;
        if (c == '\\')
            i++;
        if (c != '"')
            continue;
        if (quoted ? i + 1 < value.len && !is_between_parameters(value.p[i + 1])
                   : i == 0 || value.p[i - 1] != '=')
            return false;
        quoted = !quoted;
    }
    return !quoted;
}

/* Begin a line with what the client's lines of that name say. */
static void begin_list(struct out *o, const struct proxy_request *q, struct mk_str wanted,
                       bool appends)
{
    bool has_quotes = is_named(wanted, of_forwarding[3]);
    struct mk_str name, value;
    uint32_t at = 0;

    put(o, wanted);
    put(o, MK_STR(": "));
    while (appends && q->next(q->of, &at, &name, &value)) {
        if (!is_named(name, wanted) || value.len == 0 || (has_quotes && !is_closed(value)))
            continue;
        put(o, value);
        put(o, MK_STR(", "));
    }
}

/* RFC 7239 section 4: what is no token is quoted. */
static void put_quoted(struct out *o, struct mk_str text)
{
    put(o, MK_STR("\""));
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] == '"' || text.p[i] == '\\')
            put(o, MK_STR("\\"));
        put(o, (struct mk_str){text.p + i, 1});
    }
    put(o, MK_STR("\""));
}

/* RFC 7239 section 6: an IPv6 address has brackets and is quoted. */
static void put_node(struct out *o, struct mk_str peer)
{
    if (peer.len == 0) {
        put(o, MK_STR("unknown"));
    } else if (memchr(peer.p, ':', peer.len)) {
        put(o, MK_STR("\"["));
        put(o, peer);
        put(o, MK_STR("]\""));
    } else {
        put(o, peer);
    }
}

/* Is what the client says of those before it passed on? */
static bool believes(const struct proxy_request *q, const struct proxy_settings *set)
{
    return set->forwarded == PROXY_FORWARDED_APPEND ||
           (set->forwarded == PROXY_FORWARDED_AUTO && q->trusted);
}

/* Nothing but these characters, and not empty. */
static bool consists_of(struct mk_str value, const char *characters)
{
    for (size_t i = 0; i < value.len; i++) {
        if (value.p[i] == '\0' || !strchr(characters, value.p[i]))
            return false;
    }
    return value.len > 0;
}

/* The client's only value of a field that says one thing; p NULL: it says none, several, or nonsense. */
static struct mk_str said_once(const struct proxy_request *q, struct mk_str wanted,
                               const char *characters, size_t max)
{
    struct mk_str name, value, found = {NULL, 0};
    uint32_t at = 0;
    unsigned count = 0;

    while (q->next(q->of, &at, &name, &value)) {
        if (is_named(name, wanted) && ++count == 1)
            found = value;
    }
    if (count != 1 || found.len > max || !consists_of(found, characters))
        found.p = NULL;
    return found;
}

/* A field with one value has no list: a proxy that is believed has the first word, we have it else. */
static void put_single(struct out *o, const struct proxy_request *q,
                       const struct proxy_settings *set)
{
    const bool asks = believes(q, set);
    struct mk_str value = {NULL, 0};
    char digits[NUMBER_TEXT];

    if (set->real_ip && !is_in(set->sets, real_ip) && !is_in(set->removes, real_ip)) {
        if (asks)
            value = said_once(q, real_ip, "0123456789abcdefABCDEF.:", IP_TEXT_MAX);
        if (value.p || q->peer.len > 0)
            put_line(o, real_ip, value.p ? value : q->peer);
    }
    if (set->forwarded_port && !is_in(set->sets, forwarded_port) &&
        !is_in(set->removes, forwarded_port)) {
        value = asks ? said_once(q, forwarded_port, "0123456789", 5) : (struct mk_str){NULL, 0};
        if (value.p || q->port > 0)
            put_line(o, forwarded_port, value.p ? value : number_text(digits, q->port));
    }
}

static void put_forwarded(struct out *o, const struct proxy_request *q,
                          const struct proxy_settings *set)
{
    bool appends = believes(q, set);
    struct mk_str scheme = mk_str_from(q->scheme);

    if (!is_in(set->sets, of_forwarding[0]) && !is_in(set->removes, of_forwarding[0])) {
        begin_list(o, q, of_forwarding[0], appends);
        put(o, q->peer.len > 0 ? q->peer : MK_STR("unknown"));
        put(o, MK_STR("\r\n"));
    }
    if (!is_in(set->sets, of_forwarding[1]) && !is_in(set->removes, of_forwarding[1]))
        put_line(o, of_forwarding[1], scheme);
    if (q->host.p && !is_in(set->sets, of_forwarding[2]) && !is_in(set->removes, of_forwarding[2]))
        put_line(o, of_forwarding[2], q->host);
    if (is_in(set->sets, of_forwarding[3]) || is_in(set->removes, of_forwarding[3]))
        return;
    begin_list(o, q, of_forwarding[3], appends);
    put(o, MK_STR("for="));
    put_node(o, q->peer);
    if (q->host.p) {
        put(o, MK_STR(";host="));
        put_quoted(o, q->host);
    }
    put(o, MK_STR(";proto="));
    put(o, scheme);
    put(o, MK_STR("\r\n"));
}

/* A gateway says in Via by what version it was asked: RFC 9110 section 7.6.3. */
static void put_via(struct out *o, const struct proxy_request *q, const struct proxy_settings *set)
{
    struct mk_str via = MK_STR("Via");

    if (is_in(set->sets, via) || is_in(set->removes, via))
        return;
    begin_list(o, q, via, true);
    put(o, q->minor == 0 ? MK_STR("1.0 monkey") : MK_STR(VIA));
    put(o, MK_STR("\r\n"));
}

/* A line of SetHeader, its variables replaced. */
static void put_set(struct out *o, const struct proxy_request *q, const struct proxy_line *line)
{
    char room[MK_VARIABLE_ROOM];

    put(o, line->name);
    put(o, MK_STR(": "));
    for (size_t i = 0; i < line->value.count; i++) {
        const struct mk_template_piece *piece = &line->value.pieces[i];
        struct mk_str text = piece->text;

        if (!mk_template_is_text(piece))
            text = q->variable(q->of, piece->which, room);
        if (piece->which == MK_VARIABLE_PATH)
            put_encoded(o, text, PERCENT_PATH "[\\]^`{|}");
        else if (text.len > 0)
            put(o, text);
    }
    put(o, MK_STR("\r\n"));
}

/* ---- framing and connection ---- */

/* A method that means to send something says so of nothing, too (RFC 9110 section 8.6). */
static bool says_no_body(struct mk_str method)
{
    return is_method(method, MK_STR("POST")) || is_method(method, MK_STR("PUT")) ||
           is_method(method, MK_STR("PATCH"));
}

static void put_framing(struct out *o, const struct proxy_request *q)
{
    char digits[NUMBER_TEXT];

    if (q->content_length < 0)
        put(o, MK_STR("Transfer-Encoding: chunked\r\n"));
    else if (q->content_length > 0 || says_no_body(q->method))
        put_line(o, MK_STR("Content-Length"), number_text(digits, (uint64_t)q->content_length));
}

static void put_connection(struct out *o, const struct proxy_request *q)
{
    struct mk_str first = q->upgrade.p ? MK_STR("upgrade")
                          : q->keeps   ? MK_STR("")
                                       : MK_STR("close");

    if (first.len > 0 || q->trailers) {
        put(o, MK_STR("Connection: "));
        put(o, first);
        if (q->trailers)
            put(o, first.len > 0 ? MK_STR(", TE") : MK_STR("TE"));
        put(o, MK_STR("\r\n"));
    }
    if (q->upgrade.p)
        put_line(o, MK_STR("Upgrade"), q->upgrade);
    if (q->trailers)
        put(o, MK_STR("TE: trailers\r\n"));
    if (q->expects)
        put(o, MK_STR("Expect: 100-continue\r\n"));
}

/* ---- behind the body ---- */

size_t proxy_trailers_write(char *dst, const struct proxy_request *q,
                            const struct proxy_settings *set)
{
    struct out o = {dst, dst + PROXY_TRAILERS_MAX, false};
    bool asks = names_fields(q);
    struct mk_str name, value;
    uint32_t at = 0;
    unsigned count = 0;

    put(&o, MK_STR("0\r\n"));
    while (count++ < PROXY_TRAILED_MAX && q->next_trailer(q->of, &at, &name, &value)) {
        if (proxy_may_trail(name) && !is_replaced(set, name) &&
            !(asks && proxy_connection_has(q->next, q->of, name)))
            put_line(&o, name, value);
    }
    put(&o, MK_STR("\r\n"));
    return (size_t)(o.at - dst);
}

ssize_t proxy_head_write(char *dst, size_t room, const struct proxy_request *q,
                         const struct proxy_settings *set, struct mk_str authority)
{
    struct out o = {dst, dst + room, false};
    int err;

    put(&o, q->method);
    put(&o, MK_STR(" "));
    err = put_target(&o, q, set);
    put(&o, MK_STR(" HTTP/1.1\r\n"));
    put_host(&o, q, set, authority);
    if (err == 0)
        err = put_fields(&o, q, set);
    if (set->forwarded != PROXY_FORWARDED_OFF)
        put_forwarded(&o, q, set);
    put_single(&o, q, set);
    put_via(&o, q, set);
    for (const struct proxy_line *line = set->sets; line; line = line->next)
        put_set(&o, q, line);
    put_framing(&o, q);
    put_connection(&o, q);
    put(&o, MK_STR("\r\n"));
    if (err < 0)
        return err;
    return o.is_full ? MK_E_NOMEM : o.at - dst;
}
