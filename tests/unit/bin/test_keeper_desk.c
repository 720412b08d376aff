/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "keeper_client.h"
#include "keeper_desk.h"
#include "keeper_wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The keeper against servers that were taken over: whatever they send, they get what the
 * configuration names and nothing else, and the keeper goes on.
 */

struct scene {
    char dir[32];
    struct mk_keeper_desk desk;
    struct mk_keeper_client client;
    pthread_t thread; /* answers the client */
    int reloads, readies, stops;
    char failed[64];
};

static int reload(void *arg, struct mk_allowed *allowed)
{
    struct scene *s = arg;
    char path[64];

    if (++s->reloads > 1)
        return MK_E_INVALID; /* faults */
    (void)snprintf(path, sizeof(path), "%s/added", s->dir);
    mk_allowed_add(allowed, MK_RESOURCE_READ, path);
    return 0;
}

static void ready(void *arg, const char *failed)
{
    struct scene *s = arg;

    s->readies++;
    (void)snprintf(s->failed, sizeof(s->failed), "%s", failed);
}

static void stops(void *arg)
{
    ((struct scene *)arg)->stops++;
}

static void allow(struct scene *s, enum mk_resource kind, const char *name)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "%s/%s", s->dir, name);
    mk_allowed_add(&s->desk.allowed, kind, path);
}

static void write_file(const struct scene *s, const char *name)
{
    char path[64];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", s->dir, name);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, name, strlen(name)), (ssize_t)strlen(name));
    close(fd);
}

static int set_up(void **state)
{
    static struct scene s;
    int ends[2];

    s = (struct scene){.client = MK_KEEPER_CLIENT_INIT};
    strcpy(s.dir, "/tmp/mk-desk-XXXXXX");
    assert_non_null(mkdtemp(s.dir));
    write_file(&s, "named");
    write_file(&s, "secret");
    write_file(&s, "added");
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    s.desk = (struct mk_keeper_desk){
        .sock = ends[0], .arg = &s, .reload = reload, .ready = ready, .stops = stops};
    s.client.sock = ends[1];
    s.client.has_rights = s.client.restarts = true;
    allow(&s, MK_RESOURCE_READ, "named");
    allow(&s, MK_RESOURCE_LOG, "log");
    mk_keeper_desk_allow(&s.desk.allowed, MK_RESOURCE_HELPER, ":/bin/true");
    mk_keeper_desk_allow(&s.desk.allowed, MK_RESOURCE_HELPER, "nobody:/bin/false");
    mk_keeper_desk_allow(&s.desk.allowed, MK_RESOURCE_LISTEN, "127.0.0.1:0");
    mk_keeper_desk_allow(&s.desk.allowed, MK_RESOURCE_LISTEN, "0");
    *state = &s;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *s = *state;
    char command[64];

    if (s->client.sock >= 0)
        close(s->client.sock);
    close(s->desk.sock);
    mk_allowed_fini(&s->desk.allowed);
    (void)snprintf(command, sizeof(command), "rm -rf %s", s->dir);
    return system(command);
}

/* ---- The client and the desk together ---- */

static void *answer_until_end(void *arg)
{
    struct scene *s = arg;
    struct pollfd watched = {.fd = s->desk.sock, .events = POLLIN};

    while (poll(&watched, 1, 10000) == 1 && mk_keeper_desk_answer(&s->desk))
        ;
    return NULL;
}

static void start_answering(struct scene *s)
{
    assert_int_equal(pthread_create(&s->thread, NULL, answer_until_end, s), 0);
}

static void stop_answering(struct scene *s)
{
    close(s->client.sock);
    s->client.sock = -1;
    assert_int_equal(pthread_join(s->thread, NULL), 0);
}

static int open_by(struct scene *s, const char *name, int flags)
{
    char path[64];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", s->dir, name);
    fd = mk_keeper_open_file(&s->client, path, flags, 0640);
    if (fd < 0)
        return fd;
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    return 0;
}

