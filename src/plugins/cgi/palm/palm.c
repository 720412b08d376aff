/* SPDX-License-Identifier: Apache-2.0 */
#include "palm/launch.h"

#include "kit/clock/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * monkey-palm: starts scripts, so that a server with threads and connections does not have to fork. wire.h tells how it is
 * spoken to. One thread; what it knows of a script is its line and its process group. A second process waits for its end, to
 * end what runs then: of a script whose spawner is killed only the first process hears (PR_SET_PDEATHSIG).
 */

enum {
    SCRIPTS_MAX = 8192,
    FILES_WANTED = SCRIPTS_MAX + 64,
    EVENTS = 64,
    FIRST_FREE = 3, /* descriptors below are the standard ones */
};

struct script {
    struct script *next, **link;
    int line;
    pid_t group;      /* 0: not started yet */
    bool leader_gone; /* the first process has ended, and was told */
    bool ending;      /* its group is being ended */
    int64_t kill_ms;  /* when it is ended by force */
};

struct palm {
    int epoll, signals;
    struct rlimit files;  /* as it was, for scripts */
    struct script *rooms; /* SCRIPTS_MAX; shared with who waits for our end */
    unsigned nrooms;      /* that were ever used */
    struct script *unused;
    struct script *scripts;
};

static const int control = STDIN_FILENO;
static char packet[PALM_ORDER_MAX];

/* ---- descriptors that come along ---- */

enum { ROOM = 3 }; /* as many as an order brings */

struct parcel {
    ssize_t len; /* bytes; 0: the other side has closed; -1: it cannot be read */
    bool cut;    /* it did not fit, or there was no descriptor left for what came along */
    int fds[ROOM];
    unsigned nfds;
};

/* The buffer of a message is aligned, so the kernel may find room for one more than it was made for. */
static void take_fds(struct parcel *p, struct msghdr *msg)
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(msg); part; part = CMSG_NXTHDR(msg, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= part->cmsg_len; at += sizeof(int)) {
            int fd;

            memcpy(&fd, CMSG_DATA(part) + at, sizeof(fd));
            if (p->nfds < ROOM) {
                p->fds[p->nfds++] = fd;
            } else {
                (void)close(fd);
                p->cut = true;
            }
        }
    }
}

static void close_fds(const struct parcel *p)
{
    for (unsigned i = 0; i < p->nfds; i++)
        (void)close(p->fds[i]);
}

/* @return false: nothing is there now. */
static bool receive(int sock, struct parcel *p)
{
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(p->fds))];
    struct iovec piece = {packet, sizeof(packet)};
    struct msghdr msg = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};

    p->nfds = 0;
    p->cut = false;
    do {
        p->len = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (p->len < 0 && errno == EINTR);
    if (p->len < 0)
        return errno != EAGAIN;
    p->cut = msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC);
    take_fds(p, &msg);
    return true;
}

/* ---- scripts ---- */

/* @return zeroed, or NULL: there are too many. */
static struct script *take_room(struct palm *palm)
{
    struct script *s = palm->unused;

    if (s)
        palm->unused = s->next;
    else if (palm->nrooms < SCRIPTS_MAX)
        s = &palm->rooms[palm->nrooms++];
    if (s)
        *s = (struct script){.line = -1};
    return s;
}

static void give_room(struct palm *palm, struct script *s)
{
    *s = (struct script){.next = palm->unused};
    palm->unused = s;
}

static void forget(struct palm *palm, struct script *s)
{
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    /* Closing is not enough: a script that is being executed has a copy of it for a moment (CLOEXEC comes late). */
    (void)epoll_ctl(palm->epoll, EPOLL_CTL_DEL, s->line, NULL);
    (void)close(s->line);
    give_room(palm, s);
}

