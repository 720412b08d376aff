/* SPDX-License-Identifier: Apache-2.0 */
#include "core/addr.h"

#include "base/str.h"

#include <arpa/inet.h>
#include <stdio.h>

static const uint8_t mapped_prefix[12] = {[10] = 0xff, [11] = 0xff};

/* inet_pton wants terminated text. */
static bool ip_from_text(int family, struct mk_str s, void *ip)
{
    char text[INET6_ADDRSTRLEN];

    if (s.len >= sizeof(text) || memchr(s.p, '\0', s.len))
        return false;
    memcpy(text, s.p, s.len);
    text[s.len] = '\0';
    return inet_pton(family, text, ip) == 1;
}

static int parse_port(struct mk_str s, in_port_t *port)
{
    uint64_t n;

    if (mk_str_to_u64(s, 65535, &n) < 0)
        return MK_E_BAD;
    *port = htons((uint16_t)n);
    return 0;
}

static int parse_unix(struct mk_str path, struct mk_addr *addr)
{
    if (path.len == 0 || path.len >= sizeof(addr->un.sun_path) || path.p[0] != '/')
        return MK_E_BAD;
    addr->un.sun_family = AF_UNIX;
    memcpy(addr->un.sun_path, path.p, path.len);
    addr->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path.len + 1);
    return 0;
}

static int parse_v6(struct mk_str host, struct mk_str port, struct mk_addr *addr)
{
    addr->in6.sin6_family = AF_INET6;
    addr->len = sizeof(addr->in6);
    if (!ip_from_text(AF_INET6, host, &addr->in6.sin6_addr))
        return MK_E_BAD;
    return parse_port(port, &addr->in6.sin6_port);
}

static int parse_v4(struct mk_str host, struct mk_str port, struct mk_addr *addr)
{
    addr->in.sin_family = AF_INET;
    addr->len = sizeof(addr->in);
    if (!ip_from_text(AF_INET, host, &addr->in.sin_addr))
        return MK_E_BAD;
    return parse_port(port, &addr->in.sin_port);
}

int mk_addr_parse(struct mk_str s, struct mk_addr *addr)
{
    const char *colon;

    memset(addr, 0, sizeof(*addr));
    if (s.len == 0)
        return MK_E_BAD;
    if (mk_str_has_prefix(s, MK_STR("unix:")))
        return parse_unix(mk_str_skip(s, 5), addr);
    colon = memrchr(s.p, ':', s.len);
    if (!colon)
        return parse_v6(MK_STR("::"), s, addr);
    if (s.p[0] == '[' && colon > s.p + 1 && colon[-1] == ']')
        return parse_v6((struct mk_str){s.p + 1, (size_t)(colon - s.p) - 2},
                        mk_str_skip(s, (size_t)(colon - s.p) + 1), addr);
    return parse_v4((struct mk_str){s.p, (size_t)(colon - s.p)},
                    mk_str_skip(s, (size_t)(colon - s.p) + 1), addr);
}

size_t mk_addr_format(const struct mk_addr *addr, char dst[MK_ADDR_TEXT])
{
    char ip[INET6_ADDRSTRLEN];
    int len;

    switch (addr->sa.sa_family) {
    case AF_INET:
        inet_ntop(AF_INET, &addr->in.sin_addr, ip, sizeof(ip));
        len = snprintf(dst, MK_ADDR_TEXT, "%s:%u", ip, mk_addr_port(addr));
        break;
    case AF_INET6:
        inet_ntop(AF_INET6, &addr->in6.sin6_addr, ip, sizeof(ip));
        len = snprintf(dst, MK_ADDR_TEXT, "[%s]:%u", ip, mk_addr_port(addr));
        break;
    default:
        len = snprintf(dst, MK_ADDR_TEXT, "unix:%.*s", (int)sizeof(addr->un.sun_path),
                       addr->un.sun_path);
    }
    return (size_t)len;
}

bool mk_addr_eq(const struct mk_addr *a, const struct mk_addr *b)
{
    if (a->sa.sa_family != b->sa.sa_family)
        return false;
    switch (a->sa.sa_family) {
    case AF_INET:
        return a->in.sin_port == b->in.sin_port && a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
    case AF_INET6:
        return a->in6.sin6_port == b->in6.sin6_port &&
               memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, sizeof(a->in6.sin6_addr)) == 0;
    default:
        return strncmp(a->un.sun_path, b->un.sun_path, sizeof(a->un.sun_path)) == 0;
    }
}

