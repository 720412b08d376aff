/* SPDX-License-Identifier: Apache-2.0 */
#include "core_test.h"

#include "base/limits.h"
#include "core/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

/* Logs to a pipe, which is read without waiting. */
static int open_log(struct mk_log *log)
{
    int fds[2];

    assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
    mk_log_init(log);
    mk_log_set_fd(log, fds[1]);
    return fds[0];
}

static const char *said(int fd)
{
    static char text[65536];
    ssize_t n = read(fd, text, sizeof(text) - 1);

    text[n > 0 ? n : 0] = '\0';
    return text;
}

static unsigned count_lines(const char *text)
{
    unsigned n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void a_line_has_time_level_and_part(void **state)
{
    struct mk_log log;
    int fd = open_log(&log), year, n = 0;
    const char *text;

    (void)state;
    errno = 77;
    mk_log(&log, MK_LOG_WARN, MK_LOG_CONN, "an event n=%d", 5);
    assert_int_equal(errno, 77);
    text = said(fd);
    assert_int_equal(
        sscanf(text, "%d-%*d-%*dT%*d:%*d:%*d.%*dZ level=warn in=conn an event n=5\n%n", &year, &n),
        1);
    assert_int_equal(n, strlen(text));
    assert_true(year > 2000);
    mk_log_fini(&log);
    (void)close(fd);
}

static void levels_and_traces_choose(void **state)
{
    static const struct {
        const char *sentence;
        int level, traced_level;
        unsigned traced;
        enum mk_log_level asked;
        enum mk_log_component in;
        bool wanted;
    } rows[] = {
        {"as important as asked for", MK_LOG_INFO, 0, 0, MK_LOG_INFO, MK_LOG_CONN, true},
        {"more important", MK_LOG_INFO, 0, 0, MK_LOG_ERROR, MK_LOG_CONN, true},
        {"less important", MK_LOG_INFO, 0, 0, MK_LOG_DEBUG, MK_LOG_CONN, false},
        {"traces of everything", MK_LOG_TRACE, 0, 0, MK_LOG_TRACE, MK_LOG_HTTP, true},
        {"a traced part", MK_LOG_WARN, MK_LOG_TRACE, 1U << MK_LOG_CONN, MK_LOG_TRACE, MK_LOG_CONN,
         true},
        {"beyond its trace", MK_LOG_WARN, MK_LOG_DEBUG, 1U << MK_LOG_CONN, MK_LOG_TRACE,
         MK_LOG_CONN, false},
        {"another part", MK_LOG_WARN, MK_LOG_TRACE, 1U << MK_LOG_CONN, MK_LOG_TRACE, MK_LOG_HTTP,
         false},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_log log;
        int fd = open_log(&log);

        mk_log_set_levels(&log, rows[i].level, rows[i].traced, rows[i].traced_level);
        assert_int_equal(mk_log_traces(&log, rows[i].in),
                         mk_log_wants(&log, MK_LOG_TRACE, rows[i].in));
        mk_log(&log, rows[i].asked, rows[i].in, "x");
        mk_log_peer(&log, rows[i].asked, rows[i].in, "x");
        if (count_lines(said(fd)) != (rows[i].wanted ? 2 : 0))
            fail_msg("%s", rows[i].sentence);
        mk_log_fini(&log);
        (void)close(fd);
    }
}

static void long_lines_are_clipped(void **state)
{
    static const int lens[] = {900, 970, 980, 981, 982, 983, 984, 1000, 1024, 1025, 5000};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(lens); i++) {
        struct mk_log log;
        int fd = open_log(&log);
        const char *text;

        mk_log(&log, MK_LOG_ERROR, MK_LOG_SERVER, "%0*d", lens[i], 7);
        mk_log(&log, MK_LOG_ERROR, MK_LOG_SERVER, "next");
        text = said(fd);
        assert_int_equal(count_lines(text), 2);
        assert_true(strchr(text, '\n') - text < MK_LIMIT_LOG_LINE);
        assert_non_null(strstr(text, "next\n"));
        mk_log_fini(&log);
        (void)close(fd);
    }
}

static void peers_have_an_allowance(void **state)
{
    struct mk_log log;
    int fd = open_log(&log);
    unsigned lines = 0;

    (void)state;
    for (int tries = 0; tries < 3 && lines != MK_LIMIT_LOG_PEER_LINES;
         tries++) { /* a second may end in the middle */
        log.window_s = 0;
        log.suppressed = 0;
        for (int i = 0; i < 100; i++)
            mk_log_peer(&log, MK_LOG_WARN, MK_LOG_CONN, "peer %d", i);
        lines = count_lines(said(fd));
    }
    assert_int_equal(lines, MK_LIMIT_LOG_PEER_LINES);
    mk_log(&log, MK_LOG_WARN, MK_LOG_CONN, "ours"); /* is not held back */
    assert_int_equal(count_lines(said(fd)), 1);
    log.window_s = 0; /* another second */
    mk_log_peer(&log, MK_LOG_WARN, MK_LOG_CONN, "peer again");
    assert_non_null(strstr(said(fd), "lines suppressed count=80\n"));
    mk_log_fini(&log);
    (void)close(fd);
}