static void test_binds_sockets_for_some_as_they_are_named(void **state)
{
    struct scene *s = *state;
    char name[64], other[64], path[48];
    struct stat st;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/sock", s->dir);
    (void)snprintf(name, sizeof(name), ".:unix:%s", path);
    (void)snprintf(other, sizeof(other), ":unix:%s", path);
    s->desk.uid = geteuid();
    s->desk.gid = getegid();
    mk_keeper_desk_allow(&s->desk.allowed, MK_RESOURCE_SOCKET, name);
    start_answering(s);
    assert_int_equal(mk_keeper_bind_socket(&s->client, other), MK_E_ACCESS); /* another mode */
    assert_int_equal(mk_keeper_bind(&s->client, name + 2, false), MK_E_ACCESS);
    fd = mk_keeper_bind_socket(&s->client, name);
    assert_true(fd >= 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0660);
    close(fd);
    stop_answering(s);
}

static void test_gives_what_is_named(void **state)
{
    struct scene *s = *state;
    int fd;

    start_answering(s);
    assert_int_equal(open_by(s, "named", O_RDONLY), 0);
    assert_int_equal(open_by(s, "log", O_WRONLY | O_APPEND | O_CREAT), 0);
    fd = mk_keeper_bind(&s->client, "127.0.0.1:0", true);
    assert_true(fd >= 0);
    close(fd);
    fd = mk_keeper_bind(&s->client, "[::]:0", true); /* as "0" is written, too */
    assert_true(fd >= 0);
    close(fd);
    mk_keeper_ready(&s->client, "");
    stop_answering(s);
    assert_int_equal(s->readies, 1);
}

static void test_starts_helpers_that_are_named(void **state)
{
    struct scene *s = *state;
    char byte;
    int fd;

    start_answering(s);
    fd = mk_keeper_start_helper(&s->client, ":/bin/true");
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(recv(fd, &byte, 1, 0), 0); /* it has ended already */
    close(fd);
    assert_int_equal(mk_keeper_start_helper(&s->client, "nobody:/bin/false"), MK_E_SYS);
    assert_int_equal(mk_keeper_start_helper(&s->client, "nobody:/bin/true"), MK_E_ACCESS);
    assert_int_equal(mk_keeper_start_helper(&s->client, ":/bin/sh"), MK_E_ACCESS);
    assert_int_equal(mk_keeper_start_helper(&s->client, "/bin/true"), MK_E_ACCESS);
    stop_answering(s);
}

static void test_starts_no_more_helpers_than_crash(void **state)
{
    struct scene *s = *state;
    int fd = 0, started = 0;

    start_answering(s);
    while (started < 1000 && (fd = mk_keeper_start_helper(&s->client, ":/bin/true")) >= 0) {
        close(fd);
        started++;
    }
    assert_int_equal(fd, MK_E_BUSY);
    assert_int_equal(started, 64);
    stop_answering(s);
}

static void test_refuses_what_is_not_named(void **state)
{
    struct scene *s = *state;

    start_answering(s);
    assert_int_equal(open_by(s, "secret", O_RDONLY), MK_E_ACCESS);
    assert_int_equal(open_by(s, "secret", O_WRONLY), MK_E_ACCESS);
    assert_int_equal(open_by(s, "../etc/shadow", O_RDONLY), MK_E_ACCESS);
    assert_int_equal(open_by(s, "./named", O_RDONLY), MK_E_ACCESS);
    assert_int_equal(open_by(s, "", O_RDONLY), MK_E_ACCESS);
    assert_int_equal(open_by(s, "named\n\033[2J", O_RDONLY), MK_E_ACCESS);
    assert_int_equal(mk_keeper_bind(&s->client, "127.0.0.1:22", false), MK_E_ACCESS);
    /* A name for one thing is none for another. */
    assert_int_equal(open_by(s, "named", O_WRONLY | O_APPEND), MK_E_ACCESS);
    assert_int_equal(open_by(s, "log", O_RDONLY), MK_E_ACCESS);
    stop_answering(s);
}

