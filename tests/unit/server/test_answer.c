/* SPDX-License-Identifier: Apache-2.0 */
#include "loopback.h"

#include "base/str.h"
#include "server/job.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* What handlers answer, rightly and wrongly, and what their clients see of it. */

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define OLD "GET / HTTP/1.0\r\n\r\n"
#define HEAD "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
#define NAMED "Date: DDDDDDDDDDDDDDDDDDDDDDDDDDDDD\r\nServer: Monkey\r\n"
#define OK "HTTP/1.1 200 OK\r\n" NAMED
#define CHUNKED "Transfer-Encoding: chunked\r\n"
#define CLOSE "Connection: close\r\n"
#define PAGE "Content-Type: text/html; charset=utf-8\r\nContent-Length: *\r\n"
#define FAILED "HTTP/1.1 500 Internal Server Error\r\n" NAMED PAGE CLOSE "\r\n*"
#define STR(text) MK_STR(text)

static struct fixture fix;

/* ---- handlers ---- */

static enum mk_verdict begin_and_end(struct mk_request *r, unsigned status, int64_t length)
{
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, status), 0);
    assert_int_equal(mk_reply_end(&p, length), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict hello(struct mk_request *r)
{
    struct mk_reply p;

    if (mk_reply_begin(&p, r, 200) < 0)
        return MK_VERDICT_DONE;
    mk_reply_line(&p, STR("X-A"), STR("b"));
    if (mk_reply_end(&p, 5) == 0)
        (void)!mk_reply_memory(r, STR("hello"));
    return MK_VERDICT_DONE;
}

static ssize_t give_letters(struct mk_request *r, void *arg, char *dst, size_t len)
{
    static const char letters[] = "abc";
    const char **at = arg;

    (void)r;
    assert_true(len >= 4096);
    if (!*at)
        *at = letters;
    if (!**at)
        return 0;
    dst[0] = *(*at)++;
    return 1;
}

static ssize_t fail_to_give(struct mk_request *r, void *arg, char *dst, size_t len)
{
    (void)r;
    (void)arg;
    (void)dst;
    (void)len;
    return MK_E_SYS;
}

static int letters(struct mk_request *r)
{
    const char **at = mk_arena_zalloc(&r->arena, sizeof(*at));

    return at ? mk_reply_producer(r, give_letters, at) : MK_E_NOMEM;
}

static int part_of_file(struct mk_request *r, const char *name, uint64_t at, uint64_t len)
{
    char path[64];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", fix.dir, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    return mk_reply_fd(r, fd, at, len);
}

static int pipe_of(struct mk_request *r, const char *text, uint64_t max)
{
    int fds[2];

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(write(fds[1], text, strlen(text)), strlen(text));
    (void)close(fds[1]);
    return mk_reply_pipe(r, fds[0], max);
}

/* Each kind of source behind the other: "hello", "ell", "abc", "pipe". */
static enum mk_verdict all_sources(struct mk_request *r, int64_t length)
{
    struct mk_reply p;

    if (mk_reply_begin(&p, r, 200) < 0 || mk_reply_end(&p, length) < 0)
        return MK_VERDICT_DONE;
    if (mk_reply_memory(r, STR("hello")) == 0 && part_of_file(r, "hello", 1, 3) == 0 &&
        letters(r) == 0 && pipe_of(r, "pipe!", 4) == 0 && mk_reply_memory(r, STR("")) == 0)
        (void)!mk_reply_trailer(r, STR("X-Sum"), STR("1"));
    return MK_VERDICT_DONE;
}

static enum mk_verdict unknown_length(struct mk_request *r)
{
    return all_sources(r, -1);
}

static enum mk_verdict known_length(struct mk_request *r)
{
    return all_sources(r, 15);
}

static enum mk_verdict too_little(struct mk_request *r)
{
    return all_sources(r, 16);
}

static enum mk_verdict too_much(struct mk_request *r)
{
    return all_sources(r, 10);
}

static enum mk_verdict too_much_memory(struct mk_request *r)
{
    return all_sources(r, 4);
}

static enum mk_verdict too_much_in_pipe(struct mk_request *r)
{
    (void)begin_and_end(r, 200, 3);
    assert_int_equal(pipe_of(r, "pipe", UINT64_MAX), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict too_little_in_pipe(struct mk_request *r)
{
    (void)begin_and_end(r, 200, -1);
    assert_int_equal(pipe_of(r, "pipe", 5), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict exactly_and_not_ended(struct mk_request *r)
{
    (void)begin_and_end(r, 200, 3);
    assert_int_equal(letters(r), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict large_file(struct mk_request *r)
{
    (void)begin_and_end(r, 200, -1);
    assert_int_equal(part_of_file(r, "large", 5, 100000), 0);
    assert_int_equal(mk_reply_memory(r, STR("end")), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict shorter_file(struct mk_request *r)
{
    (void)begin_and_end(r, 200, -1);
    assert_int_equal(part_of_file(r, "hello", 3, 3), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict no_such_part(struct mk_request *r)
{
    (void)begin_and_end(r, 200, -1);
    assert_int_equal(part_of_file(r, "hello", UINT64_MAX, 3), MK_E_INVALID);
    return MK_VERDICT_DONE;
}

static enum mk_verdict pipe_that_is_a_file(struct mk_request *r)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "%s/hello", fix.dir);
    (void)begin_and_end(r, 200, -1);
    assert_int_equal(mk_reply_memory(r, STR("a")), 0);
    assert_int_equal(mk_reply_pipe(r, open(path, O_RDONLY | O_CLOEXEC), UINT64_MAX), MK_E_INVALID);
    return MK_VERDICT_DONE;
}

static enum mk_verdict failing_producer(struct mk_request *r)
{
    (void)begin_and_end(r, 200, -1);
    assert_int_equal(mk_reply_memory(r, STR("a")), 0);
    assert_int_equal(mk_reply_producer(r, fail_to_give, NULL), 0);
    return MK_VERDICT_DONE;
}

static ssize_t give_too_much(struct mk_request *r, void *arg, char *dst, size_t len)
{
    (void)r;
    (void)arg;
    (void)dst;
    return (ssize_t)len + 1;
}

static enum mk_verdict lying_producer(struct mk_request *r)
{
    (void)begin_and_end(r, 200, -1);
    assert_int_equal(mk_reply_producer(r, give_too_much, NULL), 0);
    return MK_VERDICT_DONE;
}

static ssize_t give_and_abort(struct mk_request *r, void *arg, char *dst, size_t len)
{
    (void)arg;
    (void)len;
    mk_reply_abort(r);
    dst[0] = 'x';
    return 1;
}

static enum mk_verdict aborting_producer(struct mk_request *r)
{
    (void)begin_and_end(r, 200, -1);
    assert_int_equal(mk_reply_memory(r, STR("a")), 0);
    assert_int_equal(mk_reply_producer(r, give_and_abort, NULL), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict abort_at_once(struct mk_request *r)
{
    (void)begin_and_end(r, 200, -1);
    assert_int_equal(mk_reply_memory(r, STR("a")), 0);
    mk_reply_abort(r);
    return MK_VERDICT_DONE;
}

static enum mk_verdict abort_before_all(struct mk_request *r)
{
    struct mk_reply p;

    mk_reply_abort(r);
    assert_int_equal(mk_reply_begin(&p, r, 200), MK_E_PEER);
    return mk_reply_error(r, 404, NULL);
}

static enum mk_verdict early_hints(struct mk_request *r)
{
    struct mk_reply p;

    for (int i = 0; i < 2; i++) {
        assert_int_equal(mk_reply_begin(&p, r, 103), 0);
        mk_reply_line(&p, STR("Link"), STR("</a.css>; rel=preload"));
        assert_int_equal(mk_reply_end(&p, 0), 0);
    }
    return hello(r);
}

static enum mk_verdict interim_only(struct mk_request *r)
{
    return begin_and_end(r, 103, 0);
}

static enum mk_verdict switch_protocols(struct mk_request *r)
{
    struct mk_reply p;

    if (mk_reply_begin(&p, r, 101) < 0)
        return MK_VERDICT_DONE;
    mk_reply_line(&p, STR("connection"), STR("Upgrade"));
    mk_reply_line(&p, STR("Upgrade"), STR("websocket"));
    assert_int_equal(mk_reply_end(&p, -1), 0);
    assert_int_equal(mk_reply_memory(r, STR("never")), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict upgrade_required(struct mk_request *r)
{
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, 426), 0);
    mk_reply_line(&p, STR("Upgrade"), STR("websocket"));
    assert_int_equal(mk_reply_end(&p, 0), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict answer_twice(struct mk_request *r)
{
    struct mk_reply p;

    (void)hello(r);
    assert_int_equal(mk_reply_begin(&p, r, 200), MK_E_EXISTS);
    mk_reply_line(&p, STR("X-B"), STR("c"));
    assert_int_equal(mk_reply_end(&p, 0), MK_E_PEER);
    return mk_reply_bytes(r, 200, NULL, STR("again"));
}

static enum mk_verdict begin_and_forget(struct mk_request *r)
{
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict begin_and_refuse(struct mk_request *r)
{
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    mk_reply_line(&p, STR("X-A"), STR("b"));
    (void)mk_reply_error(r, 503, "Retry-After: 1\r\n");
    mk_reply_line(&p, STR("X-A"), STR("b")); /* where now something else stands */
    return MK_VERDICT_DONE;
}

static enum mk_verdict body_without_head(struct mk_request *r)
{
    assert_int_equal(mk_reply_memory(r, STR("a")), MK_E_INVALID);
    assert_int_equal(part_of_file(r, "hello", 0, 1), MK_E_INVALID);
    assert_int_equal(pipe_of(r, "hello", 1), MK_E_INVALID);
    assert_int_equal(letters(r), MK_E_INVALID);
    assert_int_equal(mk_reply_trailer(r, STR("X-A"), STR("b")), MK_E_INVALID);
    return MK_VERDICT_DONE;
}

static enum mk_verdict no_content(struct mk_request *r)
{
    (void)begin_and_end(r, 204, 5);
    assert_int_equal(mk_reply_memory(r, STR("hello")), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict reset_content(struct mk_request *r)
{
    (void)begin_and_end(r, 205, 5);
    assert_int_equal(mk_reply_memory(r, STR("hello")), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict wrong_statuses(struct mk_request *r)
{
    static const unsigned wrong[] = {0, 99, 600, 65736};
    struct mk_reply p;

    for (size_t i = 0; i < MK_ARRAY_LEN(wrong); i++)
        assert_int_equal(mk_reply_begin(&p, r, wrong[i]), MK_E_INVALID);
    return MK_VERDICT_DONE;
}

static enum mk_verdict names_of_a_backend(struct mk_request *r)
{
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    mk_reply_line(&p, STR("server"), STR("other"));
    mk_reply_line(&p, STR("DATE"), STR("yesterday"));
    assert_int_equal(mk_reply_end(&p, 0), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict redirect(struct mk_request *r)
{
    return mk_reply_redirect(r, 308, STR("/there"));
}

static enum mk_verdict redirect_to_nowhere(struct mk_request *r)
{
    return mk_reply_redirect(r, 302, STR("/a\r\nX: y"));
}

static enum mk_verdict redirect_by_200(struct mk_request *r)
{
    return mk_reply_redirect(r, 200, STR("/"));
}

static enum mk_verdict refuse(struct mk_request *r)
{
    return mk_reply_error(r, 401, "WWW-Authenticate: Basic realm=\"x\"\r\nX-A: b\r\n");
}

static enum mk_verdict refuse_method(struct mk_request *r)
{
    return mk_reply_error(r, 405, NULL);
}

static enum mk_verdict refuse_with_framing(struct mk_request *r)
{
    return mk_reply_error(r, 404, "Content-Length: 5\r\n");
}

static enum mk_verdict refuse_with_half_a_line(struct mk_request *r)
{
    return mk_reply_error(r, 404, "X-A: b");
}

static enum mk_verdict refuse_with_200(struct mk_request *r)
{
    return mk_reply_error(r, 200, NULL);
}

static enum mk_verdict bytes(struct mk_request *r)
{
    char body[] = "hello";
    enum mk_verdict verdict = mk_reply_bytes(r, 201, "text/plain", mk_str_from(body));

    memset(body, 'x', sizeof(body));
    return verdict;
}

static enum mk_verdict bytes_of_no_type(struct mk_request *r)
{
    return mk_reply_bytes(r, 200, NULL, (struct mk_str){NULL, 0});
}

#define SMALL_FILE "3\r\nell\r\n"
#define SOURCES "5\r\nhello\r\n" SMALL_FILE "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n4\r\npipe\r\n"

static const struct answer {
    const char *sentence;
    enum mk_verdict (*handle)(struct mk_request *r);
    const char *in, *out; /* a star stands for the rest of a line */
    bool closes;
} answers[] = {
    /* clang-format off */
    {"a body", hello, GET, OK "X-A: b\r\nContent-Length: 5\r\n\r\nhello", false},
    {"HEAD has the length, not the body (RFC 9110 section 9.3.2)", hello, HEAD, OK "X-A: b\r\nContent-Length: 5\r\n\r\n", false},
    {"sources behind each other", known_length, GET, OK "Content-Length: 15\r\n\r\nhelloellabcpipe", false},
    {"the same in chunks, with a trailer (RFC 9112 section 7.1.2)", unknown_length, GET, OK CHUNKED "\r\n" SOURCES "0\r\nX-Sum: 1\r\n\r\n", false},
    {"the same until close", unknown_length, OLD, OK CLOSE "\r\nhelloellabcpipe", true},
    {"the same for HEAD", unknown_length, HEAD, OK CHUNKED "\r\n", false},
    {"less than was promised", too_little, GET, OK "Content-Length: 16\r\n\r\nhelloellabcpipe", true},
    {"more than was promised", too_much, GET, OK "Content-Length: 10\r\n\r\nhelloellab", true},
    {"more memory than was promised", too_much_memory, GET, OK "Content-Length: 4\r\n\r\nhell", true},
    {"more in a pipe than was promised", too_much_in_pipe, GET, OK "Content-Length: 3\r\n\r\npip", true},
    {"less in a pipe than was promised", too_little_in_pipe, GET, OK CHUNKED "\r\n4\r\npipe\r\n", true},
    {"a producer that must still tell its end", exactly_and_not_ended, GET, OK "Content-Length: 3\r\n\r\nabc", false},
    {"a file that is shorter than its part", shorter_file, GET, OK CHUNKED "\r\n3\r\n", true},
    {"a part that no file has", no_such_part, GET, OK CHUNKED "\r\n", true},
    {"a file in place of a pipe", pipe_that_is_a_file, GET, OK CHUNKED "\r\n", true},
    {"a producer that fails", failing_producer, GET, OK CHUNKED "\r\n1\r\na\r\n", true},
    {"a producer that claims more than it was asked for", lying_producer, GET, OK CHUNKED "\r\n", true},
    {"a producer that aborts", aborting_producer, GET, OK CHUNKED "\r\n1\r\na\r\n", true},
    {"an answer that is aborted", abort_at_once, GET, OK CHUNKED "\r\n", true},
    {"an answer that is aborted before it begins", abort_before_all, GET, "", true},
    {"interim responses (RFC 9110 section 15.2)", early_hints, GET, "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" OK "X-A: b\r\nContent-Length: 5\r\n\r\nhello", false},
    {"not for HTTP/1.0", early_hints, OLD, OK "X-A: b\r\nContent-Length: 5\r\n" CLOSE "\r\nhello", true},
    {"an interim response is no answer", interim_only, GET, "HTTP/1.1 103 Early Hints\r\n\r\n" "HTTP/1.1 500 Internal Server Error\r\n" NAMED PAGE "\r\n*", false},
    {"another protocol", switch_protocols, GET, "HTTP/1.1 101 Switching Protocols\r\n" NAMED "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n", true},
    {"another protocol for HTTP/1.0", switch_protocols, OLD, FAILED, true},
    {"another protocol is wanted (RFC 9110 section 15.5.22)", upgrade_required, GET, "HTTP/1.1 426 Upgrade Required\r\n" NAMED "Upgrade: websocket\r\nContent-Length: 0\r\nConnection: Upgrade\r\n\r\n", false},
    {"two answers", answer_twice, GET, OK "X-A: b\r\nContent-Length: 5\r\n\r\n", true},
    {"a head without end", begin_and_forget, GET, "HTTP/1.1 500 Internal Server Error\r\n" NAMED PAGE "\r\n*", false},
    {"an error in place of a head", begin_and_refuse, GET, "HTTP/1.1 503 Service Unavailable\r\n" NAMED "Retry-After: 1\r\n" PAGE "\r\n*", false},
    {"a body without head", body_without_head, GET, FAILED, true},
    {"204 has no body", no_content, GET, "HTTP/1.1 204 No Content\r\n" NAMED "\r\n", false},
    {"205 has none either (RFC 9110 section 15.3.6)", reset_content, GET, "HTTP/1.1 205 Reset Content\r\n" NAMED "Content-Length: 0\r\n\r\n", false},
    {"statuses that cannot be", wrong_statuses, GET, FAILED, true},
    {"what a backend calls itself", names_of_a_backend, GET, "HTTP/1.1 200 OK\r\nserver: other\r\nDATE: yesterday\r\nContent-Length: 0\r\n\r\n", false},
    {"a redirect", redirect, GET, "HTTP/1.1 308 Permanent Redirect\r\n" NAMED "Location: /there\r\n" PAGE "\r\n*", false},
    {"a redirect with a line end", redirect_to_nowhere, GET, FAILED, true},
    {"a redirect that is none", redirect_by_200, GET, FAILED, true},
    {"an error with lines", refuse, GET, "HTTP/1.1 401 Unauthorized\r\n" NAMED "WWW-Authenticate: Basic realm=\"x\"\r\nX-A: b\r\n" PAGE "\r\n*", false},
    {"405 says what is allowed", refuse_method, GET, "HTTP/1.1 405 Method Not Allowed\r\n" NAMED "Allow: GET, HEAD, OPTIONS\r\n" PAGE "\r\n*", false},
    {"an error with a length of its own", refuse_with_framing, GET, FAILED, true},
    {"an error with half a line", refuse_with_half_a_line, GET, FAILED, true},
    {"an error that is none", refuse_with_200, GET, FAILED, true},
    {"bytes", bytes, GET, "HTTP/1.1 201 Created\r\n" NAMED "Content-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello", false},
    {"no bytes", bytes_of_no_type, GET, OK "Content-Length: 0\r\n\r\n", false},
    /* clang-format on */
};

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const struct answer *answer = data;

    (void)ctx;
    return answer->handle(r);
}

static const struct mk_plugin probe = {
    MK_PLUGIN("probe", "answers as a test says"),
    .on_handle = on_handle,
};

static int set_up(void **state)
{
    static const struct row rows[] = {
        {"SERVER", "HideVersion", "on", 0},
        {"HANDLERS", "Match", "/ echo", 0},
        {NULL, NULL, NULL, 0},
    };

    (void)state;
    dir_make(fix.dir);
    file_write(fix.dir, "hello", "hello", 5);
    file_write(fix.dir, "large", NULL, 200000);
    fixture_open(&fix, rows);
    mk_log_set_fd(&fix.server->log,
                  open("/dev/null", O_WRONLY | O_CLOEXEC)); /* mistakes are made on purpose */
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mk_heap_fail_after(-1);
    fixture_close(&fix);
    dir_remove(fix.dir);
    return 0;
}

static void begin(struct loopback *lb, const struct answer *answer)
{
    union {
        const void *in;
        void *out;
    } data = {answer};

    fixture_handle(&fix, &probe, data.out);
    loopback_init(lb, fix.worker, mk_str_from(answer->in));
    lb->half_close = false;
}

static void handlers_answer_as_written_here(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(answers); i++) {
        struct loopback lb;
        bool closed;

        begin(&lb, &answers[i]);
        loopback_open(&lb);
        loopback_run(&lb);
        closed = loopback_is_closed(&lb) || lb.nshutdown > 0;
        loopback_close(&lb);
        if (!loopback_matches(&lb, answers[i].out) || closed != answers[i].closes)
            fail_msg("%s: closed %d, got\n%.*s", answers[i].sentence, closed, (int)lb.out_len,
                     lb.out);
        loopback_free(&lb);
    }
}

/* Broken answers may lose what had not left; all others come whole to the slowest reader. */
static void slow_readers_get_the_same(void **state)
{
    static const size_t pieces[] = {1, 2, 7, 100};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(answers); i++) {
        for (size_t j = 0; j < MK_ARRAY_LEN(pieces) && !answers[i].closes; j++) {
            struct loopback lb;

            begin(&lb, &answers[i]);
            lb.out_piece = pieces[j];
            lb.in_piece = 5;
            loopback_talk(&lb);
            if (!loopback_matches(&lb, answers[i].out))
                fail_msg("%s in pieces of %zu: got\n%.*s", answers[i].sentence, pieces[j],
                         (int)lb.out_len, lb.out);
            loopback_free(&lb);
        }
    }
}

static void failing_allocations_are_survived(void **state)
{
    enum mk_verdict (*const careful[])(struct mk_request *) = {
        hello, known_length, unknown_length, redirect, refuse, bytes};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(answers); i++) {
        bool is_careful = false;

        for (size_t j = 0; j < MK_ARRAY_LEN(careful); j++)
            is_careful = is_careful || answers[i].handle == careful[j];
        for (long n = 0; is_careful && n < 20; n++) {
            struct loopback lb;
            bool closed;

            begin(&lb, &answers[i]);
            lb.out_piece = 50;
            loopback_open(&lb);
            mk_heap_fail_after(n);
            loopback_run(&lb);
            mk_heap_fail_after(-1);
            closed = loopback_is_closed(&lb);
            loopback_close(&lb);
            if (!closed && !loopback_matches(&lb, answers[i].out) && !loopback_has(&lb, " 503 "))
                fail_msg("%s, allocation %ld: got\n%.*s", answers[i].sentence, n, (int)lb.out_len,
                         lb.out);
            loopback_free(&lb);
        }
    }
}

static void large_parts_are_one_chunk(void **state)
{
    static const struct answer answer = {"", large_file, GET, "", false};
    static const size_t pieces[] = {0, 1000, 65536, 99999};
    static const char head[] = "\r\n\r\n186a0\r\n", tail[] = "\r\n3\r\nend\r\n0\r\n\r\n";

    (void)state;
    for (size_t i = 0; i < 2 * MK_ARRAY_LEN(pieces); i++) {
        struct loopback lb;
        const char *body;

        begin(&lb, &answer);
        lb.out_piece = pieces[i / 2];
        lb.no_sendfile = i % 2;
        loopback_talk(&lb);
        body = memmem(lb.out, lb.out_len, head, sizeof(head) - 1);
        assert_non_null(body);
        body += sizeof(head) - 1;
        assert_int_equal(lb.out + lb.out_len - body, 100000 + sizeof(tail) - 1);
        for (size_t j = 0; j < 100000; j++)
            assert_int_equal(body[j], file_byte(5 + j));
        assert_memory_equal(body + 100000, tail, sizeof(tail) - 1);
        loopback_free(&lb);
    }
}

/* ---- lines ---- */

static struct mk_str line_name, line_value;

static enum mk_verdict one_line(struct mk_request *r)
{
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    mk_reply_line(&p, line_name, line_value);
    mk_reply_line(&p, STR("X-More"), STR("1"));
    if (mk_reply_end(&p, 0) < 0)
        assert_int_equal(mk_reply_memory(r, STR("a")), MK_E_INVALID);
    return MK_VERDICT_DONE;
}

static enum mk_verdict one_trailer(struct mk_request *r)
{
    (void)begin_and_end(r, 200, -1);
    (void)!mk_reply_trailer(r, line_name, line_value);
    return MK_VERDICT_DONE;
}

static char long_value[17000];

static const struct line {
    struct mk_str name, value;
    bool in_head, in_trailer;
} lines[] = {
    {MK_STR_INIT("X-A"), MK_STR_INIT("b"), true, true},
    {MK_STR_INIT("X-A"), MK_STR_INIT(""), true, true},
    {MK_STR_INIT("X-A"), {NULL, 0}, true, true},
    {MK_STR_INIT("X-A"), MK_STR_INIT("\xff\t \x80"), true, true},
    {MK_STR_INIT(""), MK_STR_INIT("b"), false, false},
    {{NULL, 0}, MK_STR_INIT("b"), false, false},
    {MK_STR_INIT("X A"), MK_STR_INIT("b"), false, false},
    {MK_STR_INIT("X-A:"), MK_STR_INIT("b"), false, false},
    {MK_STR_INIT("X\r\nA"), MK_STR_INIT("b"), false, false},
    {MK_STR_INIT("X-A"), MK_STR_INIT("b\r\nX: c"), false, false},
    {MK_STR_INIT("X-A"), MK_STR_INIT("b\n"), false, false},
    {MK_STR_INIT("X-A"), MK_STR_INIT("b\r"), false, false},
    {MK_STR_INIT("X-A"), MK_STR_INIT("a\0b"), false, false},
    {MK_STR_INIT("X-A"), MK_STR_INIT("\x7f"), false, false},
    {MK_STR_INIT("content-length"), MK_STR_INIT("0"), false, false},
    {MK_STR_INIT("Transfer-Encoding"), MK_STR_INIT("chunked"), false, false},
    {MK_STR_INIT("Connection"), MK_STR_INIT("close"), false, false},
    {MK_STR_INIT("Keep-Alive"), MK_STR_INIT("timeout=1"), false, false},
    {MK_STR_INIT("Upgrade"), MK_STR_INIT("h2c"), false, false},
    {MK_STR_INIT("Content-Type"), MK_STR_INIT("a/b"), true, false},
    {MK_STR_INIT("Set-Cookie"), MK_STR_INIT("a=b"), true, false},
    {MK_STR_INIT("X-Long"), {long_value, sizeof(long_value)}, false, false},
};

static unsigned status_of_line(const struct line *line,
                               enum mk_verdict (*handle)(struct mk_request *r), bool *whole)
{
    const struct answer answer = {"", handle, GET, "", false};
    struct loopback lb;
    unsigned status;

    line_name = line->name;
    line_value = line->value;
    begin(&lb, &answer);
    loopback_talk(&lb);
    status = loopback_status(&lb, 0);
    *whole = loopback_has(&lb, "\r\n0\r\n") && loopback_has(&lb, "\r\n\r\n");
    assert_int_equal(loopback_status(&lb, 1), 0);
    loopback_free(&lb);
    return status;
}

static void lines_that_would_change_how_a_message_is_read_are_refused(void **state)
{
    (void)state;
    memset(long_value, 'x', sizeof(long_value));
    for (size_t i = 0; i < MK_ARRAY_LEN(lines); i++) {
        bool whole;
        unsigned status = status_of_line(&lines[i], one_line, &whole);

        if (status != (lines[i].in_head ? 200 : 500))
            fail_msg("line %zu: %u", i, status);
        status = status_of_line(&lines[i], one_trailer, &whole);
        if (status != 200 || whole != lines[i].in_trailer)
            fail_msg("trailer %zu: %u, whole %d", i, status, whole);
    }
}

static enum mk_verdict many_trailers(struct mk_request *r)
{
    int err = 0, count = 0;

    (void)begin_and_end(r, 200, -1);
    while (err == 0 && count++ < 10000)
        err = mk_reply_trailer(r, STR("X-Trailer"), STR("0123456789"));
    assert_int_equal(err, MK_E_LIMIT);
    assert_in_range(count, 300, 400);
    return MK_VERDICT_DONE;
}

static void trailers_are_bounded(void **state)
{
    static const struct answer answer = {"", many_trailers, GET, "", false};
    struct loopback lb;

    (void)state;
    begin(&lb, &answer);
    loopback_talk(&lb);
    assert_false(loopback_has(&lb, "X-Trailer"));
    loopback_free(&lb);
}

/* ---- one request answered while another is ---- */

static struct loopback *other_lb;
static struct mk_request *other_request;

static enum mk_verdict wait_for_the_other(struct mk_request *r)
{
    other_request = r;
    return MK_VERDICT_LATER;
}

static ssize_t answer_the_other(struct mk_request *r, void *arg, char *dst, size_t len)
{
    bool *answered = arg;

    (void)r;
    if (*answered)
        return 0;
    memset(dst, 'm', len);
    (void)mk_reply_bytes(other_request, 200, NULL, STR("yours"));
    *answered = true;
    return 4;
}

static enum mk_verdict answer_both(struct mk_request *r)
{
    static bool answered;
    struct mk_reply p;

    answered = false;
    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    mk_reply_line(&p, STR("X-A"), STR("b"));
    assert_int_equal(mk_reply_end(&p, -1), 0);
    assert_int_equal(mk_reply_producer(r, answer_the_other, &answered), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict answer_inside_a_head(struct mk_request *r)
{
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    (void)mk_reply_bytes(other_request, 200, NULL, STR("yours"));
    mk_reply_line(&p, STR("X-Mine"),
                  STR("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
    assert_int_equal(mk_reply_end(&p, 0), MK_E_INVALID);
    return MK_VERDICT_DONE;
}

static void answers_to_two_connections_do_not_mix(void **state)
{
    static const struct answer waiting = {"", wait_for_the_other, GET, "", false};
    static const struct {
        struct answer answer;
        const char *mine;
    } rows[] = {
        {{"", answer_both, GET, "", false}, OK "X-A: b\r\n" CHUNKED "\r\n4\r\nmmmm\r\n0\r\n\r\n"},
        {{"", answer_inside_a_head, GET, "", false}, FAILED},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct loopback other, lb;

        begin(&other, &waiting);
        other_lb = &other;
        loopback_open(&other);
        loopback_run(&other);
        assert_int_equal(other.out_len, 0);
        begin(&lb, &rows[i].answer);
        loopback_open(&lb);
        loopback_run(&lb);
        loopback_run(&other);
        if (!loopback_matches(&lb, rows[i].mine))
            fail_msg("mine: %.*s", (int)lb.out_len, lb.out);
        if (!loopback_matches(&other, OK "Content-Length: 5\r\n\r\nyours"))
            fail_msg("the other's: %.*s", (int)other.out_len, other.out);
        loopback_close(&lb);
        loopback_close(&other);
        loopback_free(&lb);
        loopback_free(&other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_answer_as_written_here),
        cmocka_unit_test(slow_readers_get_the_same),
        cmocka_unit_test(failing_allocations_are_survived),
        cmocka_unit_test(large_parts_are_one_chunk),
        cmocka_unit_test(lines_that_would_change_how_a_message_is_read_are_refused),
        cmocka_unit_test(trailers_are_bounded),
        cmocka_unit_test(answers_to_two_connections_do_not_mix),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
