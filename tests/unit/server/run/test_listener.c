/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "core/fd.h"
#include "server/run/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Which sockets a configuration opens, keeps, shares and closes. Nobody accepts. */

enum { LISTENS = 4, MANY = 3 };

static struct fixture fix;
static struct mk_server_settings set; /* in place of the snapshot's: those of a reload */
static struct mk_listen lines[LISTENS];
static char texts[LISTENS][MK_ADDR_TEXT], why[256];
static struct mk_host host;

/* ---- a bind that is refused, and one that is asked in its place ---- */

static bool is_refused;
static unsigned nasked;
static char asked_text[MK_ADDR_TEXT];
static bool asked_to_share;

#ifndef __GLIBC__
#define __CONST_SOCKADDR_ARG const struct sockaddr *
#endif

/* In the place of the C library's. */
int bind(int fd, __CONST_SOCKADDR_ARG addr, socklen_t len)
{
    if (is_refused) {
        errno = EACCES;
        return -1;
    }
    return (int)syscall(SYS_bind, fd, addr, len);
}

static int bind_for_the_server(void *arg, const char *address, bool share)
{
    struct mk_addr addr;
    int fd;

    (void)arg;
    nasked++;
    asked_to_share = share;
    (void)snprintf(asked_text, sizeof(asked_text), "%s", address);
    assert_int_equal(mk_addr_parse(mk_str_from(address), &addr), 0);
    fd = socket(addr.sa.sa_family, SOCK_STREAM, 0); /* it may block */
    is_refused = false;
    assert_int_equal(bind(fd, &addr.sa, addr.len), 0);
    is_refused = true;
    return fd;
}

/* ---- around each test ---- */

static int set_up(void **state)
{
    (void)state;
    dir_make(fix.dir);
    fixture_open(&fix, NULL);
    set = fix.plan.snapshot.set;
    set.listens = lines;
    set.nlistens = 0;
    set.scheduler = MK_SCHEDULER_FAIR;
    set.shared_sockets = false;
    host = (struct mk_host){.size = sizeof(host)};
    fix.server->shared.host = &host;
    is_refused = false;
    nasked = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    is_refused = false;
    mk_listeners_free(fix.server);
    fix.server->shared.nworkers = 1;
    fixture_close(&fix);
    dir_remove(fix.dir);
    return 0;
}

/* ---- configurations ---- */

static void begin_lines(void)
{
    set.nlistens = 0;
}

static struct mk_listen *add_line(const char *text)
{
    struct mk_listen *line = &lines[set.nlistens];

    *line = (struct mk_listen){.text = texts[set.nlistens]};
    (void)snprintf(texts[set.nlistens++], MK_ADDR_TEXT, "%s", text);
    assert_int_equal(mk_addr_parse(mk_str_from(line->text), &line->addr), 0);
    return line;
}

static struct mk_listen *add_port(const char *ip, unsigned port)
{
    char text[MK_ADDR_TEXT];

    (void)snprintf(text, sizeof(text), "%s%s%u", ip, *ip ? ":" : "", port);
    return add_line(text);
}

static const char *file(const char *name)
{
    static char path[2][64];
    static unsigned at;

    at ^= 1;
    (void)snprintf(path[at], sizeof(path[at]), "unix:%s/%s", fix.dir, name);
    return path[at];
}

static bool is_file(const char *name)
{
    struct stat st;

    return lstat(file(name) + strlen("unix:"), &st) == 0;
}

static void open_all(void)
{
    why[0] = '\0';
    if (mk_listeners_open(fix.server, &set, why, sizeof(why)) < 0)
        fail_msg("%s", why);
}

/* The n-th in the order in which they were written first. */
static struct mk_listener *listener(unsigned n)
{
    struct mk_listener *l = fix.server->listeners;

    while (n-- > 0)
        l = l->next;
    return l;
}

static unsigned count_open(void)
{
    unsigned count = 0;

    for (const struct mk_listener *l = fix.server->listeners; l; l = l->next) {
        count += l->open;
        for (unsigned i = 0; i < l->nfds; i++)
            assert_int_equal(l->fds[i] >= 0, l->open);
    }
    return count;
}

