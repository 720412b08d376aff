/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper_desk.h"

#include "binding.h"
#include "guarded_open.h"
#include "keeper_wire.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    LOG_MODE = 0640,
    COMPLAINTS_MAX = 200,
    HELPERS_MAX = 64, /* started in HELPERS_S seconds */
    HELPERS_S = 60,
    DESCRIPTORS_MAX = 253, /* of the kernel, in one packet */
};

/* What an operation leads to: an answer and perhaps a descriptor. */
struct outcome {
    int fd, error, system_error;
};

static struct outcome failed(int error, int system_error)
{
    return (struct outcome){-1, error, system_error};
}

static struct outcome opened(int fd)
{
    return fd < 0 ? failed(mk_error_from_errno(errno), errno) : (struct outcome){fd, 0, 0};
}

static struct outcome open_read(struct mk_keeper_desk *desk, const struct mk_keeper_request *r)
{
    (void)desk;
    return opened(mk_guarded_open(
        r->name, O_RDONLY | (r->flags & MK_KEEPER_DIRECTORY ? O_DIRECTORY : 0), 0, NULL));
}

static struct outcome open_log(struct mk_keeper_desk *desk, const struct mk_keeper_request *r)
{
    (void)desk;
    return opened(mk_guarded_open(r->name, O_WRONLY | O_APPEND | O_CREAT, LOG_MODE, NULL));
}

static struct outcome bind_address(struct mk_keeper_desk *desk, const struct mk_keeper_request *r)
{
    (void)desk;
    return opened(mk_binding_open(r->name, r->flags & MK_KEEPER_SHARE));
}

static struct outcome bind_socket(struct mk_keeper_desk *desk, const struct mk_keeper_request *r)
{
    return opened(mk_binding_open_socket(r->name, desk->uid, desk->gid));
}

/* A helper that crashes is started again, but a server gone wild must not keep us busy with that. */
static bool may_start_helper(struct mk_keeper_desk *desk)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - desk->helpers_s >= HELPERS_S) {
        desk->helpers_s = now.tv_sec;
        desk->helpers = 0;
    }
    return desk->helpers++ < HELPERS_MAX;
}

static struct outcome start_helper(struct mk_keeper_desk *desk, const struct mk_keeper_request *r)
{
    int fd =
        may_start_helper(desk) ? mk_helper_spawn(r->name, desk->user ? desk->user : "") : MK_E_BUSY;

    return fd < 0 ? failed(fd, 0) : (struct outcome){fd, 0, 0};
}

/* The operations that need a name of the allowed set. */
static const struct named_op {
    uint32_t op;
    enum mk_resource kind;
    struct outcome (*run)(struct mk_keeper_desk *desk, const struct mk_keeper_request *request);
} named_ops[] = {
    {MK_KEEPER_BIND, MK_RESOURCE_LISTEN, bind_address},
    {MK_KEEPER_OPEN_READ, MK_RESOURCE_READ, open_read},
    {MK_KEEPER_OPEN_LOG, MK_RESOURCE_LOG, open_log},
    {MK_KEEPER_HELPER, MK_RESOURCE_HELPER, start_helper},
    {MK_KEEPER_SOCKET, MK_RESOURCE_SOCKET, bind_socket},
};

/* A server gone wild must not fill the disk with what we say of it. */
static bool may_complain(struct mk_keeper_desk *desk)
{
    if (desk->complaints < COMPLAINTS_MAX && ++desk->complaints == COMPLAINTS_MAX)
        mk_report("keeper: too many refused requests; further ones are not logged");
    return desk->complaints < COMPLAINTS_MAX;
}

/* Nothing that the server says goes into a log as it is. */
static const char *printable(char *text)
{
    for (char *p = text; *p; p++) {
        if (*p < ' ' || *p > '~')
            *p = '?';
    }
    return text;
}

/* Only addresses can be written in several ways. */
static const char *canonical(enum mk_resource kind, const char *name, char text[MK_ADDRESS_TEXT])
{
    return kind == MK_RESOURCE_LISTEN ? mk_address_canonical(name, text) : name;
}

void mk_keeper_desk_allow(void *allowed, enum mk_resource kind, const char *name)
{
    char text[MK_ADDRESS_TEXT];

    mk_allowed_add(allowed, kind, canonical(kind, name, text));
}

static struct outcome serve_name(struct mk_keeper_desk *desk, struct mk_keeper_request *r)
{
    char text[MK_ADDRESS_TEXT];

