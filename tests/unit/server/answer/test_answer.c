/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include "base/str.h"
#include "server/answer/reply.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* What handlers answer, rightly and wrongly, and what their clients see of it. */

/* ---- handlers ---- */

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

    (void)snprintf(path, sizeof(path), "%s/%s", answer_site.dir, name);
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
    (void)answer_head(r, 200, 3);
    assert_int_equal(pipe_of(r, "pipe", UINT64_MAX), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict too_little_in_pipe(struct mk_request *r)
{
    (void)answer_head(r, 200, -1);
    assert_int_equal(pipe_of(r, "pipe", 5), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict exactly_and_not_ended(struct mk_request *r)
{
    (void)answer_head(r, 200, 3);
    assert_int_equal(letters(r), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict large_file(struct mk_request *r)
{
    (void)answer_head(r, 200, -1);
    assert_int_equal(part_of_file(r, "large", 5, 100000), 0);
    assert_int_equal(mk_reply_memory(r, STR("end")), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict shorter_file(struct mk_request *r)
{
    (void)answer_head(r, 200, -1);
    assert_int_equal(part_of_file(r, "hello", 3, 3), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict no_such_part(struct mk_request *r)
{
    (void)answer_head(r, 200, -1);
    assert_int_equal(part_of_file(r, "hello", UINT64_MAX, 3), MK_E_INVALID);
    return MK_VERDICT_DONE;
}

static enum mk_verdict pipe_that_is_a_file(struct mk_request *r)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "%s/hello", answer_site.dir);
    (void)answer_head(r, 200, -1);
    assert_int_equal(mk_reply_memory(r, STR("a")), 0);
    assert_int_equal(mk_reply_pipe(r, open(path, O_RDONLY | O_CLOEXEC), UINT64_MAX), MK_E_INVALID);
    return MK_VERDICT_DONE;
}

static enum mk_verdict failing_producer(struct mk_request *r)
{
    (void)answer_head(r, 200, -1);
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
    (void)answer_head(r, 200, -1);
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
    (void)answer_head(r, 200, -1);
    assert_int_equal(mk_reply_memory(r, STR("a")), 0);
    assert_int_equal(mk_reply_producer(r, give_and_abort, NULL), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict abort_at_once(struct mk_request *r)
{
    (void)answer_head(r, 200, -1);
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
    return answer_head(r, 103, 0);
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
    (void)answer_head(r, 204, 5);
    assert_int_equal(mk_reply_memory(r, STR("hello")), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict reset_content(struct mk_request *r)
{
    (void)answer_head(r, 205, 5);
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

static const struct answer answers[] = {
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

static void handlers_answer_as_written_here(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(answers); i++) {
        struct loopback lb;
        bool closed;

        answer_begin(&lb, &answers[i]);
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

            answer_begin(&lb, &answers[i]);
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

            answer_begin(&lb, &answers[i]);
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

        answer_begin(&lb, &answer);
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

/* ---- how the end of a body shows ---- */

static const struct framed {
    const char *sentence, *in;
    unsigned status;
    int64_t length;
    enum mk_framing framing;
} framings[] = {
    {"a length", GET, 200, 5, MK_FRAMING_LENGTH},
    {"no length", GET, 200, -1, MK_FRAMING_CHUNKS},
    {"no length, of HTTP/1.0", OLD, 200, -1, MK_FRAMING_CLOSE},
    {"a length, of HTTP/1.0", OLD, 200, 5, MK_FRAMING_LENGTH},
    {"HEAD", HEAD, 200, 5, MK_FRAMING_ABSENT},
    {"HEAD without a length", HEAD, 200, -1, MK_FRAMING_ABSENT},
    {"HEAD without a length, of HTTP/1.0", "HEAD / HTTP/1.0\r\n\r\n", 200, -1, MK_FRAMING_ABSENT},
    {"204 (RFC 9110 section 15.3.5)", GET, 204, -1, MK_FRAMING_ABSENT},
    {"205 (RFC 9110 section 15.3.6)", GET, 205, 5, MK_FRAMING_ABSENT},
    {"304 (RFC 9110 section 15.4.5)", GET, 304, 5, MK_FRAMING_ABSENT},
    {"an error", GET, 404, 5, MK_FRAMING_LENGTH},
};
static const struct framed *framed;

static enum mk_verdict frame(struct mk_request *r)
{
    (void)answer_head(r, framed->status, framed->length);
    if (r->framing != framed->framing)
        fail_msg("%s: %u", framed->sentence, r->framing);
    if (framed->framing == MK_FRAMING_ABSENT) /* nobody will see it */
        assert_int_equal(mk_reply_memory(r, STR("hello")), 0);
    else
        assert_int_equal(letters(r), 0);
    mk_reply_break(r);
    return MK_VERDICT_DONE;
}

static enum mk_verdict frame_anew(struct mk_request *r)
{
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    mk_reply_line(&p, STR("X A"), STR("b"));
    assert_int_equal(mk_reply_end(&p, -1), MK_E_INVALID);
    assert_int_equal(r->framing, MK_FRAMING_LENGTH);
    return MK_VERDICT_DONE;
}

static void the_end_of_a_body_shows_in_one_way(void **state)
{
    static const struct answer again = {"", frame_anew, GET, "", false};
    struct loopback lb;

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(framings); i++) {
        const struct answer answer = {framings[i].sentence, frame, framings[i].in, "", true};

        framed = &framings[i];
        answer_begin(&lb, &answer);
        loopback_talk(&lb);
        loopback_free(&lb);
    }
    answer_begin(&lb, &again);
    loopback_talk(&lb);
    assert_int_equal(loopback_status(&lb, 0), 500);
    loopback_free(&lb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_answer_as_written_here),
        cmocka_unit_test(slow_readers_get_the_same),
        cmocka_unit_test(failing_allocations_are_survived),
        cmocka_unit_test(large_parts_are_one_chunk),
        cmocka_unit_test(the_end_of_a_body_shows_in_one_way),
    };

    return cmocka_run_group_tests(tests, answer_set_up, answer_tear_down);
}
