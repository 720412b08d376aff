/* SPDX-License-Identifier: Apache-2.0 */
#include "server/link/transport.h"

#include <sys/socket.h>

void mk_link_shutdown(struct mk_link *l)
{
    if (l->transport->shutdown)
        l->transport->shutdown(l);
    else
        (void)shutdown(l->fd, SHUT_WR);
}

void mk_link_close(struct mk_link *l)
{
    if (l->transport->close)
        l->transport->close(l);
    l->state = NULL;
    l->fd = -1;
}
