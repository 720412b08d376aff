/* SPDX-License-Identifier: Apache-2.0 */
#include "loopback.h"

#include "core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <monkey/inspect.h>
#include <monkey/events.h>
#include <sys/stat.h>
#include <unistd.h>

static struct fixture fix;

static const struct row rows[] = {
    {"SERVER", "Listen", "127.0.0.1:0 proxy", 0},
    {"SERVER", "Listen", "unix:/run/x", 0},
    {"SERVER", "TrustedProxies", "10.0.0.0/8 2001:db8::/32", 0},
    {"SERVER", "Timeout", "90", 0},
    {"SERVER", "HideVersion", "on", 0},
    {"HOST", "ServerName", "a.example *.b.example", 0},
    {NULL, NULL, NULL, 0},
};

static int set_up(void **state)
{
    (void)state;
    dir_make(fix.dir);
    fixture_open(&fix, rows);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_close(&fix);
    dir_remove(fix.dir);
    return 0;
}

static void a_server_tells_its_facts(void **state)
{
    struct mk_server_facts facts = {.size = sizeof(facts)};
    struct {
        struct mk_server_facts facts;
        char behind;
    } old = {.facts = {.size = offsetof(struct mk_server_facts, workers), .workers = 77}};

    (void)state;
    mk_server_facts(fix.server, &facts);
    assert_true(facts.started_s > 1600000000);
    assert_in_range(facts.uptime_ms, 0, 60000);
    assert_int_equal(facts.workers, 1);
    assert_string_equal(facts.scheduler, "ReusePort");
    assert_int_equal(facts.snapshots, 1);
    assert_int_equal(facts.reloads, 0);
    assert_int_equal(facts.log_level, MK_LOG_ERROR);
    assert_int_equal(facts.size, sizeof(facts));
    /* A caller that was built when the struct was smaller gets no more than that. */
    mk_server_facts(fix.server, &old.facts);
    assert_int_equal(old.facts.started_s, facts.started_s);
    assert_int_equal(old.facts.workers, 77);
}

/* A request that began before a reload keeps its configuration alive. */
static void snapshots_are_counted(void **state)
{
    struct mk_server_facts facts = {.size = sizeof(facts)};
    struct mk_view *held = fix.worker->view;
    struct mk_snapshot *before = fix.server->snapshot, other = *before;

    (void)state;
    atomic_init(&other.refs, 1);
    other.alive = NULL;
    mk_server_adopt(fix.server, &other);
    mk_server_facts(fix.server, &facts);
    assert_int_equal(facts.snapshots, 2);
    other.nplugins = 0; /* they are the other's */
    mk_snapshot_put(&other);
    mk_server_facts(fix.server, &facts);
    assert_int_equal(facts.snapshots, 1);
    fix.server->snapshot = before;
    assert_ptr_equal(fix.worker->view, held);
}

static void log_levels_change(void **state)
{
    static const struct {
        const char *text;
        int error, level;
        unsigned traced;
    } steps[] = {
        {"debug", 0, MK_LOG_DEBUG, 0},
        {"loud", MK_E_INVALID, MK_LOG_DEBUG, 0},
        {"", MK_E_INVALID, MK_LOG_DEBUG, 0},
        {"warn", 0, MK_LOG_WARN, 0},
        {"trace:http", 0, MK_LOG_WARN, 1U << MK_LOG_HTTP},
        {"trace:http,nothing", MK_E_INVALID, MK_LOG_WARN, 1U << MK_LOG_HTTP},
        {"trace:conn", 0, MK_LOG_WARN, 1U << MK_LOG_HTTP | 1U << MK_LOG_CONN},
        {"error", 0, MK_LOG_ERROR, 0},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(steps); i++) {
        assert_int_equal(mk_server_log_level(fix.server, mk_str_from(steps[i].text)),
                         steps[i].error);
        assert_int_equal(fix.server->shared.log.level, steps[i].level);
        assert_int_equal(fix.server->shared.log.traced, steps[i].traced);
    }
}

