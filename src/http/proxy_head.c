/* SPDX-License-Identifier: Apache-2.0 */
#include "http/proxy_head.h"

#include "base/limits.h"
#include "base/str.h"

#include <arpa/inet.h>

static const char v2_signature[12] = "\r\n\r\n\0\r\nQUIT\n";

enum {
    V2_HEAD = 16,
    V2_LOCAL = 0x20,
    V2_PROXY = 0x21,
    V2_TCP4 = 0x11,
    V2_TCP6 = 0x21,
    V2_TCP4_LEN = 12,
    V2_TCP6_LEN = 36,
};

static void set_v4(struct mk_proxy_head *h, const void *ip)
{
    memset(h->source_ip, 0, 10);
    memset(h->source_ip + 10, 0xff, 2);
    memcpy(h->source_ip + 12, ip, 4);
    h->has_source = true;
}

static void set_v6(struct mk_proxy_head *h, const void *ip)
{
    memcpy(h->source_ip, ip, 16);
    h->has_source = true;
}

static uint16_t read_u16(const char *p)
{
    return (uint16_t)((unsigned char)p[0] << 8 | (unsigned char)p[1]);
}

static ssize_t parse_v2(struct mk_proxy_head *h, const char *buf, size_t len)
{
    size_t body;

    if (len < V2_HEAD)
        return MK_E_AGAIN;
    body = read_u16(buf + 14);
    if (((unsigned char)buf[12] != V2_LOCAL && (unsigned char)buf[12] != V2_PROXY) ||
        body > MK_LIMIT_PROXY_HEAD)
        return MK_E_BAD;
    if (len < V2_HEAD + body)
        return MK_E_AGAIN;
    if ((unsigned char)buf[12] == V2_PROXY && buf[13] == V2_TCP4) {
        if (body < V2_TCP4_LEN)
            return MK_E_BAD;
        set_v4(h, buf + V2_HEAD);
        h->source_port = read_u16(buf + V2_HEAD + 8);
    } else if ((unsigned char)buf[12] == V2_PROXY && buf[13] == V2_TCP6) {
        if (body < V2_TCP6_LEN)
            return MK_E_BAD;
        set_v6(h, buf + V2_HEAD);
        h->source_port = read_u16(buf + V2_HEAD + 32);
    }
    return (ssize_t)(V2_HEAD + body);
}

/* One space stands before each word, and no NUL is in it, which would end a C string. */
static bool next_word(struct mk_str *line, struct mk_str *word)
{
    const char *space;

    if (line->len == 0 || line->p[0] != ' ')
        return false;
    *line = mk_str_skip(*line, 1);
    space = memchr(line->p, ' ', line->len);
    *word = (struct mk_str){line->p, space ? (size_t)(space - line->p) : line->len};
    *line = mk_str_skip(*line, word->len);
    return word->len > 0 && !memchr(word->p, '\0', word->len);
}

static bool next_address(struct mk_str *line, int family, unsigned char ip[16])
{
    char text[INET6_ADDRSTRLEN];
    struct mk_str word;

    if (!next_word(line, &word) || word.len >= sizeof(text))
        return false;
    memcpy(text, word.p, word.len);
    text[word.len] = '\0';
    return inet_pton(family, text, ip) == 1;
}

static bool next_port(struct mk_str *line, uint16_t *port)
{
    struct mk_str word;
    uint64_t n;

    if (!next_word(line, &word) || (word.p[0] == '0' && word.len > 1) ||
        mk_str_to_u64(word, 65535, &n) < 0)
        return false;
    *port = (uint16_t)n;
    return true;
}

/* " TCP4 source destination source-port destination-port" */
static int parse_v1_addresses(struct mk_proxy_head *h, struct mk_str line)
{
    unsigned char ip[16], other[16];
    uint16_t destination_port;
    struct mk_str family;
    bool v4;

    if (!next_word(&line, &family))
        return MK_E_BAD;
    if (mk_str_eq(family, MK_STR("UNKNOWN")))
        return 0;
    v4 = mk_str_eq(family, MK_STR("TCP4"));
    if (!v4 && !mk_str_eq(family, MK_STR("TCP6")))
        return MK_E_BAD;
    if (!next_address(&line, v4 ? AF_INET : AF_INET6, ip) ||
        !next_address(&line, v4 ? AF_INET : AF_INET6, other) ||
        !next_port(&line, &h->source_port) || !next_port(&line, &destination_port) || line.len > 0)
        return MK_E_BAD;
    if (v4)
        set_v4(h, ip);
    else
        set_v6(h, ip);
    return 0;
}

static ssize_t parse_v1(struct mk_proxy_head *h, const char *buf, size_t len)
{
    const char *lf = memchr(buf, '\n', len < MK_PROXY_V1_MAX ? len : MK_PROXY_V1_MAX);
    size_t line;

    if (!lf)
        return len < MK_PROXY_V1_MAX ? MK_E_AGAIN : MK_E_BAD;
    line = (size_t)(lf - buf);
    if (line < 7 || buf[line - 1] != '\r')
        return MK_E_BAD;
    if (parse_v1_addresses(h, (struct mk_str){buf + 5, line - 1 - 5}) < 0)
        return MK_E_BAD;
    return (ssize_t)(line + 1);
}

ssize_t mk_proxy_head_parse(struct mk_proxy_head *h, const char *buf, size_t len)
{
    size_t v2 = len < sizeof(v2_signature) ? len : sizeof(v2_signature);
    size_t v1 = len < 6 ? len : 6;

    *h = (struct mk_proxy_head){.has_source = false};
    if (memcmp(buf, v2_signature, v2) == 0)
        return v2 == sizeof(v2_signature) ? parse_v2(h, buf, len) : MK_E_AGAIN;
    if (memcmp(buf, "PROXY ", v1) == 0)
        return v1 == 6 ? parse_v1(h, buf, len) : MK_E_AGAIN;
    return MK_E_BAD;
}
