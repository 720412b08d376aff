/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_TRANSPORT_H
#define MK_SERVER_TRANSPORT_H

#include <monkey/transport.h>

/** Plain sockets. */
extern const struct mk_transport mk_transport_liana;

#endif