struct text {
    char all[8192];
    size_t len;
};

static void take_line(void *arg, const char *line, size_t len)
{
    struct text *t = arg;

    assert_true(t->len + len + 1 < sizeof(t->all));
    assert_null(memchr(line, '\n', len));
    memcpy(t->all + t->len, line, len);
    t->all[t->len + len] = '\n';
    t->len += len + 1;
}

static bool has_line(const struct text *t, const char *line)
{
    size_t len = strlen(line);

    for (const char *at = t->all; (at = strstr(at, line)) != NULL; at++) {
        if ((at == t->all || at[-1] == '\n') && at[len] == '\n')
            return true;
    }
    return false;
}

static void settings_read_back(void **state)
{
    static const char *const lines[] = {
        "Listen 127.0.0.1:0 proxy",
        "Listen unix:/run/x",
        "TrustedProxies 10.0.0.0/8",
        "TrustedProxies 2001:db8::/32",
        "Timeout 90s",
        "HideVersion on",
        "Workers 1",
        "LogLevel error",
        "LogLevel debug:conn,http",
        "DefaultMimeType application/octet-stream",
        "TransportLayer liana",
        "Indexfile index.html",
        "MaxBodySize 8M",
    };
    struct text t = {.len = 0};

    (void)state;
    assert_int_equal(mk_server_log_level(fix.server, MK_STR("debug:http,conn")), 0);
    assert_int_equal(mk_worker_settings(fix.worker, take_line, &t), 0);
    for (size_t i = 0; i < MK_ARRAY_LEN(lines); i++) {
        if (!has_line(&t, lines[i]))
            fail_msg("no line \"%s\" in\n%s", lines[i], t.all);
    }
    assert_null(strstr(t.all, "PidFile")); /* unset */
    /* No table knows how to write CUSTOM ones: each has been thought of. */
    for (size_t i = 0; i < mk_spec_server.nfields; i++) {
        const struct mk_field *f = &mk_spec_server.fields[i];

        if (f->type == MK_FIELD_CUSTOM && !strstr(t.all, f->name))
            fail_msg("%s is missing", f->name);
    }
    assert_int_equal(mk_server_log_level(fix.server, MK_STR("error")), 0);
}

static void settings_survive_without_memory(void **state)
{
    struct text t;
    int err = MK_E_NOMEM;

    (void)state;
    for (long n = 0; err != 0; n++) {
        assert_true(n < 500);
        t.len = 0;
        mk_heap_fail_after(n);
        err = mk_worker_settings(fix.worker, take_line, &t);
        mk_heap_fail_after(-1);
        assert_true(err == 0 || err == MK_E_NOMEM);
        assert_true(n > 0 || err == MK_E_NOMEM);
    }
}

static void sites_are_told(void **state)
{
    struct mk_site_facts facts = {.size = sizeof(facts)};

    (void)state;
    assert_true(mk_worker_site(fix.worker, 0, &facts));
    assert_int_equal(facts.nnames, 2);
    assert_string_equal(facts.names[0].p, "a.example");
    assert_string_equal(facts.names[1].p, "*.b.example");
    assert_string_equal(facts.document_root, fix.dir);
    assert_false(mk_worker_site(fix.worker, 1, &facts));
}

static uint64_t count_of(const char *wanted)
{
    const char *name;
    uint64_t count;

    for (unsigned i = 0; mk_worker_refusals(fix.worker, i, &name, &count); i++) {
        if (strcmp(name, wanted) == 0)
            return count;
    }
    fail_msg("no row %s", wanted);
    return 0;
}

static void talk(const char *bytes)
{
    struct loopback lb;

    loopback_init(&lb, fix.worker, mk_str_from(bytes));
    lb.half_close = true;
    loopback_talk(&lb);
    loopback_free(&lb);
}

