/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper_client.h"

#include "keeper_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* Late answers to requests that were given up may come first; there are never more than a few. */
enum { ANSWERS_MAX = 64 };

static int attached_fd(struct msghdr *msg)
{
    struct cmsghdr *part = CMSG_FIRSTHDR(msg);
    int fd = -1;

    if (part && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS &&
        part->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&fd, CMSG_DATA(part), sizeof(int));
    return fd;
}

/* @return 0, fd may be set; or an enum mk_error. */
static int receive(int sock, struct mk_keeper_answer *answer, int *fd)
{
    struct iovec piece = {answer, sizeof(*answer)};
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))];
    struct msghdr msg = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
    ssize_t len;

    do {
        len = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
    } while (len < 0 && errno == EINTR);
    if (len < 0)
        return errno == EAGAIN ? MK_E_TIMEOUT : MK_E_PEER;
    *fd = attached_fd(&msg);
    return len == sizeof(*answer) ? 0 : MK_E_PEER;
}

static int await_answer(int sock, uint32_t number, int *fd)
{
    struct mk_keeper_answer answer = {0};

    for (int i = 0; i < ANSWERS_MAX; i++) {
        int err = receive(sock, &answer, fd);

        if (err < 0)
            return err;
        if (answer.number == number) {
            errno = answer.system_error;
            return answer.result;
        }
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
    }
    return MK_E_PEER;
}

/* @param fd  goes along; -1: none */
static int send_request(int sock, struct mk_keeper_request *request, size_t len, int fd)
{
    struct iovec piece = {request, len};
    struct msghdr msg = {.msg_iov = &piece, .msg_iovlen = 1};
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {0};

    if (fd >= 0)
        mk_keeper_attach(&msg, room, fd);
    return sendmsg(sock, &msg, MSG_NOSIGNAL) < 0 ? MK_E_PEER : 0;
}

/* @param sent  a descriptor that goes along; -1: none @return a descriptor, or 0 when none came, or an enum mk_error. */
static int ask(struct mk_keeper_client *client, enum mk_keeper_op op, uint32_t flags,
               const char *name, int sent)
{
    struct mk_keeper_request request = {.op = op, .flags = flags};
    int len = snprintf(request.name, sizeof(request.name), "%s", name), err, fd = -1;

    if (client->sock < 0)
        return MK_E_ACCESS;
    if (len >= (int)sizeof(request.name))
        return MK_E_LIMIT;
    pthread_mutex_lock(&client->lock);
    request.number = ++client->number;
    err = send_request(client->sock, &request, MK_KEEPER_HEAD_BYTES + (size_t)len + 1, sent);
    if (err == 0)
        err = await_answer(client->sock, request.number, &fd);
    pthread_mutex_unlock(&client->lock);
    return err < 0 ? err : fd >= 0 ? fd : 0;
}

/* Where a descriptor must come: an answer without one is none. */
static int ask_fd(struct mk_keeper_client *client, enum mk_keeper_op op, uint32_t flags,
                  const char *name)
{
    int fd = client->has_rights ? ask(client, op, flags, name, -1) : MK_E_ACCESS;

    return fd == 0 ? MK_E_PEER : fd;
}

int mk_keeper_open_file(void *arg, const char *path, int flags, mode_t mode)
{
    (void)mode; /* the keeper decides that itself */
    if ((flags & O_ACCMODE) != O_RDONLY)
        return ask_fd(arg, MK_KEEPER_OPEN_LOG, 0, path);
    return ask_fd(arg, MK_KEEPER_OPEN_READ, flags & O_DIRECTORY ? MK_KEEPER_DIRECTORY : 0, path);
}

int mk_keeper_bind(void *arg, const char *address, bool share)
{
    return ask_fd(arg, MK_KEEPER_BIND, share ? MK_KEEPER_SHARE : 0, address);
}

int mk_keeper_bind_socket(void *arg, const char *name)
{
    const struct mk_keeper_client *client = arg;

    return !client->has_rights ? MK_E_UNSUPPORTED : ask_fd(arg, MK_KEEPER_SOCKET, 0, name);
}

int mk_keeper_start_helper(void *arg, const char *name)
{
    const struct mk_keeper_client *client = arg;

    return !client->has_rights ? MK_E_UNSUPPORTED : ask_fd(arg, MK_KEEPER_HELPER, 0, name);
}

int mk_keeper_reload(struct mk_keeper_client *client)
{
    return client->sock < 0 ? 0 : ask(client, MK_KEEPER_RELOAD, 0, "", -1);
}

static void keep(void *arg, int fd)
{
    (void)ask(arg, MK_KEEPER_KEEP, 0, "", fd);
}

void mk_keeper_keep(struct mk_keeper_client *client, const struct mk_server *server)
{
    if (client->sock >= 0 && client->restarts)
        mk_server_sockets(server, keep, client);
}

/* A keeper that is gone is noticed where we wait. */
void mk_keeper_ready(struct mk_keeper_client *client, const char *failed)
{
    (void)ask(client, MK_KEEPER_READY, 0, failed, -1);
}

void mk_keeper_stops(struct mk_keeper_client *client)
{
    (void)ask(client, MK_KEEPER_STOPS, 0, "", -1);
}
