/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBSOCKET_HANDSHAKE_H
#define WEBSOCKET_HANDSHAKE_H

#include "kit/digest/digest.h"
#include "websocket/extension.h"

/* The opening handshake of a server (RFC 6455 section 4.2), without the request: fields in, a verdict out. */

enum { WS_KEY_LEN = WEBSOCKET_KEY_LEN, WS_ACCEPT_LEN = WEBSOCKET_ACCEPT_LEN };

/** What a server allows. Texts are borrowed. */
struct ws_rules {
    const char *protocols; /* names, the best first, with blanks between; NULL: none */
    const char *origins;   /* with blanks between; "*": any; NULL: that of the request itself */
    struct ws_deflate_rules deflate;
};

/** A client's wishes; zeroed before the first field. Texts are borrowed from the request. */
struct ws_opening {
    struct mk_str key, version, origin, protocol;
    unsigned nkeys, nversions, norigins;
    unsigned rank; /* of protocol in ws_rules.protocols, from 1; 0: none */
    bool is_upgrade, is_websocket;
    struct ws_deflate deflate;
};

/** Take a field line of the request; fields of other names are passed over. */
void ws_opening_field(struct ws_opening *o, const struct ws_rules *rules, struct mk_str name,
                      struct mk_str value);

/** What of a request is not a field. */
struct ws_asked {
    struct mk_str method, host, scheme;
    unsigned minor; /* HTTP/1.minor */
    bool has_body;
};

/**
 * Judge the request after its last field.
 * @param why  out: a sentence, unless the result is 101
 * @return 101, or the status of the refusal: 400, 403, 405 or 426.
 */
unsigned ws_opening_judge(const struct ws_opening *o, const struct ws_rules *rules,
                          const struct ws_asked *asked, const char **why);

/** Write Sec-WebSocket-Accept for a key (section 4.2.2). */
void ws_accept_key(char dst[WS_ACCEPT_LEN], struct mk_str key);

#endif
