/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REMOTE_HOME_H
#define MK_DUDA_REMOTE_HOME_H

#include "data/remote/client.h"

/* For packages that ask servers: what data/remote has to know of a service. */

/** Fill in what surrounds clients on this thread, with texts that live as long as the service. @return 0; -1: it is no worker of the service */
int remote_home_here(struct remote_home *home);

/** @return whether servers with TLS can be asked. In duda_main(), and on workers */
bool remote_has_tls(void);

#endif