static void test_reload_allows_more_and_faults_keep_the_old(void **state)
{
    struct scene *s = *state;

    start_answering(s);
    assert_int_equal(open_by(s, "added", O_RDONLY), MK_E_ACCESS);
    assert_int_equal(mk_keeper_reload(&s->client), 0);
    assert_int_equal(open_by(s, "added", O_RDONLY), 0);
    assert_int_equal(mk_keeper_reload(&s->client), MK_E_INVALID);
    assert_int_equal(open_by(s, "added", O_RDONLY), 0);
    stop_answering(s);
    assert_int_equal(s->reloads, 2);
}

static size_t open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* Wait for the answer, whatever it is. */
static void send_with(struct scene *s, uint32_t op, int fd)
{
    struct mk_keeper_request request = {.op = op};
    struct mk_keeper_answer answer;
    struct iovec piece = {&request, MK_KEEPER_HEAD_BYTES + 1};
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr msg = {.msg_iov = &piece, .msg_iovlen = 1};

    if (fd >= 0)
        mk_keeper_attach(&msg, room, fd);
    assert_true(sendmsg(s->client.sock, &msg, 0) > 0);
    assert_int_equal(recv(s->client.sock, &answer, sizeof(answer), 0), sizeof(answer));
}

static void test_takes_descriptors_with_nothing_else(void **state)
{
    struct scene *s = *state;
    size_t before = open_descriptors();
    int fd = open("/dev/null", O_RDONLY);

    assert_true(fd >= 0);
    start_answering(s);
    send_with(s, MK_KEEPER_RELOAD, fd);
    send_with(s, MK_KEEPER_KEEP, fd); /* which is no listening socket */
    send_with(s, MK_KEEPER_KEEP, -1);
    stop_answering(s);
    assert_int_equal(s->desk.kept.count, 0);
    close(fd);
    assert_int_equal(open_descriptors(), before - 1); /* the client's end */
}

static void test_keeps_sockets_until_the_server_stops(void **state)
{
    struct scene *s = *state;
    size_t before = open_descriptors();
    int fd = mk_address_bind("127.0.0.1:0", false);

    assert_true(fd >= 0);
    assert_int_equal(listen(fd, 1), 0);
    start_answering(s);
    send_with(s, MK_KEEPER_KEEP, fd);
    mk_keeper_ready(&s->client, "a \033[2Jfault");
    assert_int_equal(s->desk.kept.count, 0);
    assert_string_equal(s->failed, "a ?[2Jfault");
    send_with(s, MK_KEEPER_KEEP, fd);
    mk_keeper_ready(&s->client, "");
    send_with(s, MK_KEEPER_KEEP, fd);
    assert_int_equal(s->desk.kept.settled, 1);
    assert_int_equal(s->desk.kept.count, 2);
    mk_keeper_stops(&s->client);
    send_with(s, MK_KEEPER_KEEP, fd);
    stop_answering(s);
    assert_int_equal(s->stops, 1);
    close(fd);
    assert_int_equal(open_descriptors(), before - 1); /* the client's end */
}

static void test_client_without_keeper(void **state)
{
    struct mk_keeper_client none = MK_KEEPER_CLIENT_INIT;
    struct scene *s = *state;

    assert_int_equal(mk_keeper_open_file(&none, "/etc/hostname", O_RDONLY, 0), MK_E_ACCESS);
    assert_int_equal(mk_keeper_bind(&none, "80", false), MK_E_ACCESS);
    assert_int_equal(mk_keeper_reload(&none), 0);
    mk_keeper_ready(&none, "");
    close(s->desk.sock); /* the keeper died */
    s->desk.sock = -1;
    assert_int_equal(mk_keeper_reload(&s->client), MK_E_PEER);
    assert_int_equal(open_by(s, "named", O_RDONLY), MK_E_PEER);
}

/* ---- Raw bytes ---- */

/* @return the result of the answer, or 1 when there was none. */
static int ask_raw(struct scene *s, const void *bytes, size_t len)
{
    struct mk_keeper_answer answer;

    assert_int_equal(send(s->client.sock, bytes, len, 0), (ssize_t)len);
    assert_true(mk_keeper_desk_answer(&s->desk));
    if (recv(s->client.sock, &answer, sizeof(answer), MSG_DONTWAIT) < 0)
        return 1;
    return answer.result;
}

