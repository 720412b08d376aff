/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include <monkey/plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BACKLOG = 16 };

/* ---- the default ---- */

/* A directory for sockets: the user's own, or the server's. NULL: there is none. */
static const char *runtime_directory(void)
{
    const char *own = geteuid() == 0 ? NULL : getenv("XDG_RUNTIME_DIR");
    struct stat st;

    if (own && own[0] == '/')
        return own;
    return stat("/run/monkey", &st) == 0 && S_ISDIR(st.st_mode) ? "/run/monkey" : NULL;
}

/* The first TCP port that is named. */
static void note_port(void *arg, const char *text, size_t len)
{
    char *port = arg;
    const char *colon = memrchr(text, ':', len);

    if (!port[0] && colon && strncmp(text, "unix:", 5) != 0)
        (void)snprintf(port, 8, "%.*s", (int)(text + len - colon - 1), colon + 1);
}

int place_choose(const struct mk_context *ctx, char path[sizeof(((struct place *)0)->path)])
{
    const size_t size = sizeof(((struct place *)0)->path);
    const char *directory = runtime_directory();
    char port[8] = "";
    int len;

    if (!directory) {
        mk_plugin_why(ctx, "there is neither XDG_RUNTIME_DIR nor /run/monkey for the socket; name "
                           "one with Socket in [CHEETAH]");
        return MK_E_NOENT;
    }
    mk_server_addresses(ctx->server, note_port, port);
    if (!port[0]) {
        mk_plugin_why(ctx, "no TCP port to call the socket after; name one with Socket in "
                           "[CHEETAH]");
        return MK_E_INVALID;
    }
    len = snprintf(path, size, "%s/cheetah.%s", directory, port);
    if (len > 0 && (size_t)len < size)
        return 0;
    mk_plugin_why(ctx, "the name of the socket in %s is too long", directory);
    return MK_E_LIMIT;
}

/* ---- the socket ---- */

static struct sockaddr_un address_of(const struct place *p)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};

    memcpy(sun.sun_path, p->path, sizeof(p->path));
    return sun;
}

static int say_errno(const struct mk_context *ctx, const struct place *p)
{
    mk_plugin_why(ctx, "cannot listen at %s: %s", p->path, strerror(errno));
    return MK_E_SYS;
}

/* A socket that refuses connections has nobody behind it. @return 0: it was removed. */
static int remove_stale(const struct mk_context *ctx, const struct place *p)
{
    struct sockaddr_un sun = address_of(p);
    struct stat st;
    int fd, err;

    if (lstat(p->path, &st) < 0)
        return errno == ENOENT ? 0 : say_errno(ctx, p);
    if (!S_ISSOCK(st.st_mode)) {
        mk_plugin_why(ctx, "%s is there already and is no socket", p->path);
        return MK_E_EXISTS;
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return say_errno(ctx, p);
    err = connect(fd, (const struct sockaddr *)&sun, sizeof(sun)) < 0 ? errno : 0;
    close(fd);
    if (err != ECONNREFUSED && err != ENOENT) {
        mk_plugin_why(ctx, "another server has its shell at %s", p->path);
        return MK_E_BUSY;
    }
    return unlink(p->path) == 0 || errno == ENOENT ? 0 : say_errno(ctx, p);
}

/* Linux makes the file with the mode of the socket, so there is no moment with a wider one. */
static int bind_private(int fd, const struct place *p)
{
    struct sockaddr_un sun = address_of(p);

    if (fchmod(fd, 0600) < 0)
        return -1;
    return bind(fd, (const struct sockaddr *)&sun, sizeof(sun));
}

int place_listen(const struct mk_context *ctx, struct place *p)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), err = 0;
    struct stat st;

    if (fd < 0)
        return say_errno(ctx, p);
    if (bind_private(fd, p) < 0) {
        err = errno == EADDRINUSE ? remove_stale(ctx, p) : say_errno(ctx, p);
        if (err == 0 && bind_private(fd, p) < 0)
            err = say_errno(ctx, p);
    }
    if (err == 0 && (lstat(p->path, &st) < 0 || listen(fd, BACKLOG) < 0)) {
        err = say_errno(ctx, p);
        (void)unlink(p->path);
    }
    if (err < 0) {
        close(fd);
        return err;
    }
    p->dev = st.st_dev;
    p->ino = st.st_ino;
    return fd;
}

void place_remove(const struct place *p)
{
    struct stat st;

    if (lstat(p->path, &st) == 0 && st.st_dev == p->dev && st.st_ino == p->ino)
        (void)unlink(p->path);
}

bool place_accepts(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return false;
    return peer.uid == 0 || peer.uid == geteuid();
}

/* ---- the terminal ---- */

static int open_again(const struct mk_context *ctx, int fd, int flags, const char *name)
{
    char path[32];
    int again;

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    again = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (again < 0)
        mk_plugin_why(ctx, "standard %s cannot be used for a shell: %s", name, strerror(errno));
    return again;
}

int place_open_terminal(const struct mk_context *ctx, int *in, int *out)
{
    struct stat st;

    if (fstat(STDIN_FILENO, &st) < 0 || !(isatty(STDIN_FILENO) || S_ISFIFO(st.st_mode))) {
        mk_plugin_why(ctx, "Listen STDIN needs a terminal or a pipe as standard input");
        return MK_E_INVALID;
    }
    *in = open_again(ctx, STDIN_FILENO, O_RDONLY, "input");
    if (*in < 0)
        return MK_E_SYS;
    *out = open_again(ctx, STDOUT_FILENO, O_WRONLY | O_APPEND, "output");
    if (*out >= 0)
        return 0;
    close(*in);
    return MK_E_SYS;
}