static void every_ending_is_counted_by_its_name(void **state)
{
    static const struct {
        const char *name, *bytes;
    } cases[] = {
        {"refused.NOT_FOUND", "GET /none HTTP/1.1\r\nHost: a\r\n\r\n"},
        {"refused.METHOD", "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n"},
        {"refused.PATH_ABOVE", "GET /../x HTTP/1.1\r\nHost: a\r\n\r\n"},
        {"head.HOST_MISSING", "GET / HTTP/1.1\r\n\r\n"},
        {"head.METHOD", "G\x01T / HTTP/1.1\r\nHost: a\r\n\r\n"},
        {"closed.PEER_LEFT", ""},
        {"closed.PEER_CUT", "GET / HT"},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(cases); i++) {
        uint64_t before = count_of(cases[i].name);

        talk(cases[i].bytes);
        if (count_of(cases[i].name) != before + 1)
            fail_msg("%s is not counted", cases[i].name);
    }
    assert_int_equal(count_of("refused.NO_MEMORY"), 0);
}

static void rows_have_names_of_their_own(void **state)
{
    const char *name, *other;
    uint64_t count;
    unsigned rows_told = 0;

    (void)state;
    while (mk_worker_refusals(fix.worker, rows_told, &name, &count)) {
        assert_true(strchr(name, '.') != NULL);
        for (unsigned i = 0; i < rows_told; i++) {
            assert_true(mk_worker_refusals(fix.worker, i, &other, &count));
            assert_string_not_equal(name, other);
        }
        rows_told++;
    }
    assert_int_equal(rows_told, MK_REFUSAL_COUNT - 1 + MK_H1_FAULT_COUNT - 1 + MK_CLOSE_COUNT);
    assert_string_equal(mk_reason_name(mk_reason_of_refusal(MK_REFUSAL_BODY_LARGE)),
                        "refused.BODY_LARGE");
    assert_string_equal(mk_reason_name(mk_reason_of_refusal(MK_REFUSAL_CHOSEN)), "refused.CHOSEN");
    assert_string_equal(mk_reason_name(mk_reason_of_fault(MK_H1_FAULT_METHOD)), "head.METHOD");
    assert_string_equal(mk_reason_name(mk_reason_of_fault(MK_H1_FAULT_EXPECTATION)),
                        "head.EXPECTATION");
    assert_string_equal(mk_reason_name(mk_reason_of_close(MK_CLOSE_DONE)), "closed.DONE");
    assert_string_equal(mk_reason_name(mk_reason_of_close(MK_CLOSE_STOPPING)), "closed.STOPPING");
}

struct seen {
    unsigned conns;
    char states[64];
};

static void see(void *arg, const struct mk_conn *c)
{
    struct seen *s = arg;
    size_t len = strlen(s->states);

    s->conns++;
    (void)snprintf(s->states + len, sizeof(s->states) - len, "%s ", mk_conn_state(c));
}

static void connections_are_walked(void **state)
{
    struct loopback idle, head;
    struct seen s = {0};

    (void)state;
    mk_worker_each_conn(fix.worker, see, &s);
    assert_int_equal(s.conns, 0);
    loopback_init(&idle, fix.worker, (struct mk_str){"", 0});
    loopback_open(&idle);
    loopback_init(&head, fix.worker, MK_STR("GET / HT"));
    loopback_open(&head);
    loopback_run(&head);
    mk_worker_each_conn(fix.worker, see, &s);
    assert_int_equal(s.conns, 2);
    assert_non_null(strstr(s.states, "idle "));
    assert_non_null(strstr(s.states, "head "));
    /* One that is closed is gone, though its memory goes at the end of the turn. */
    mk_conn_close(head.conn, MK_CLOSE_STOPPING);
    s = (struct seen){0};
    mk_worker_each_conn(fix.worker, see, &s);
    assert_int_equal(s.conns, 1);
    loopback_close(&idle);
    loopback_close(&head);
    loopback_free(&idle);
    loopback_free(&head);
}

/* ---- what the program around does ---- */

