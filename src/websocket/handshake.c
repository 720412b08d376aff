/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/handshake.h"

#include "kit/pure/base64.h"
#include "kit/text/words.h"

#include <monkey/field.h>

/* ---- fields ---- */

/* The server's order decides: the client's may be that of an attacker. */
static void choose_protocol(struct ws_opening *o, const struct ws_rules *rules, struct mk_str value)
{
    struct mk_str asked;

    while (mk_list_next(&value, &asked)) {
        struct mk_str ours = mk_str_from(rules->protocols), word = text_next_word(&ours);
        unsigned rank = 1;

        for (; word.len > 0 && !text_is(word, asked); rank++)
            word = text_next_word(&ours);
        if (word.len > 0 && (o->rank == 0 || rank < o->rank)) {
            o->rank = rank;
            o->protocol = asked;
        }
    }
}

void ws_opening_field(struct ws_opening *o, const struct ws_rules *rules, struct mk_str name,
                      struct mk_str value)
{
    if (text_is_word(name, MK_STR("Connection"))) {
        o->is_upgrade |= mk_list_has_token(value, MK_STR("upgrade"));
    } else if (text_is_word(name, MK_STR("Upgrade"))) {
        o->is_websocket |= mk_list_has_token(value, MK_STR("websocket"));
    } else if (text_is_word(name, MK_STR("Sec-WebSocket-Key"))) {
        o->key = value;
        o->nkeys++;
    } else if (text_is_word(name, MK_STR("Sec-WebSocket-Version"))) {
        o->version = value;
        o->nversions++;
    } else if (text_is_word(name, MK_STR("Origin"))) {
        o->origin = value;
        o->norigins++;
    } else if (text_is_word(name, MK_STR("Sec-WebSocket-Protocol"))) {
        choose_protocol(o, rules, value);
    } else if (text_is_word(name, MK_STR("Sec-WebSocket-Extensions"))) {
        ws_deflate_offer(&o->deflate, &rules->deflate, value);
    }
}

/* ---- verdict ---- */

/* Section 4.2.1 item 5: base64 of 16 bytes. */
static bool is_key(struct mk_str key)
{
    uint8_t bytes[WS_KEY_LEN / 4 * 3];

    return key.len == WS_KEY_LEN && base64_decode(bytes, key.p, key.len) == 16;
}

/* RFC 6454 section 4: scheme and authority of the request. Of a proxy in front only it knows the scheme. */
static bool is_same_origin(struct mk_str origin, const struct ws_asked *asked)
{
    const size_t scheme = asked->scheme.len;

    return origin.len == scheme + 3 + asked->host.len &&
           text_is_word((struct mk_str){origin.p, scheme}, asked->scheme) &&
           memcmp(origin.p + scheme, "://", 3) == 0 &&
           text_is_word((struct mk_str){origin.p + scheme + 3, asked->host.len}, asked->host);
}

/* Section 10.2. Programs that are no browsers send none, and could send any. */
static bool is_origin_allowed(const struct ws_opening *o, const struct ws_rules *rules,
                              const struct ws_asked *asked)
{
    struct mk_str list = mk_str_from(rules->origins);

    if (o->norigins == 0)
        return true;
    if (o->norigins > 1)
        return false;
    if (!rules->origins)
        return is_same_origin(o->origin, asked);
    for (struct mk_str word = text_next_word(&list); word.len > 0; word = text_next_word(&list))
        if (text_is(word, MK_STR("*")) || text_is_word(word, o->origin))
            return true;
    return false;
}

unsigned ws_opening_judge(const struct ws_opening *o, const struct ws_rules *rules,
                          const struct ws_asked *asked, const char **why)
{
    const struct {
        bool holds;
        unsigned status;
        const char *why;
    } rows[] = {
        {text_is(asked->method, MK_STR("GET")), 405, "WebSocket needs GET"},
        {o->is_websocket && o->is_upgrade && asked->minor >= 1, 426, "no upgrade to WebSocket"},
        {asked->host.len > 0, 400, "Host is missing"},
        {o->nversions <= 1, 400, "Sec-WebSocket-Version appears twice"},
        {text_is(o->version, MK_STR("13")), 426, "Sec-WebSocket-Version is not 13"},
        {o->nkeys == 1 && is_key(o->key), 400, "Sec-WebSocket-Key is not one of 16 bytes"},
        {!asked->has_body, 400, "the request has a body"},
        {is_origin_allowed(o, rules, asked), 403, "the origin is not allowed"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!rows[i].holds) {
            *why = rows[i].why;
            return rows[i].status;
        }
    return 101;
}

void ws_accept_key(char dst[WS_ACCEPT_LEN], struct mk_str key)
{
    digest_websocket_accept(dst, key.p, key.len);
}
