/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/message.h"

#include "kit/text/words.h"

#include <string.h>

/* ---- bytes ---- */

/* Lower-case tokens (RFC 9110 section 5.6.2, RFC 9113 section 8.2.1): a bit for each byte below 128. */
static const uint32_t name_bytes[4] = {
    0, 0x03ff6cfa, /* !#$%&'*+-. 0 to 9 */
    0xc0000000,    /* ^_ */
    0x57ffffff,    /* ` a to z | ~ */
};

static bool is_name_byte(unsigned char c)
{
    return c < 128 && name_bytes[c / 32] >> c % 32 & 1;
}

static bool is_name(struct mk_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (!is_name_byte((unsigned char)name.p[i]))
            return false;
    }
    return name.len > 0;
}

static bool is_control(char c)
{
    return ((unsigned char)c < ' ' && c != '\t') || c == 0x7f;
}

/* Is one of eight bytes below a blank, or DEL? Some that are not may look so. */
static bool may_have_control(const char *p)
{
    const uint64_t ones = UINT64_MAX / 255;
    uint64_t word, del;

    memcpy(&word, p, sizeof(word));
    del = word ^ ones * 0x7f;
    return (((word - ones * ' ') & ~word) | ((del - ones) & ~del)) & ones * 0x80;
}

static bool has_control(const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (is_control(p[i]))
            return true;
    }
    return false;
}

/* RFC 9113 section 8.2.1, RFC 9110 section 5.5. Eight bytes at once; the last of them overlap. */
static bool is_value(struct mk_str v)
{
    size_t at = 0;

    if (v.len == 0)
        return true;
    if (text_is_blank(v.p[0]) || text_is_blank(v.p[v.len - 1]))
        return false;
    if (v.len < 8)
        return !has_control(v.p, v.len);
    for (; at + 8 < v.len && !may_have_control(v.p + at); at += 8)
        ;
    if (at + 8 >= v.len && !may_have_control(v.p + v.len - 8))
        return true;
    return !has_control(v.p + at, v.len - at);
}

/* ---- which field it is ---- */

/* Entries of the static table (RFC 7541 appendix A) whose fields are more than OTHER. */
static const uint8_t static_fields[HPACK_STATIC + 1] = {
    [1] = H2_FIELD_AUTHORITY, [2] = H2_FIELD_METHOD,  [4] = H2_FIELD_PATH,
    [6] = H2_FIELD_SCHEME,    [8] = H2_FIELD_STATUS,  [28] = H2_FIELD_CONTENT_LENGTH,
    [32] = H2_FIELD_COOKIE,   [35] = H2_FIELD_EXPECT, [38] = H2_FIELD_HOST,
};

enum { STATIC_TRANSFER_ENCODING = 57 };

static enum h2_field pseudo_field(struct mk_str name)
{
    static const struct {
        struct mk_str name;
        uint8_t field;
    } names[] = {
        {MK_STR_INIT(":method"), H2_FIELD_METHOD},
        {MK_STR_INIT(":scheme"), H2_FIELD_SCHEME},
        {MK_STR_INIT(":path"), H2_FIELD_PATH},
        {MK_STR_INIT(":authority"), H2_FIELD_AUTHORITY},
        {MK_STR_INIT(":protocol"), H2_FIELD_PROTOCOL},
        {MK_STR_INIT(":status"), H2_FIELD_STATUS},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (text_is(name, names[i].name))
            return names[i].field;
    }
    return H2_FIELD_MALFORMED;
}

static enum h2_field field_of_7(struct mk_str name)
{
    if (text_is(name, MK_STR("trailer")))
        return H2_FIELD_TRAILER;
    return text_is(name, MK_STR("upgrade")) ? H2_FIELD_MALFORMED : H2_FIELD_OTHER;
}

/* Applications read X_Name and X-Name as one variable, so neither form passes. */
static bool is_either(struct mk_str name, struct mk_str with_dash)
{
    for (size_t i = 0; i < with_dash.len; i++) {
        if (name.p[i] != with_dash.p[i] && (with_dash.p[i] != '-' || name.p[i] != '_'))
            return false;
    }
    return name.len == with_dash.len;
}

/* RFC 9113 section 8.2.2; HTTP2-Settings: of the upgrade that section 3.1 takes away. */
static enum h2_field field_of_framing(struct mk_str name)
{
    static const struct mk_str names[] = {
        MK_STR_INIT("connection"),       MK_STR_INIT("keep-alive"),
        MK_STR_INIT("content-length"),   MK_STR_INIT("http2-settings"),
        MK_STR_INIT("proxy-connection"), MK_STR_INIT("transfer-encoding"),
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].len == name.len && is_either(name, names[i]))
            return text_is(name, MK_STR("content-length")) ? H2_FIELD_CONTENT_LENGTH
                                                           : H2_FIELD_MALFORMED;
    }
    return H2_FIELD_OTHER;
}