static void a_new_file_takes_over(void **state)
{
    struct mk_log log;
    int first = open_log(&log), fds[2];

    (void)state;
    assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
    mk_log_set_fd(&log, fds[1]);
    mk_log(&log, MK_LOG_WARN, MK_LOG_CONN, "x");
    assert_int_equal(count_lines(said(first)), 0);
    assert_int_equal(read(first, &fds[1], 1), 0); /* the old one is closed */
    assert_int_equal(count_lines(said(fds[0])), 1);
    mk_log_fini(&log);
    (void)close(first);
    (void)close(fds[0]);
}

static void *write_lines(void *arg)
{
    for (int i = 0; i < 100; i++) {
        mk_log(arg, MK_LOG_WARN, MK_LOG_WORKER, "a line of one thread");
        mk_log_peer(arg, MK_LOG_WARN, MK_LOG_WORKER, "a line of a peer");
    }
    return NULL;
}

static void threads_write_whole_lines(void **state)
{
    struct mk_log log;
    pthread_t threads[4];
    int fd = open_log(&log);
    const char *text;

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &log), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    text = said(fd);
    assert_in_range(count_lines(text), 400, 700);
    for (; *text; text = strchr(text, '\n') + 1)
        assert_non_null(strstr(text, "Z level=warn in=worker "));
    mk_log_fini(&log);
    (void)close(fd);
}

/* ---- readers that do not read ---- */

static void open_pipe(int fds[2])
{
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
}

static void open_sockets(int fds[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
}

static void open_terminal(int fds[2])
{
    struct termios raw;

    fds[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(fds[0] >= 0);
    assert_int_equal(grantpt(fds[0]) + unlockpt(fds[0]), 0);
    fds[1] = open(ptsname(fds[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(fds[1] >= 0);
    assert_int_equal(tcgetattr(fds[1], &raw), 0);
    cfmakeraw(&raw);
    assert_int_equal(tcsetattr(fds[1], TCSANOW, &raw), 0);
}

/* @return lines; those that report lost ones are added up in *lost instead */
static unsigned drain(int fd, unsigned *lost)
{
    unsigned lines = 0;

    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    for (const char *text; (text = said(fd))[0];) {
        lines += count_lines(text);
        for (const char *p = text; (p = strstr(p, "lines lost count=")); p++, lines--)
            *lost += (unsigned)strtoul(p + 17, NULL, 10);
    }
    return lines;
}

/* Nobody waits for a reader: lines are lost and counted. The flags of a descriptor that others share stay. */
static void a_reader_that_stalls_stops_nobody(void **state)
{
    enum { LINES = 3000 };
    static void (*const kinds[])(int fds[2]) = {open_pipe, open_sockets, open_terminal};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(kinds); i++) {
        unsigned lost = 0, lines;
        struct mk_log log;
        int fds[2];

        kinds[i](fds);
        mk_log_init(&log);
        mk_log_set_fd(&log, fds[1]);
        alarm(20); /* a write that waits never ends */
        for (int line = 0; line < LINES; line++)
            mk_log(&log, MK_LOG_WARN, MK_LOG_CONN, "line %d %0300d", line, 0);
        alarm(0);
        assert_int_equal(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0);
        lines = drain(fds[0], &lost);
        assert_in_range(lines, 1, LINES - 1);
        mk_log(&log, MK_LOG_WARN, MK_LOG_CONN, "again");
        lines += drain(fds[0], &lost);
        assert_in_range(lines + lost, LINES + 1, LINES + 8); /* some may be torn */
        assert_int_equal(log.lost, 0);
        mk_log_fini(&log);
        (void)close(fds[0]);
    }
}

static void syslog_takes_lines_and_stops_nobody(void **state)
{
    char path[] = "/tmp/mk-syslog-XXXXXX";
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct mk_log log;
    unsigned lines = 0;
    const char *text;

    (void)state;
    assert_non_null(mkdtemp(path));
    (void)snprintf(un.sun_path, sizeof(un.sun_path), "%s/log", path);
    mk_log_init(&log);
    log.syslog_path = un.sun_path;
    mk_log_set_fd(&log, -1);
    alarm(20);
    mk_log(&log, MK_LOG_WARN, MK_LOG_CONN, "nobody is there");
    assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
    for (int line = 0; line < 3000; line++)
        mk_log(&log, MK_LOG_ERROR, MK_LOG_CONN, "line %d", line);
    alarm(0);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    for (; (text = said(fd))[0]; lines++) {
        assert_memory_equal(text, lines == 0 ? "<28>" : "<27>", 4);
        assert_non_null(strstr(text, lines == 0 ? "lines lost count=1" : ": line "));
    }
    assert_in_range(lines, 2, 2999);
    mk_log(&log, MK_LOG_ERROR, MK_LOG_CONN, "again");
    assert_non_null(strstr(said(fd), "lines lost count="));
    assert_non_null(strstr(said(fd), ": again"));
    mk_log_fini(&log);
    (void)close(fd);
    (void)unlink(un.sun_path);
    (void)rmdir(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_time_level_and_part),
        cmocka_unit_test(levels_and_traces_choose),
        cmocka_unit_test(long_lines_are_clipped),
        cmocka_unit_test(peers_have_an_allowance),
        cmocka_unit_test(a_new_file_takes_over),
        cmocka_unit_test(threads_write_whole_lines),
        cmocka_unit_test(a_reader_that_stalls_stops_nobody),
        cmocka_unit_test(syslog_takes_lines_and_stops_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
