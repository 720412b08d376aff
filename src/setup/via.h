/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_VIA_H
#define MK_SETUP_VIA_H

#include <monkey/transport.h>

#include <stdint.h>

struct mk_protocol;
struct mk_setup;
struct mk_snapshot;
struct mk_snapshot_source;

/** What carries the bytes of a listener or of a stream, and whose context it is given. Plugins are those of the snapshot, by number. */
struct mk_via {
    const struct mk_transport *transport;
    uint16_t plugin;
    /* of a listener: */
    uint16_t protocol_plugin;
    unsigned site; /* that alone answers here, from 1; 0: those without addresses of their own */
    bool is_spoken_at_once; /* a client may begin with the protocol's preface, without ALPN */
    bool has_no_http;       /* the protocol alone, without HTTP/1 */
    const struct mk_protocol *protocol; /* that connections may speak beside HTTP/1; NULL: none */
};

/** The transport of a loaded plugin, by its name in any case. @return false: there is none. */
bool mk_via_find(struct mk_via *via, const struct mk_snapshot *s, struct mk_str name) MK_MUST_USE;

/** Give each Listen line its transport, once the plugins are known. Names that are none become faults. */
void mk_via_choose(struct mk_snapshot *s, const struct mk_snapshot_source *source,
                   struct mk_setup *ctx);

#endif