static void report(const struct script *s, enum palm_report_kind kind, int value)
{
    const struct palm_report r = {.kind = kind, .value = value};

    (void)send(s->line, &r, sizeof(r), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void begin_end(struct script *s)
{
    if (s->ending)
        return;
    s->ending = true;
    s->kill_ms = clock_now_ms() + PALM_GRACE_MS;
    (void)kill(-s->group, SIGTERM);
    (void)kill(-s->group, SIGCONT); /* who is stopped hears nothing else */
}

/* @return false: it will not run. */
static bool start(const struct palm *palm, struct script *s, const struct parcel *p)
{
    struct order o;

    if (p->cut) {
        report(s, PALM_FAILED, EMFILE);
        return false;
    }
    if (p->nfds != 3 || p->len <= 0 || !order_parse(&o, packet, (size_t)p->len)) {
        report(s, PALM_FAILED, EBADMSG);
        return false;
    }
    s->group = launch(&o, p->fds, &palm->files);
    if (s->group < 0)
        report(s, PALM_FAILED, errno);
    return s->group > 0;
}

static void on_line(struct palm *palm, struct script *s, uint32_t events)
{
    bool is_late = events & EPOLLRDHUP; /* whoever ordered it has gone on meanwhile */
    struct parcel p;

    while (receive(s->line, &p)) {
        bool lives;

        if (s->group > 0) { /* nothing comes behind an order but the end */
            close_fds(&p);
            begin_end(s);
            return;
        }
        if (is_late)
            report(s, PALM_KILLED, SIGTERM);
        lives = !is_late && start(palm, s, &p);
        close_fds(&p);
        if (!lives) {
            forget(palm, s);
            return;
        }
    }
}

static void add(struct palm *palm, int line)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET};
    struct script *s = take_room(palm);

    event.data.ptr = s;
    if (!s || epoll_ctl(palm->epoll, EPOLL_CTL_ADD, line, &event) < 0) {
        (void)close(line); /* the server takes that as a failure */
        if (s)
            give_room(palm, s);
        return;
    }
    s->line = line;
    s->link = &palm->scripts;
    s->next = palm->scripts;
    if (s->next)
        s->next->link = &s->next;
    palm->scripts = s;
}

/* @return false: the server is gone. */
static bool on_control(struct palm *palm)
{
    struct parcel p;

    while (receive(control, &p)) {
        if (p.len <= 0)
            return false;
        if (p.nfds == 1 && !p.cut) /* a line that is lost is closed, which the server notices */
            add(palm, p.fds[0]);
        else
            close_fds(&p);
    }
    return true;
}

/* ---- ends ---- */

static void note_end(struct palm *palm, pid_t pid, int status)
{
    for (struct script *s = palm->scripts; s; s = s->next) {
        if (s->group != pid)
            continue;
        s->leader_gone = true;
        if (WIFSIGNALED(status))
            report(s, PALM_KILLED, WTERMSIG(status));
        else
            report(s, PALM_EXITED, WEXITSTATUS(status));
        return;
    }
}

/* Orphans of scripts become our children, and leave no zombies either. */
static void reap(struct palm *palm)
{
    struct signalfd_siginfo info;
    int status;
    pid_t pid;

    while (read(palm->signals, &info, sizeof(info)) > 0)
        ;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        note_end(palm, pid, status);
}

static bool is_gone(const struct script *s)
{
    return s->leader_gone && kill(-s->group, 0) < 0 && errno == ESRCH;
}

/*
 * Close the lines of groups that are gone, and end by force what does not end. @return when to look again, in
 * milliseconds from now; -1: no need.
 */
static int sweep(struct palm *palm)
{
    int64_t now = palm->scripts ? clock_now_ms() : 0, next = -1;

    for (struct script *s = palm->scripts, *after; s; s = after) {
        after = s->next; /* NOLINT(clang-analyzer-unix.Malloc): forget() takes it out of the list */
        if (is_gone(s)) {
            forget(palm, s);
            continue;
        }
        if (!s->ending)
            continue;
        if (now >= s->kill_ms) {
            (void)kill(-s->group, SIGKILL);
            s->kill_ms = now + PALM_GRACE_MS; /* unless the kernel holds it */
        }
        if (next < 0 || s->kill_ms - now < next)
            next = s->kill_ms - now;
    }
    return (int)next;
}

static void end_all(struct palm *palm)
{
    while (palm->scripts) {
        if (palm->scripts->group > 0)
            (void)kill(-palm->scripts->group, SIGKILL);
        forget(palm, palm->scripts);
    }
}

/* Lines are forgotten while events are looked at: each is looked for first. */
static bool is_known(const struct palm *palm, const struct script *script)
{
    const struct script *s = palm->scripts;

    while (s && s != script)
        s = s->next; /* NOLINT(clang-analyzer-unix.Malloc): as in sweep() */
    return s;
}

