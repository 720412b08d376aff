/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_MONKEY_SOCKET_H
#define MK_DUDA_OBJECTS_MONKEY_SOCKET_H

#include "objects/objects.h"

/* Calls of the object `monkey` on sockets of the service's own. They return -1 with errno on failure. */

int mk_duda_socket_cork_flag(int fd, int on);
int mk_duda_socket_reset(int fd);
int mk_duda_socket_set_tcp_nodelay(int fd);
int mk_duda_socket_set_nonblocking(int fd);
/** @return a connected, blocking socket, owned by the caller. Blocks for the look-up and the connection. */
int mk_duda_socket_connect(char *host, int port);
int mk_duda_socket_create(void);
int mk_duda_socket_close(int fd);
int mk_duda_socket_send(int fd, const void *buf, size_t len);
int mk_duda_socket_read(int fd, void *buf, int len);
int mk_duda_socket_send_file(int fd, int file_fd, off_t *offset, size_t count);
/** The peer's address as text. @param buf  *buf has room for size bytes @param len  out: bytes; NULL is allowed */
int mk_duda_socket_ip_str(int fd, char **buf, int size, unsigned long *len);

#endif