/* [::] is every IPv6 address and every IPv4 one: mk_fd_bind makes it so. */
static bool is_every(const struct mk_addr *addr, int family)
{
    if (addr->sa.sa_family == AF_INET6)
        return IN6_IS_ADDR_UNSPECIFIED(&addr->in6.sin6_addr);
    return addr->sa.sa_family == family && addr->in.sin_addr.s_addr == INADDR_ANY;
}

bool mk_addr_covers(const struct mk_addr *wide, const struct mk_addr *narrow)
{
    if (narrow->sa.sa_family == AF_UNIX || wide->sa.sa_family == AF_UNIX)
        return false;
    return mk_addr_port(wide) == mk_addr_port(narrow) && is_every(wide, narrow->sa.sa_family) &&
           !mk_addr_eq(wide, narrow);
}

unsigned mk_addr_port(const struct mk_addr *addr)
{
    switch (addr->sa.sa_family) {
    case AF_INET:
        return ntohs(addr->in.sin_port);
    case AF_INET6:
        return ntohs(addr->in6.sin6_port);
    default:
        return 0;
    }
}

void mk_addr_set_port(struct mk_addr *addr, unsigned port)
{
    if (addr->sa.sa_family == AF_INET)
        addr->in.sin_port = htons((uint16_t)port);
    else if (addr->sa.sa_family == AF_INET6)
        addr->in6.sin6_port = htons((uint16_t)port);
}

void mk_peer_from_addr(struct mk_peer *peer, const struct mk_addr *addr)
{
    *peer = (struct mk_peer){.port = (uint16_t)mk_addr_port(addr)};
    switch (addr->sa.sa_family) {
    case AF_INET:
        memcpy(peer->ip, mapped_prefix, 12);
        memcpy(peer->ip + 12, &addr->in.sin_addr, 4);
        break;
    case AF_INET6:
        memcpy(peer->ip, &addr->in6.sin6_addr, 16);
        break;
    default:
        peer->is_unix = true;
    }
}

size_t mk_peer_format(const struct mk_peer *peer, char dst[MK_ADDR_TEXT])
{
    if (peer->is_unix)
        memcpy(dst, "unix:", 6);
    else if (memcmp(peer->ip, mapped_prefix, 12) == 0)
        inet_ntop(AF_INET, peer->ip + 12, dst, MK_ADDR_TEXT);
    else
        inet_ntop(AF_INET6, peer->ip, dst, MK_ADDR_TEXT);
    return strlen(dst);
}

int mk_ip_parse(struct mk_str s, uint8_t ip[16])
{
    if (ip_from_text(AF_INET, s, ip + 12)) {
        memcpy(ip, mapped_prefix, 12);
        return 0;
    }
    return ip_from_text(AF_INET6, s, ip) ? 0 : MK_E_BAD;
}

int mk_net_parse(struct mk_str s, struct mk_net *net)
{
    const char *slash = memchr(s.p, '/', s.len);
    struct mk_str ip = slash ? (struct mk_str){s.p, (size_t)(slash - s.p)} : s;
    unsigned base = memchr(ip.p, ':', ip.len) ? 0 : 96;
    uint64_t bits = 128 - base;

    if (mk_ip_parse(ip, net->ip) < 0)
        return MK_E_BAD;
    if (slash && mk_str_to_u64(mk_str_skip(s, ip.len + 1), 128 - base, &bits) < 0)
        return MK_E_BAD;
    net->bits = (uint8_t)(base + bits);
    return 0;
}

size_t mk_net_format(const struct mk_net *net, char dst[MK_NET_TEXT])
{
    bool v4 = net->bits >= 96 && memcmp(net->ip, mapped_prefix, 12) == 0;
    char ip[INET6_ADDRSTRLEN];

    (void)inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? net->ip + 12 : net->ip, ip, sizeof(ip));
    return (size_t)snprintf(dst, MK_NET_TEXT, "%s/%d", ip, net->bits - (v4 ? 96 : 0));
}

bool mk_net_has(const struct mk_net *net, const uint8_t ip[16])
{
    unsigned whole = net->bits / 8, rest = net->bits % 8;

    if (memcmp(net->ip, ip, whole) != 0)
        return false;
    return rest == 0 || ((net->ip[whole] ^ ip[whole]) >> (8 - rest)) == 0;
}