/* Does anybody listen at its address? */
static bool answers(const struct mk_listener *l)
{
    int fd = socket(l->addr.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int err = connect(fd, &l->addr.sa, l->addr.len);

    close(fd);
    return err == 0;
}

/* A socket of somebody else, bound and listening. @return it; port is its port. */
static int listen_elsewhere(unsigned *port)
{
    struct mk_addr addr;
    int fd;

    assert_int_equal(mk_addr_parse(MK_STR("127.0.0.1:0"), &addr), 0);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, &addr.sa, addr.len), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, &addr.sa, &addr.len), 0);
    *port = mk_addr_port(&addr);
    return fd;
}

/* ---- tests ---- */

static void each_line_is_listened_on(void **state)
{
    char real[MK_ADDR_TEXT];

    (void)state;
    add_line("127.0.0.1:0");
    add_line("127.0.0.1:0")->proxy = true;
    add_line(file("socket"));
    open_all();
    assert_int_equal(count_open(), 3);
    assert_int_not_equal(mk_addr_port(&listener(0)->addr), mk_addr_port(&listener(1)->addr));
    for (unsigned i = 0; i < 3; i++) {
        assert_true(listener(i)->wanted && listener(i)->fresh && !listener(i)->inherited);
        assert_int_equal(atomic_load(&listener(i)->endpoint.proxy), i == 1);
        assert_true(answers(listener(i)));
        (void)mk_addr_format(&listener(i)->addr, real);
        assert_string_equal(listener(i)->endpoint.text, real);
        assert_true(fcntl(listener(i)->fds[0], F_GETFL) & O_NONBLOCK);
    }
}

/* A reload finds each by its line, those of port 0 in their order; connections go on to name them. */
static void a_reload_keeps_what_stays(void **state)
{
    struct mk_listener *first, *second;
    unsigned port;

    (void)state;
    add_line("127.0.0.1:0");
    add_line("127.0.0.1:0");
    open_all();
    first = listener(0);
    second = listener(1);
    port = mk_addr_port(&second->addr);
    lines[1].proxy = true;
    open_all();
    assert_ptr_equal(listener(1), second);
    assert_int_equal(mk_addr_port(&second->addr), port);
    assert_true(!first->fresh && !second->fresh && second->wanted);
    assert_false(atomic_load(&second->endpoint.proxy)); /* not before it is in force */
    mk_listeners_settle(fix.server);
    assert_true(atomic_load(&second->endpoint.proxy));
    assert_int_equal(count_open(), 2);
    assert_null(second->next);
}

static void the_other_side_gets_the_new_transport(void **state)
{
    static const struct mk_transport one = {.name = "one"}, two = {.name = "two"};

    (void)state;
    add_line("127.0.0.1:0")->via.transport = &one;
    open_all();
    fix.server->side = !fix.server->side;
    assert_ptr_equal(listener(0)->endpoint.via[fix.server->side].transport, &one);
    lines[0].via.transport = &two;
    open_all();
    assert_ptr_equal(listener(0)->endpoint.via[fix.server->side].transport, &one);
    assert_ptr_equal(listener(0)->endpoint.via[!fix.server->side].transport, &two);
    begin_lines(); /* its connections go on, with what they have, on both sides */
    open_all();
    assert_ptr_equal(listener(0)->endpoint.via[!fix.server->side].transport, &one);
}

static void what_is_gone_is_closed_and_may_come_back(void **state)
{
    struct mk_listener *l;

    (void)state;
    add_line(file("socket"));
    open_all();
    l = listener(0);
    begin_lines();
    open_all();
    assert_true(l->open && !l->wanted && !l->lingers); /* its ports close first */
    mk_listeners_settle(fix.server);
    assert_false(l->open);
    assert_false(is_file("socket"));
    add_line(file("socket"));
    open_all();
    assert_ptr_equal(listener(0), l);
    assert_true(l->open && l->fresh && answers(l));
    assert_null(l->next);
}

/* ---- what fails ---- */

static void a_failure_closes_what_was_opened_for_it(void **state)
{
    char expected[256];
    unsigned port;
    int other = listen_elsewhere(&port);

    (void)state;
    add_line("127.0.0.1:0");
    open_all();
    begin_lines();
    add_line(file("socket"));
    add_port("127.0.0.1", port);
    add_line("127.0.0.1:0");
    assert_int_equal(mk_listeners_open(fix.server, &set, why, sizeof(why)), MK_E_BUSY);
    (void)snprintf(expected, sizeof(expected),
                   "cannot listen on 127.0.0.1:%u: another process listens there", port);
    assert_string_equal(why, expected);
    assert_int_equal(count_open(), 1);
    assert_false(is_file("socket"));
    assert_true(listener(0)->open && listener(0)->wanted); /* of the configuration before */
    mk_listeners_settle(fix.server);
    assert_true(answers(listener(0)));
    close(other);
    open_all(); /* now it can */
    mk_listeners_settle(fix.server);
    assert_true(answers(listener(1)) && answers(listener(2)));
}