    for (size_t i = 0; i < sizeof(named_ops) / sizeof(named_ops[0]); i++) {
        if (named_ops[i].op != r->op)
            continue;
        if (mk_allowed_has(&desk->allowed, named_ops[i].kind,
                           canonical(named_ops[i].kind, r->name, text)))
            return named_ops[i].run(desk, r);
        if (may_complain(desk))
            mk_report(
                "keeper: refused operation %u on \"%s\", which the configuration does not name",
                (unsigned)r->op, printable(r->name));
        return failed(MK_E_ACCESS, EACCES);
    }
    if (may_complain(desk))
        mk_report("keeper: refused unknown operation %u", (unsigned)r->op);
    return failed(MK_E_UNSUPPORTED, ENOSYS);
}

static void settle(struct mk_keeper_desk *desk, const char *why)
{
    if (why[0])
        mk_kept_forget(&desk->kept);
    else
        mk_kept_settle(&desk->kept);
    desk->ready(desk->arg, why);
}

/* @param fd  came along, and is taken; -1: none */
static struct outcome serve(struct mk_keeper_desk *desk, struct mk_keeper_request *r, int fd)
{
    if (r->op == MK_KEEPER_KEEP)
        return failed(mk_kept_add(&desk->kept, fd) ? 0 : MK_E_INVALID, 0);
    if (fd >= 0)
        mk_kept_drop(fd);
    switch (r->op) {
    case MK_KEEPER_RELOAD:
        return failed(desk->reload(desk->arg, &desk->allowed), 0);
    case MK_KEEPER_READY:
        settle(desk, printable(r->name));
        return failed(0, 0);
    case MK_KEEPER_STOPS:
        mk_kept_close(&desk->kept);
        desk->stops(desk->arg);
        return failed(0, 0);
    default:
        return serve_name(desk, r);
    }
}

/* One packet that is whole: its name ends where the packet ends, and nowhere before. */
static bool is_whole(const struct mk_keeper_request *r, size_t len)
{
    if (len <= MK_KEEPER_HEAD_BYTES || len > sizeof(*r))
        return false;
    return memchr(r->name, '\0', len - MK_KEEPER_HEAD_BYTES) == (const char *)r + len - 1;
}

/* A server that asks without reading answers loses them: the keeper waits for nobody. */
static void reply(struct mk_keeper_desk *desk, uint32_t number, const struct outcome *o)
{
    struct mk_keeper_answer answer = {number, o->error, o->system_error};
    struct iovec piece = {&answer, sizeof(answer)};
    struct msghdr msg = {.msg_iov = &piece, .msg_iovlen = 1};
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {0};

    if (o->fd >= 0)
        mk_keeper_attach(&msg, room, o->fd);
    if (sendmsg(desk->sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && may_complain(desk))
        mk_report("keeper: cannot send an answer: %s", mk_errno_text());
}

/* @return the first descriptor that came along, or -1. The others are closed. */
static int take_first(struct msghdr *msg)
{
    const struct cmsghdr *part = CMSG_FIRSTHDR(msg);
    size_t count = 0;
    int fds[DESCRIPTORS_MAX] = {-1};

    if (part && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) {
        count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(fds[0]);
        memcpy(fds, CMSG_DATA(part), count * sizeof(fds[0]));
    }
    for (size_t i = 1; i < count; i++)
        mk_kept_drop(fds[i]);
    return fds[0];
}

/* @return the true length of a packet. All that it brings is taken: what the kernel closes in our place may keep us waiting. */
static ssize_t receive(int sock, struct mk_keeper_request *request, int *fd)
{
    struct iovec piece = {request, sizeof(*request)};
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
    struct msghdr msg = {.msg_iov = &piece,
                         .msg_iovlen = 1,
                         .msg_control = room,
                         .msg_controllen = CMSG_LEN(DESCRIPTORS_MAX * sizeof(int))};
    ssize_t len = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);

    *fd = len < 0 ? -1 : take_first(&msg);
    return len;
}

static void answer_request(struct mk_keeper_desk *desk, struct mk_keeper_request *r, int fd)
{
    struct outcome outcome = serve(desk, r, fd);

    reply(desk, r->number, &outcome);
    if (outcome.fd >= 0)
        close(outcome.fd);
}

bool mk_keeper_desk_answer(struct mk_keeper_desk *desk)
{
    struct mk_keeper_request request;
    int fd;
    const ssize_t len = receive(desk->sock, &request, &fd);

    if (len < 0)
        return errno == EAGAIN || errno == EINTR;
    if (len > 0 && is_whole(&request, (size_t)len)) {
        answer_request(desk, &request, fd);
        return true;
    }
    if (len > 0 && may_complain(desk))
        mk_report("keeper: refused a malformed request of %zd bytes", len);
    if (fd >= 0)
        mk_kept_drop(fd);
    return len > 0;
}