static size_t fill_named(const struct scene *s, struct mk_keeper_request *r)
{
    *r = (struct mk_keeper_request){.op = MK_KEEPER_OPEN_READ, .number = 7};
    return MK_KEEPER_HEAD_BYTES + (size_t)sprintf(r->name, "%s/named", s->dir) + 1;
}

static void test_survives_every_length_of_a_request(void **state)
{
    struct scene *s = *state;
    struct mk_keeper_request r;
    size_t whole = fill_named(s, &r), before = open_descriptors();

    assert_int_equal(ask_raw(s, &r, whole), 0);
    for (size_t len = 1; len < whole; len++)
        assert_int_equal(ask_raw(s, &r, len), 1);
    assert_int_equal(ask_raw(s, &r, whole + 1), 1); /* a NUL inside */
    r.name[whole - MK_KEEPER_HEAD_BYTES - 1] = 'x';
    assert_int_equal(ask_raw(s, &r, whole), 1); /* none at all */
    assert_int_equal(open_descriptors(), before);
}

static void test_survives_a_request_larger_than_any(void **state)
{
    struct scene *s = *state;
    static char bytes[2 * sizeof(struct mk_keeper_request)];

    memset(bytes, 'x', sizeof(bytes));
    assert_int_equal(ask_raw(s, bytes, sizeof(bytes)), 1);
    assert_int_equal(ask_raw(s, bytes, sizeof(struct mk_keeper_request)), 1);
    bytes[sizeof(struct mk_keeper_request) - 1] = '\0';
    assert_int_equal(ask_raw(s, bytes, sizeof(struct mk_keeper_request)), MK_E_UNSUPPORTED);
}

static void test_refuses_unknown_operations(void **state)
{
    struct scene *s = *state;
    struct mk_keeper_request r;
    size_t len = fill_named(s, &r);

    for (unsigned i = 0; i < 2; i++) {
        r.op = (uint32_t[]){0, UINT32_MAX}[i];
        assert_int_equal(ask_raw(s, &r, len), MK_E_UNSUPPORTED);
    }
    r.op = MK_KEEPER_OPEN_READ;
    r.flags = UINT32_MAX; /* of which one asks for a directory */
    assert_int_equal(ask_raw(s, &r, len), MK_E_NOENT);
}

static void test_takes_no_descriptors(void **state)
{
    struct scene *s = *state;
    struct mk_keeper_request r;
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec piece = {&r, fill_named(s, &r)};
    struct msghdr msg = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
    struct cmsghdr *part = CMSG_FIRSTHDR(&msg);
    size_t before;

    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(part), &s->client.sock, sizeof(int));
    before = open_descriptors();
    for (int i = 0; i < 50; i++) {
        char answer[64];

        assert_int_equal(sendmsg(s->client.sock, &msg, 0), (ssize_t)piece.iov_len);
        assert_true(mk_keeper_desk_answer(&s->desk));
        assert_true(recv(s->client.sock, answer, sizeof(answer), MSG_DONTWAIT) > 0);
    }
    assert_int_equal(open_descriptors(), before);
}

/* @return a connection whose peer, *peer, does not read, full of bytes that its end waits for. */
static int lingering(int *peer)
{
    const struct linger long_time = {.l_onoff = 1, .l_linger = 600};
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(addr);
    char bytes[4096] = {0};
    int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(listener, (struct sockaddr *)&addr, len), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&addr, &len), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&addr, len), 0);
    *peer = accept(listener, NULL, NULL);
    assert_true(*peer >= 0);
    close(listener);
    while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
        ;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &long_time, sizeof(long_time)), 0);
    return fd;
}