/* Of a line that opens, nothing is left to a reload that was refused for another reason. */
static void an_undone_reload_leaves_no_socket(void **state)
{
    (void)state;
    add_line(file("old"));
    open_all();
    mk_listeners_settle(fix.server);
    begin_lines();
    add_line(file("new"));
    open_all();
    assert_int_equal(count_open(), 2);
    mk_listeners_undo(fix.server);
    assert_int_equal(count_open(), 1);
    assert_true(listener(0)->wanted && is_file("old") && !is_file("new"));
}

static void each_error_has_its_sentence(void **state)
{
    (void)state;
    add_line("127.0.0.1:0");
    is_refused = true;
    assert_int_equal(mk_listeners_open(fix.server, &set, why, sizeof(why)), MK_E_ACCESS);
    assert_string_equal(why, "cannot listen on 127.0.0.1:0: no permission");
    is_refused = false;
    begin_lines();
    add_line("192.0.2.1:8000"); /* nobody's address: RFC 5737 */
    assert_true(mk_listeners_open(fix.server, &set, why, sizeof(why)) < 0);
    assert_string_equal(why, "cannot listen on 192.0.2.1:8000: Cannot assign requested address");
    begin_lines();
    add_line("127.0.0.1:0");
    for (long n = 0; n < 2; n++) { /* the listener, and its descriptors */
        mk_listeners_free(fix.server);
        mk_heap_fail_after(n);
        assert_int_equal(mk_listeners_open(fix.server, &set, why, sizeof(why)), MK_E_NOMEM);
        mk_heap_fail_after(-1);
        assert_null(fix.server->listeners);
    }
}

/* ---- sockets that others open ---- */

static void a_refused_bind_is_asked_of_the_host(void **state)
{
    (void)state;
    host.bind = bind_for_the_server;
    is_refused = true;
    add_line("127.0.0.1:0");
    open_all();
    assert_int_equal(nasked, 1);
    assert_string_equal(asked_text, "127.0.0.1:0");
    assert_false(asked_to_share);
    assert_true(answers(listener(0)));
    assert_true(fcntl(listener(0)->fds[0], F_GETFL) & O_NONBLOCK);
}

static void an_inherited_socket_is_used_and_left(void **state)
{
    struct mk_addr addr;
    int own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    assert_int_equal(mk_addr_parse(mk_str_from(file("given")), &addr), 0);
    assert_int_equal(bind(own, &addr.sa, addr.len), 0);
    host.inherited = &own;
    host.ninherited = 1;
    is_refused = true; /* no other is opened */
    add_line(file("given"));
    open_all();
    assert_true(listener(0)->inherited && answers(listener(0)));
    assert_true(listener(0)->fds[0] != own);
    assert_true(fcntl(listener(0)->fds[0], F_GETFL) & O_NONBLOCK);
    begin_lines();
    open_all();
    mk_listeners_settle(fix.server);
    assert_int_equal(count_open(), 0);
    assert_true(is_file("given")); /* who made it removes it */
    assert_int_equal(listen(own, 1), 0);
    close(own);
}

/* ---- one port, many sockets ---- */

static void each_worker_may_have_its_socket(void **state)
{
    static const struct {
        const char *text;
        enum mk_scheduler scheduler;
        unsigned nfds, users;
    } rows[] = {
        {"127.0.0.1:0", MK_SCHEDULER_REUSEPORT, MANY, 1},
        {"127.0.0.1:0", MK_SCHEDULER_FAIR, 1, MANY},
        {"unix:", MK_SCHEDULER_REUSEPORT, 1, MANY},
    };

    (void)state;
    fix.server->shared.nworkers = MANY;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_addr addr;

        mk_listeners_free(fix.server);
        begin_lines();
        set.scheduler = rows[i].scheduler;
        add_line(strcmp(rows[i].text, "unix:") == 0 ? file("socket") : rows[i].text);
        open_all();
        assert_int_equal(listener(0)->nfds, rows[i].nfds);
        assert_int_equal(atomic_load(&listener(0)->users), rows[i].users);
        for (unsigned j = 0; j < rows[i].nfds; j++) { /* all at one address */
            addr.len = sizeof(addr.un);
            assert_int_equal(getsockname(listener(0)->fds[j], &addr.sa, &addr.len), 0);
            assert_true(mk_addr_eq(&addr, &listener(0)->addr));
        }
    }
}