static void serve(struct palm *palm)
{
    struct epoll_event events[EVENTS];
    bool goes_on = true;

    while (goes_on) {
        int n = epoll_wait(palm->epoll, events, EVENTS, sweep(palm));

        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr == NULL)
                goes_on = on_control(palm) && goes_on;
            else if (events[i].data.ptr == palm)
                reap(palm);
            else if (is_known(palm, events[i].data.ptr))
                on_line(palm, events[i].data.ptr, events[i].events);
        }
    }
    end_all(palm);
}

/* ---- the process ---- */

static bool watch(struct palm *palm, int fd, void *ptr)
{
    struct epoll_event event = {.events = EPOLLIN};

    event.data.ptr = ptr;
    return epoll_ctl(palm->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* A line of each script is open here. */
static void want_files(struct palm *palm)
{
    struct rlimit more;

    if (getrlimit(RLIMIT_NOFILE, &palm->files) < 0)
        return;
    more = palm->files;
    if (more.rlim_cur < FILES_WANTED)
        more.rlim_cur = more.rlim_max < FILES_WANTED ? more.rlim_max : FILES_WANTED;
    (void)setrlimit(RLIMIT_NOFILE, &more);
}

static bool prepare(struct palm *palm)
{
    sigset_t children;

    want_files(palm);
    (void)sigemptyset(&children);
    (void)sigaddset(&children, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &children, NULL);
    (void)prctl(PR_SET_NAME, "monkey-palm");
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    palm->epoll = epoll_create1(EPOLL_CLOEXEC);
    palm->signals = signalfd(-1, &children, SFD_NONBLOCK | SFD_CLOEXEC);
    return palm->epoll >= 0 && palm->signals >= 0 && fcntl(control, F_SETFD, FD_CLOEXEC) == 0 &&
           watch(palm, control, NULL) && watch(palm, palm->signals, palm);
}

/* What whoever started us left open is nobody's business here. */
static void close_others(void)
{
    DIR *open_ones = opendir("/proc/self/fd");
    const struct dirent *entry;

    while (open_ones && (entry = readdir(open_ones))) {
        int fd = (int)strtol(entry->d_name, NULL, 10);

        if (fd >= FIRST_FREE && fd != dirfd(open_ones))
            (void)close(fd);
    }
    if (open_ones)
        (void)closedir(open_ones);
}

/* Descriptors 1 and 2 must be something, or a script's own would get their numbers. */
static bool open_standard(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    } while (fd >= 0 && fd < FIRST_FREE);
    return fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0 && close(fd) == 0;
}

/* Out of the session of whoever started us: what ends that by ^C is told to us by its end. */
static bool leave(void)
{
    pid_t pid = fork();

    if (pid > 0)
        _exit(0);
    return pid == 0 && setsid() >= 0 && chdir("/") == 0;
}

/* Nothing is held open, and no signal that was meant for the spawner ends this first. */
static void await_end(const struct palm *palm, pid_t spawner)
{
    sigset_t all;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    for (int fd = 0; fd < FIRST_FREE; fd++)
        (void)close(fd);
    while (waitpid(spawner, NULL, 0) < 0 && errno == EINTR)
        ;
    for (unsigned i = 0; i < SCRIPTS_MAX; i++) {
        if (palm->rooms[i].group > 0)
            (void)kill(-palm->rooms[i].group, SIGKILL);
    }
}

/* From here on there are two; the one that goes on is the spawner. */
static bool part(struct palm *palm)
{
    pid_t pid;

    palm->rooms = mmap(NULL, SCRIPTS_MAX * sizeof(*palm->rooms), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (palm->rooms == MAP_FAILED)
        return false;
    pid = fork();
    if (pid > 0) {
        await_end(palm, pid);
        _exit(0);
    }
    return pid == 0;
}

int main(int argc, char **argv)
{
    struct palm palm = {.epoll = -1};
    int type;
    socklen_t len = sizeof(type);

    if (argc != 2 || getsockopt(control, SOL_SOCKET, SO_TYPE, &type, &len) < 0) {
        (void)fputs("monkey-palm is started by the plugin cgi of monkey\n", stderr);
        return 2;
    }
    close_others();
    if (!open_standard() || !become(argv[1]))
        return 1;
    if (!leave() || !part(&palm) || !prepare(&palm)) {
        (void)fprintf(stderr, "monkey-palm: %s\n", strerror(errno));
        return 1;
    }
    serve(&palm);
    return 0;
}