struct program {
    int opens, reloads, flags;
};

static int open_for_us(void *arg, const char *path, int flags, mode_t mode)
{
    struct program *p = arg;

    (void)mode;
    p->opens++;
    p->flags = flags;
    return strstr(path, "helped") ? open("/dev/null", O_RDONLY | O_CLOEXEC) : MK_E_ACCESS;
}

static int reload_for_us(void *arg)
{
    ((struct program *)arg)->reloads++;
    return 0;
}

static void a_reload_is_the_programs_to_do(void **state)
{
    struct program p = {0};
    struct mk_host host = {.size = sizeof(host), .arg = &p, .reload = reload_for_us};
    const struct mk_host *plain = fix.server->shared.host;

    (void)state;
    assert_int_equal(mk_server_ask_reload(fix.server), MK_E_UNSUPPORTED);
    fix.server->shared.host = &host;
    assert_int_equal(mk_server_ask_reload(fix.server), 0);
    assert_int_equal(p.reloads, 1);
    host.size = offsetof(struct mk_host, reload); /* of an older program */
    assert_int_equal(mk_server_ask_reload(fix.server), MK_E_UNSUPPORTED);
    assert_int_equal(p.reloads, 1);
    fix.server->shared.host = plain;
}

static void files_are_opened_with_the_programs_help(void **state)
{
    struct program p = {0};
    struct mk_host host = {.size = sizeof(host), .arg = &p, .open_file = open_for_us};
    const struct mk_host *plain = fix.server->shared.host;
    char path[64];
    int fd;

    (void)state;
    fix.server->shared.host = &host;
    (void)snprintf(path, sizeof(path), "%s/log", fix.dir);
    fd = mk_server_open_file(fix.server, path, O_WRONLY | O_CREAT | O_APPEND, 0640);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    mk_fd_close(&fd);
    (void)snprintf(path, sizeof(path), "%s/none", fix.dir);
    assert_int_equal(mk_server_open_file(fix.server, path, O_RDONLY, 0), MK_E_NOENT);
    assert_int_equal(p.opens, 0);
    if (!is_root()) { /* for whom nothing is unreadable */
        (void)snprintf(path, sizeof(path), "%s/helped", fix.dir);
        file_write(fix.dir, "helped", "x", 1);
        assert_int_equal(chmod(path, 0), 0);
        fd = mk_server_open_file(fix.server, path, O_RDONLY, 0);
        assert_true(fd >= 0);
        mk_fd_close(&fd);
        assert_int_equal(p.opens, 1);
    }
    fix.server->shared.host = plain;
}

static void plugins_log_under_their_component(void **state)
{
    char line[256] = "";
    int fds[2];
    ssize_t len;

    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    mk_log_set_fd(&fix.server->shared.log, fds[1]);
    mk_server_log(fix.server, MK_LOG_INFO, "not wanted");
    mk_server_log(fix.server, MK_LOG_ERROR, "broken part=%d", 7);
    len = read(fds[0], line, sizeof(line) - 1);
    assert_true(len > 0);
    assert_non_null(strstr(line, "level=error in=plugin broken part=7\n"));
    assert_null(strstr(line, "not wanted"));
    mk_log_set_fd(&fix.server->shared.log, STDERR_FILENO);
    assert_int_equal(close(fds[0]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_tells_its_facts),
        cmocka_unit_test(snapshots_are_counted),
        cmocka_unit_test(log_levels_change),
        cmocka_unit_test(settings_read_back),
        cmocka_unit_test(settings_survive_without_memory),
        cmocka_unit_test(sites_are_told),
        cmocka_unit_test(every_ending_is_counted_by_its_name),
        cmocka_unit_test(rows_have_names_of_their_own),
        cmocka_unit_test(connections_are_walked),
        cmocka_unit_test(a_reload_is_the_programs_to_do),
        cmocka_unit_test(files_are_opened_with_the_programs_help),
        cmocka_unit_test(plugins_log_under_their_component),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