/* An alarm would end a test that hangs here: each close would wait for ten minutes. */
static void test_never_waits_for_a_socket_that_came(void **state)
{
    static const struct {
        uint32_t op;
        size_t count, name;
    } cases[] = {{MK_KEEPER_KEEP, 1, 1},
                 {MK_KEEPER_RELOAD, 1, 1},
                 {MK_KEEPER_RELOAD, 3, 1},
                 {MK_KEEPER_KEEP, 1, 0}};
    struct scene *s = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mk_keeper_request r = {.op = cases[i].op};
        struct iovec piece = {&r, MK_KEEPER_HEAD_BYTES + cases[i].name};
        _Alignas(struct cmsghdr) char room[CMSG_SPACE(3 * sizeof(int))] = {0};
        struct msghdr msg = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = room,
                             .msg_controllen = CMSG_SPACE(cases[i].count * sizeof(int))};
        struct cmsghdr *part = CMSG_FIRSTHDR(&msg);
        size_t before = open_descriptors();
        int fds[3], peers[3];

        for (size_t j = 0; j < cases[i].count; j++)
            fds[j] = lingering(&peers[j]);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(cases[i].count * sizeof(int));
        memcpy(CMSG_DATA(part), fds, cases[i].count * sizeof(int));
        assert_true(sendmsg(s->client.sock, &msg, 0) > 0);
        for (size_t j = 0; j < cases[i].count; j++)
            close(fds[j]); /* not the last one: another is in the packet */
        assert_true(mk_keeper_desk_answer(&s->desk));
        for (size_t j = 0; j < cases[i].count; j++)
            close(peers[j]);
        assert_int_equal(open_descriptors(), before);
    }
}

static void test_never_waits_for_who_does_not_read(void **state)
{
    struct scene *s = *state;
    struct mk_keeper_request r;
    size_t len = fill_named(s, &r), before = open_descriptors();

    for (int i = 0; i < 5000; i++) {
        if (send(s->client.sock, &r, len, MSG_DONTWAIT) < 0)
            break;
        assert_true(
            mk_keeper_desk_answer(&s->desk)); /* an alarm would end a test that hangs here */
    }
    assert_int_equal(open_descriptors(), before);
    assert_true(mk_keeper_desk_answer(&s->desk)); /* nothing more to read, and no end either */
}

static void test_notices_the_end(void **state)
{
    struct scene *s = *state;

    close(s->client.sock);
    s->client.sock = -1;
    assert_false(mk_keeper_desk_answer(&s->desk));
}

/* ---- The allowed set ---- */

static void test_allowed_set_is_bounded(void **state)
{
    struct mk_allowed a = {0};
    char name[1024];

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_false(mk_allowed_has(&a, MK_RESOURCE_READ, name));
    for (int i = 0; i < 10000; i++) {
        (void)snprintf(name, 9, "%08d", i);
        name[8] = 'n';
        mk_allowed_add(&a, MK_RESOURCE_READ, name);
    }
    assert_true(a.incomplete);
    assert_true(a.room <= MK_ALLOWED_BYTES_MAX);
    memcpy(name, "00000000", 8);
    assert_true(mk_allowed_has(&a, MK_RESOURCE_READ, name));
    assert_false(mk_allowed_has(&a, MK_RESOURCE_LOG, name));
    assert_false(mk_allowed_has(&a, MK_RESOURCE_READ, name + 1));
    mk_allowed_fini(&a);
}

#define SCENE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_gives_what_is_named),
        SCENE(test_binds_sockets_for_some_as_they_are_named),
        SCENE(test_starts_helpers_that_are_named),
        SCENE(test_starts_no_more_helpers_than_crash),
        SCENE(test_refuses_what_is_not_named),
        SCENE(test_reload_allows_more_and_faults_keep_the_old),
        SCENE(test_takes_descriptors_with_nothing_else),
        SCENE(test_keeps_sockets_until_the_server_stops),
        SCENE(test_client_without_keeper),
        SCENE(test_survives_every_length_of_a_request),
        SCENE(test_survives_a_request_larger_than_any),
        SCENE(test_refuses_unknown_operations),
        SCENE(test_takes_no_descriptors),
        SCENE(test_never_waits_for_a_socket_that_came),
        SCENE(test_never_waits_for_who_does_not_read),
        SCENE(test_notices_the_end),
        cmocka_unit_test(test_allowed_set_is_bounded),
    };

    alarm(60);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
