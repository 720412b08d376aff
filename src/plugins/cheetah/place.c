/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include <monkey/events.h>
#include <monkey/plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BACKLOG = 16,
    PORT_TEXT = 8,
    PLACE_NAME = PLACE_PATH + PLACE_GROUP + sizeof(":unix:"),
    GROUP_BUFFER = 4096,
    GROUPS_MAX = 1024,
};

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

/* ---- the default ---- */

/*
 * A directory for sockets: the user's own, or the server's. What root's environment says is not for the user that a
 * server of root's has become. NULL: there is none.
 */
static const char *runtime_directory(void)
{
    const char *own = geteuid() == 0 ? NULL : getenv("XDG_RUNTIME_DIR");
    struct stat st;

    if (own && own[0] == '/' && stat(own, &st) == 0 && st.st_uid == geteuid())
        return own;
    return stat("/run/monkey", &st) == 0 && S_ISDIR(st.st_mode) ? "/run/monkey" : NULL;
}

static const char no_directory[] =
    "there is neither XDG_RUNTIME_DIR nor /run/monkey for the socket; set Socket in [CHEETAH]";

/* The first TCP port that is named. */
static void note_port(void *arg, const char *text, size_t len)
{
    char *port = arg;
    const char *colon = memrchr(text, ':', len);

    if (!port[0] && colon && strncmp(text, "unix:", 5) != 0)
        (void)snprintf(port, PORT_TEXT, "%.*s", (int)(text + len - colon - 1), colon + 1);
}

static bool make_path(char path[PLACE_PATH], const char *directory, const char *port)
{
    int len = snprintf(path, PLACE_PATH, "%s/cheetah.%s", directory, port);

    return len > 0 && len < PLACE_PATH;
}

int cheetah_place_choose(const struct mk_context *ctx, char path[PLACE_PATH])
{
    const char *directory = runtime_directory();
    char port[PORT_TEXT] = "";

    if (!directory) {
        mk_plugin_why(ctx, "%s", no_directory);
        return MK_E_NOENT;
    }
    mk_server_addresses(ctx->server, note_port, port);
    if (!port[0]) {
        mk_plugin_why(ctx, "no TCP port to name the socket after; set Socket in [CHEETAH]");
        return MK_E_INVALID;
    }
    if (make_path(path, directory, port))
        return 0;
    mk_plugin_why(ctx, "the name of the socket in %s is too long", directory);
    return MK_E_LIMIT;
}

static void make_name(char name[PLACE_NAME], const char *group, const char *path)
{
    (void)snprintf(name, PLACE_NAME, "%s:unix:%s", group, path);
}

int cheetah_place_need(struct mk_setup *setup, const char *socket, const char *group)
{
    const char *directory = runtime_directory();
    char path[PLACE_PATH], port[PORT_TEXT] = "", name[PLACE_NAME];

    mk_setup_addresses(setup, note_port, port);
    if (!socket) {
        if (!directory) /* a service manager may still make one */
            mk_setup_warn(setup, NULL, "the plugin \"cheetah\" cannot start: %s", no_directory);
        if (!directory || !port[0] || !make_path(path, directory, port))
            return 0; /* said at the start, when the port is known */
        socket = path;
    }
    make_name(name, group ? group : "", socket);
    return mk_setup_needs(setup, MK_RESOURCE_SOCKET, name);
}

bool cheetah_place_find_group(struct place *p, const char *group)
{
    char buffer[GROUP_BUFFER], *end;
    struct group entry, *found = NULL;
    unsigned long number;

    *p->group = '\0';
    if (!group)
        return true;
    if (strlen(group) >= sizeof(p->group))
        return false;
    (void)snprintf(p->group, sizeof(p->group), "%s", group);
    if (getgrnam_r(group, &entry, buffer, sizeof(buffer), &found) == 0 && found) {
        p->gid = found->gr_gid;
        return true;
    }
    number = strtoul(group, &end, 10);
    p->gid = (gid_t)number;
    return *group >= '0' && *group <= '9' && *end == '\0' && number < UINT32_MAX;
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
        mk_plugin_why(ctx, "%s exists and is not a socket", p->path);
        return MK_E_EXISTS;
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return say_errno(ctx, p);
    err = connect(fd, (const struct sockaddr *)&sun, sizeof(sun)) < 0 ? errno : 0;
    close(fd);
    if (err != ECONNREFUSED && err != ENOENT) {
        mk_plugin_why(ctx, "another server uses %s", p->path);
        return MK_E_BUSY;
    }
    /* Without the right to, whoever binds for us will remove it. */
    return unlink(p->path) == 0 || errno == ENOENT || errno == EACCES ? 0 : say_errno(ctx, p);
}

int cheetah_place_listen(const struct mk_context *ctx, struct place *p)
{
    int err = remove_stale(ctx, p), fd;
    char name[PLACE_NAME];
    struct stat st;

    if (err < 0)
        return err;
    make_name(name, p->group, p->path);
    fd = mk_server_bind_socket(ctx->server, name);
    if (fd < 0)
        return say_errno(ctx, p);
    if (lstat(p->path, &st) < 0 || listen(fd, BACKLOG) < 0) {
        err = say_errno(ctx, p);
        (void)unlink(p->path);
        close(fd);
        return err;
    }
    p->dev = st.st_dev;
    p->ino = st.st_ino;
    return fd;
}

void cheetah_place_remove(const struct place *p)
{
    struct stat st;

    if (lstat(p->path, &st) == 0 && st.st_dev == p->dev && st.st_ino == p->ino)
        (void)unlink(p->path);
}

static bool has_group(int fd, const struct ucred *peer, gid_t gid)
{
    gid_t groups[GROUPS_MAX];
    socklen_t len = sizeof(groups);

    if (peer->gid == gid)
        return true;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) < 0)
        return false;
    for (size_t i = 0; i < len / sizeof(groups[0]); i++) {
        if (groups[i] == gid)
            return true;
    }
    return false;
}

const char *cheetah_place_refusal(const struct place *p, int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return "error: cannot find out your user\n";
    if (peer.uid == 0)
        return NULL;
    if (peer.uid == geteuid())
        return p->has_scripts ? "error: scripts run as this user too; connect as root, or as "
                                "another member of Group in [CHEETAH]\n"
                              : NULL;
    return *p->group && has_group(fd, &peer, p->gid)
               ? NULL
               : "error: this user has no access to the shell\n";
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

int cheetah_place_open_terminal(const struct mk_context *ctx, int *in, int *out)
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
