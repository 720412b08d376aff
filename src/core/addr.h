/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CORE_ADDR_H
#define MK_CORE_ADDR_H

#include <monkey/types.h>

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Addresses to listen on and of peers. No names are resolved here. */

struct mk_addr {
    socklen_t len;
    union {
        struct sockaddr sa;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
    };
};

/** A peer, as small as it goes: one is kept for each connection. IPv4 is kept as IPv4-mapped IPv6. */
struct mk_peer {
    uint8_t ip[16];
    uint16_t port; /* host order; 0 for unix sockets */
    bool is_unix;
    bool counted; /* against MaxConnectionsPerIP, which may have been off when it came */
};

/** A network: addresses whose first bits are those of ip. */
struct mk_net {
    uint8_t ip[16];
    uint8_t bits; /* of 128; IPv4 networks count from 96 */
};

enum { MK_ADDR_TEXT = 128 }; /* room for any address as text */

/**
 * Read "PORT" (every address, IPv6 socket that takes IPv4 too), "ip:PORT", "[v6]:PORT" or "unix:/path".
 * @return 0 or MK_E_BAD.
 */
int mk_addr_parse(struct mk_str s, struct mk_addr *addr) MK_MUST_USE;

/** As text that mk_addr_parse reads again. @return bytes written, without terminator (one is added). */
size_t mk_addr_format(const struct mk_addr *addr, char dst[MK_ADDR_TEXT]);

bool mk_addr_eq(const struct mk_addr *a, const struct mk_addr *b);
/** Do all connections to one address reach a socket at the other, wider one, where no socket is nearer? */
bool mk_addr_covers(const struct mk_addr *wide, const struct mk_addr *narrow);
unsigned mk_addr_port(const struct mk_addr *addr);
void mk_addr_set_port(struct mk_addr *addr, unsigned port);

void mk_peer_from_addr(struct mk_peer *peer, const struct mk_addr *addr);
/** The IP address as text, IPv4 in dotted form; "unix:" for unix sockets. @return bytes, terminated. */
size_t mk_peer_format(const struct mk_peer *peer, char dst[MK_ADDR_TEXT]);

/** Read an IPv4 or IPv6 address into mapped form. @return 0 or MK_E_BAD. */
int mk_ip_parse(struct mk_str s, uint8_t ip[16]) MK_MUST_USE;
/** Read "address" or "address/bits". @return 0 or MK_E_BAD. */
int mk_net_parse(struct mk_str s, struct mk_net *net) MK_MUST_USE;
enum { MK_NET_TEXT = 64 };
/** As text that mk_net_parse reads again. @return bytes, terminated. */
size_t mk_net_format(const struct mk_net *net, char dst[MK_NET_TEXT]);
bool mk_net_has(const struct mk_net *net, const uint8_t ip[16]);

#endif