/* SO_REUSEPORT alone would share the port with any process of the same user. */
static void sharing_is_for_our_own_sockets(void **state)
{
    unsigned port;
    int one = 1, other = listen_elsewhere(&port);

    (void)state;
    assert_int_equal(setsockopt(other, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)), 0);
    fix.server->shared.nworkers = MANY;
    set.scheduler = MK_SCHEDULER_REUSEPORT;
    add_port("127.0.0.1", port);
    assert_int_equal(mk_listeners_open(fix.server, &set, why, sizeof(why)), MK_E_BUSY);
    set.shared_sockets = true; /* SharedSockets: the administrator wants that */
    open_all();
    assert_int_equal(count_open(), 1);
    close(other);
}

/* What came to a narrow address comes to the wide one from now on; handshakes under way end where they began. */
static void a_wider_address_keeps_the_narrow_socket(void **state)
{
    struct mk_listener *narrow, *wide;
    unsigned port;

    (void)state;
    add_line("127.0.0.1:0");
    open_all();
    mk_listeners_settle(fix.server);
    narrow = listener(0);
    port = mk_addr_port(&narrow->addr);
    begin_lines();
    add_port("", port)->proxy = true;
    open_all();
    wide = narrow->next;
    assert_true(wide->open && wide->fresh);
    assert_true(narrow->wanted && !narrow->lingers && narrow->wants_proxy);
    mk_listeners_settle(fix.server);
    assert_int_equal(count_open(), 2);
    assert_true(atomic_load(&narrow->endpoint.proxy));
}

static void a_narrower_address_lets_the_wide_socket_linger(void **state)
{
    struct mk_listener *wide;

    (void)state;
    add_line("0");
    open_all();
    mk_listeners_settle(fix.server);
    wide = listener(0);
    begin_lines();
    add_port("127.0.0.1", mk_addr_port(&wide->addr));
    open_all();
    assert_true(!wide->wanted && wide->lingers);
    assert_true(wide->next->open && !wide->next->lingers);
    mk_listeners_settle(fix.server);
    assert_int_equal(count_open(), 1);
    begin_lines(); /* nothing takes its place: nothing lingers */
    open_all();
    assert_false(wide->next->wanted || wide->next->lingers);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- a child of the program, forked without exec, has copies of the sockets ---- */

static void a_copy_of_a_child_does_not_listen_on(void **state)
{
    struct mk_listen_options options = {.backlog = 1};
    struct mk_listener ended;
    int copy, fd;

    (void)state;
    begin_lines();
    add_port("127.0.0.1", 0);
    open_all();
    copy = dup(listener(0)->fds[0]); /* what a child would have */
    assert_true(answers(listener(0)));
    ended = *listener(0);
    mk_listeners_free(fix.server);
    assert_false(answers(&ended));
    fd = mk_fd_bind(&ended.addr, false); /* the next server of the program */
    assert_true(fd >= 0);
    assert_int_equal(mk_fd_listen(fd, &ended.addr, &options), 0);
    assert_true(answers(&ended));
    close(fd);
    close(copy);
}

static void a_child_that_closes_its_copy_ends_nothing(void **state)
{
    int status;
    pid_t child;

    (void)state;
    begin_lines();
    add_port("127.0.0.1", 0);
    open_all();
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        mk_listeners_free(fix.server);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(answers(listener(0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_copy_of_a_child_does_not_listen_on),
        CASE(a_child_that_closes_its_copy_ends_nothing),
        CASE(each_line_is_listened_on),
        CASE(a_reload_keeps_what_stays),
        CASE(the_other_side_gets_the_new_transport),
        CASE(what_is_gone_is_closed_and_may_come_back),
        CASE(a_failure_closes_what_was_opened_for_it),
        CASE(an_undone_reload_leaves_no_socket),
        CASE(each_error_has_its_sentence),
        CASE(a_refused_bind_is_asked_of_the_host),
        CASE(an_inherited_socket_is_used_and_left),
        CASE(each_worker_may_have_its_socket),
        CASE(sharing_is_for_our_own_sockets),
        CASE(a_wider_address_keeps_the_narrow_socket),
        CASE(a_narrower_address_lets_the_wide_socket_linger),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