static enum h2_field named_field(struct mk_str name)
{
    if (name.len > 0 && name.p[0] == ':')
        return pseudo_field(name);
    if (!is_name(name))
        return H2_FIELD_MALFORMED;
    switch (name.len) {
    case 2:
        return text_is(name, MK_STR("te")) ? H2_FIELD_TE : H2_FIELD_OTHER;
    case 4:
        return text_is(name, MK_STR("host")) ? H2_FIELD_HOST : H2_FIELD_OTHER;
    case 6:
        return text_is(name, MK_STR("cookie"))   ? H2_FIELD_COOKIE
               : text_is(name, MK_STR("expect")) ? H2_FIELD_EXPECT
                                                 : H2_FIELD_OTHER;
    case 7:
        return field_of_7(name);
    case 10:
    case 14:
    case 16:
    case 17:
        return field_of_framing(name);
    default:
        return H2_FIELD_OTHER;
    }
}

static enum h2_field which(const struct hpack_field *f)
{
    if (f->id == 0)
        return named_field(f->name);
    if (f->id == STATIC_TRANSFER_ENCODING)
        return H2_FIELD_MALFORMED;
    return static_fields[f->id] ? static_fields[f->id] : H2_FIELD_OTHER;
}

/* ---- what a message may have ---- */

static bool is_pseudo(enum h2_field field)
{
    return field >= H2_FIELD_METHOD && field <= H2_FIELD_STATUS;
}

static bool has(const struct h2_message *m, enum h2_field field)
{
    return m->seen >> field & 1;
}

/* RFC 9113 section 8.3: before all others, in heads alone, each in messages of its kind. */
static bool may_have_pseudo(const struct h2_message *m, enum h2_field field)
{
    const unsigned others = UINT16_MAX << H2_FIELD_HOST;

    return !m->is_trailer && !(m->seen & others) && !has(m, field) &&
           m->is_response == (field == H2_FIELD_STATUS);
}

/* RFC 9110 section 8.6. */
static bool take_length(struct h2_message *m, struct mk_str digits)
{
    if (m->content_length >= 0 || digits.len == 0)
        return false;
    m->content_length = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9' || m->content_length > INT64_MAX / 16)
            return false;
        m->content_length = m->content_length * 10 + (digits.p[i] - '0');
    }
    return true;
}

static bool is_path(struct mk_str path)
{
    return text_is(path, MK_STR("*")) || (path.len > 0 && path.p[0] == '/');
}

static bool is_status(struct mk_str v)
{
    return v.len == 3 && v.p[0] >= '1' && v.p[0] <= '9' && v.p[1] >= '0' && v.p[1] <= '9' &&
           v.p[2] >= '0' && v.p[2] <= '9';
}

/* Of others an absolute path would not be one. */
static bool is_scheme(struct mk_str v)
{
    return text_is(v, MK_STR("https")) || text_is(v, MK_STR("http")) ||
           text_is_word(v, MK_STR("http")) || text_is_word(v, MK_STR("https"));
}

/* @return false: the message is malformed. */
static bool take(struct h2_message *m, enum h2_field field, struct mk_str value)
{
    switch (field) {
    case H2_FIELD_MALFORMED:
        return false;
    case H2_FIELD_METHOD:
        m->is_connect = text_is(value, MK_STR("CONNECT"));
        return value.len > 0;
    case H2_FIELD_SCHEME:
        return is_scheme(value);
    case H2_FIELD_PATH:
        return is_path(value);
    case H2_FIELD_STATUS:
        return is_status(value);
    case H2_FIELD_HOST:
        return !has(m, H2_FIELD_HOST) || m->is_response;
    case H2_FIELD_CONTENT_LENGTH:
        return m->is_trailer || take_length(m, value);
    case H2_FIELD_TE:
        return m->is_response || text_is_word(value, MK_STR("trailers"));
    default:
        return true;
    }
}

static enum h2_field judge_texts(const struct hpack_field *f)
{
    return f->is_static || is_value(f->value) ? which(f) : H2_FIELD_MALFORMED;
}

/* What depends on no other field is judged once for an entry of the dynamic table. */
static enum h2_field field_of(const struct hpack_field *f)
{
    if (!f->note)
        return judge_texts(f);
    if (*f->note == 0)
        *f->note = (uint8_t)(1 + judge_texts(f));
    return *f->note - 1;
}

enum h2_field h2_message_field(struct h2_message *m, const struct hpack_field *f)
{
    enum h2_field field = field_of(f);

    if ((is_pseudo(field) && !may_have_pseudo(m, field)) || !take(m, field, f->value))
        return H2_FIELD_MALFORMED;
    m->seen |= (uint16_t)(1U << field);
    return field;
}

bool h2_message_is_whole(const struct h2_message *m)
{
    bool has_target = has(m, H2_FIELD_SCHEME) && has(m, H2_FIELD_PATH);

    if (m->is_response)
        return has(m, H2_FIELD_STATUS);
    if (!has(m, H2_FIELD_METHOD))
        return false;
    if (has(m, H2_FIELD_PROTOCOL))
        return m->is_connect && has_target && has(m, H2_FIELD_AUTHORITY);
    if (m->is_connect)
        return !has(m, H2_FIELD_SCHEME) && !has(m, H2_FIELD_PATH) && has(m, H2_FIELD_AUTHORITY);
    return has_target && (has(m, H2_FIELD_AUTHORITY) || has(m, H2_FIELD_HOST));
}
