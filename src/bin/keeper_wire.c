/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper_wire.h"

#include <string.h>

void mk_keeper_attach(struct msghdr *msg, void *room, int fd)
{
    struct cmsghdr *part;

    msg->msg_control = room;
    msg->msg_controllen = CMSG_SPACE(sizeof(int));
    part = CMSG_FIRSTHDR(msg);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(part), &fd, sizeof(int));
}
