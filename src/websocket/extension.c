/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/extension.h"

#include "kit/text/words.h"

#include <monkey/field.h>

#include <stdio.h>

/* The parameters of an offer (section 7.1). Windows: 0, not there. */
struct offer {
    bool resets_sent, resets_received, limits_received;
    unsigned sent_bits, received_bits;
};

/* 8 to 15, without leading zeros (section 7.1.2.1). @return 0: it is none of them */
static unsigned bits_of(struct mk_str value)
{
    if (value.len == 1 && (value.p[0] == '8' || value.p[0] == '9'))
        return (unsigned)(value.p[0] - '0');
    if (value.len == 2 && value.p[0] == '1' && value.p[1] >= '0' && value.p[1] <= '5')
        return 10U + (unsigned)(value.p[1] - '0');
    return 0;
}

static bool set_flag(bool *flag, bool has_value)
{
    if (*flag || has_value)
        return false;
    *flag = true;
    return true;
}

static bool set_bits(unsigned *bits, struct mk_str value)
{
    if (*bits != 0)
        return false;
    *bits = bits_of(value);
    return *bits != 0;
}

static struct mk_str unquoted(struct mk_str value)
{
    if (value.len >= 2 && value.p[0] == '"' && value.p[value.len - 1] == '"')
        return (struct mk_str){value.p + 1, value.len - 2};
    return value;
}

/* @return false: the offer is declined */
static bool take_parameter(struct offer *o, struct mk_str parameter)
{
    const char *equals = memchr(parameter.p, '=', parameter.len);
    struct mk_str name = parameter, value = {NULL, 0};

    if (equals) {
        name.len = (size_t)(equals - parameter.p);
        value = unquoted(text_trim(
            (struct mk_str){equals + 1, parameter.len - (size_t)(equals + 1 - parameter.p)}));
    }
    name = text_trim(name);
    if (text_is_word(name, MK_STR("server_no_context_takeover")))
        return set_flag(&o->resets_sent, equals != NULL);
    if (text_is_word(name, MK_STR("client_no_context_takeover")))
        return set_flag(&o->resets_received, equals != NULL);
    if (text_is_word(name, MK_STR("server_max_window_bits")))
        return set_bits(&o->sent_bits, value);
    if (!text_is_word(name, MK_STR("client_max_window_bits")) ||
        !set_flag(&o->limits_received, false))
        return false;
    return !equals || set_bits(&o->received_bits, value);
}

/* @return the part before the next semicolon, without blanks */
static struct mk_str next_part(struct mk_str *rest)
{
    const char *end = memchr(rest->p, ';', rest->len);
    struct mk_str part = {rest->p, end ? (size_t)(end - rest->p) : rest->len};

    *rest = end ? (struct mk_str){end + 1, rest->len - part.len - 1} : (struct mk_str){NULL, 0};
    return text_trim(part);
}

static bool read_offer(struct offer *o, struct mk_str text)
{
    if (!text_is_word(next_part(&text), MK_STR("permessage-deflate")))
        return false;
    while (text.p) {
        if (!take_parameter(o, next_part(&text)))
            return false;
    }
    return o->sent_bits != 8; /* which zlib cannot meet */
}

static void agree(struct ws_deflate *d, const struct ws_deflate_rules *rules, const struct offer *o)
{
    *d = (struct ws_deflate){
        .is_agreed = true,
        .keeps_sent = rules->may_keep_sent && !o->resets_sent,
        .keeps_received = rules->may_keep_received && !o->resets_received,
        .sent_bits = WS_WINDOW_OURS,
        .received_bits = WS_WINDOW_MAX,
    };
    if (o->sent_bits != 0 && o->sent_bits < WS_WINDOW_OURS)
        d->sent_bits = (uint8_t)o->sent_bits;
    if (o->limits_received) {
        d->received_bits = WS_WINDOW_OURS;
        if (o->received_bits != 0 && o->received_bits < WS_WINDOW_OURS)
            d->received_bits = (uint8_t)o->received_bits;
    }
}

void ws_deflate_offer(struct ws_deflate *d, const struct ws_deflate_rules *rules,
                      struct mk_str value)
{
    struct mk_str text;

    while (rules->is_allowed && !d->is_agreed && mk_list_next(&value, &text)) {
        struct offer o = {.resets_sent = false};

        if (read_offer(&o, text))
            agree(d, rules, &o);
    }
}

size_t ws_deflate_answer(char dst[WS_EXTENSION_ROOM], const struct ws_deflate *d)
{
    char sent[32] = "", received[32] = "";

    if (d->sent_bits < WS_WINDOW_OURS)
        (void)snprintf(sent, sizeof(sent), "; server_max_window_bits=%u", d->sent_bits);
    if (d->received_bits < WS_WINDOW_MAX)
        (void)snprintf(received, sizeof(received), "; client_max_window_bits=%u", d->received_bits);
    return (size_t)snprintf(dst, WS_EXTENSION_ROOM, "permessage-deflate%s%s%s%s",
                            d->keeps_sent ? "" : "; server_no_context_takeover",
                            d->keeps_received ? "" : "; client_no_context_takeover", sent,
                            received);
}
