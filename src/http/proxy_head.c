/* SPDX-License-Identifier: Apache-2.0 */
#include "http/proxy_head.h"

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
        body > MK_PROXY_V2_MAX)
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

static bool next_word(struct mk_str *line, char *dst, size_t size)
{
    struct mk_str word;

    if (!mk_str_next_word(line, &word) || word.len >= size)
        return false;
    memcpy(dst, word.p, word.len);
    dst[word.len] = '\0';
    return true;
}

static bool next_port(struct mk_str *line, uint16_t *port)
{
    struct mk_str word;
    uint64_t n;

    if (!mk_str_next_word(line, &word) || mk_str_to_u64(word, 65535, &n) < 0)
        return false;
    *port = (uint16_t)n;
    return true;
}

/* "TCP4 source destination source-port destination-port" */
static int parse_v1_addresses(struct mk_proxy_head *h, struct mk_str line)
{
    char family[8], source[INET6_ADDRSTRLEN], destination[INET6_ADDRSTRLEN];
    unsigned char ip[16], other[16];
    uint16_t destination_port;
    int af;

    if (!next_word(&line, family, sizeof(family)))
        return MK_E_BAD;
    if (strcmp(family, "UNKNOWN") == 0)
        return 0;
    if (strcmp(family, "TCP4") != 0 && strcmp(family, "TCP6") != 0)
        return MK_E_BAD;
    af = family[3] == '4' ? AF_INET : AF_INET6;
    if (!next_word(&line, source, sizeof(source)) ||
        !next_word(&line, destination, sizeof(destination)) || inet_pton(af, source, ip) != 1 ||
        inet_pton(af, destination, other) != 1 || !next_port(&line, &h->source_port) ||
        !next_port(&line, &destination_port) || mk_str_trim(line).len > 0)
        return MK_E_BAD;
    if (af == AF_INET)
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
    if (parse_v1_addresses(h, (struct mk_str){buf + 6, line - 1 - 6}) < 0)
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
