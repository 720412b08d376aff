/* SPDX-License-Identifier: Apache-2.0 */
#include "loopback.h"

#include "base/limits.h"
#include "base/str.h"
#include "server/answer/reply.h"

#include <fcntl.h>
#include <unistd.h>

/* Filters of heads and bodies: what they may see and change, and what becomes of the framing. */

#define GET(path, more) "GET " path " HTTP/1.1\r\nHost: a\r\n" more "\r\n"
#define HEAD(path) "HEAD " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define OLD(path) "GET " path " HTTP/1.0\r\n\r\n"
#define NAMED "Date: DDDDDDDDDDDDDDDDDDDDDDDDDDDDD\r\nServer: Monkey\r\n"
#define FILE_LINES "Content-Type: text/plain; charset=utf-8\r\nLast-Modified: *\r\nETag: \"*\r\n"
#define WEAK "Content-Type: text/plain; charset=utf-8\r\nLast-Modified: *\r\nETag: W/\"*\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"
#define PAGE "Content-Type: text/html; charset=utf-8\r\n"

static struct fixture fix;

/* ---- filters ---- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int upper(void *state, const char *in, size_t *in_len, char *out, size_t *out_len, bool last)
{
    size_t n = least(*in_len, *out_len);

    (void)state;
    for (size_t i = 0; i < n; i++)
        out[i] = (char)(in[i] >= 'a' && in[i] <= 'z' ? in[i] - 32 : in[i]);
    last = last && n == *in_len;
    *in_len = *out_len = n;
    return last;
}

static int tenfold(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                   bool last)
{
    size_t n = least(*in_len, *out_len / 10);

    (void)state;
    for (size_t i = 0; i < n; i++)
        memset(out + 10 * i, in[i], 10);
    last = last && n == *in_len;
    *in_len = n;
    *out_len = 10 * n;
    return last;
}

/* Like a compressor: nothing comes out before the end. */
static int swallow(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                   bool last)
{
    (void)state;
    (void)in;
    (void)in_len;
    (void)out;
    *out_len = 0;
    return last;
}

static int count_all(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                     bool last)
{
    size_t *sum = state;

    (void)in;
    assert_true(*in_len > 0 || last); /* it holds nothing that it could release */
    *sum += *in_len;
    if (!last) {
        *out_len = 0;
        return 0;
    }
    *out_len = (size_t)snprintf(out, *out_len, "%zu", *sum);
    return 1;
}

static int first_two(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                     bool last)
{
    (void)state;
    (void)last;
    memcpy(out, in, 2);
    *in_len = *out_len = 2;
    return 1;
}

static int fail_after_two(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                          bool last)
{
    size_t *calls = state;

    (void)last;
    if ((*calls)++ > 0)
        return MK_E_BUSY; /* any error is one */
    memcpy(out, in, 2);
    *in_len = *out_len = 2;
    return 0;
}

static int stuck(void *state, const char *in, size_t *in_len, char *out, size_t *out_len, bool last)
{
    (void)state;
    (void)in;
    (void)out;
    (void)last;
    *in_len = *out_len = 0;
    return 0;
}

static int liar(void *state, const char *in, size_t *in_len, char *out, size_t *out_len, bool last)
{
    (void)state;
    (void)in;
    (void)out;
    (void)last;
    (void)in_len;
    *out_len += 1;
    return 0;
}

/* Like a compressor that can be flushed: lower-case letters wait for the source to have nothing, or its end. */
struct held {
    char bytes[64];
    size_t len, nreleases;
};

static int hold(void *state, const char *in, size_t *in_len, char *out, size_t *out_len, bool last)
{
    struct held *held = state;
    bool is_release = *in_len == 0 && !last;

    assert_true(held->len + *in_len <= sizeof(held->bytes));
    memcpy(held->bytes + held->len, in, *in_len);
    held->len += *in_len;
    if (!is_release && !last) {
        *out_len = 0;
        return MK_FILTER_HOLDS;
    }
    if (is_release)
        out[0] = (char)('0' + ++held->nreleases);
    memcpy(out + is_release, held->bytes, held->len);
    *out_len = held->len + is_release;
    held->len = 0;
    return last ? MK_FILTER_DONE : MK_FILTER_MORE;
}

/* It says that it holds something, and has nothing. */
static int pretend(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                   bool last)
{
    int result = upper(state, in, in_len, out, out_len, last);

    return result ? result : MK_FILTER_HOLDS;
}

/* Counts the calls with nothing, of which there are to be none while a source has more. */
static int count_releases(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                          bool last)
{
    size_t *sum = state;

    (void)in;
    *sum += *in_len == 0 && !last;
    *out_len = last ? (size_t)snprintf(out, *out_len, "%zu", *sum) : 0;
    return last ? MK_FILTER_DONE : MK_FILTER_HOLDS;
}

/* ---- hooks ---- */

static int with(struct mk_request *r, struct mk_head *head, mk_filter_fn fn)
{
    size_t *state = mk_arena_zalloc(&r->arena, sizeof(*state));

    return state ? mk_head_filter(head, fn, state) : MK_E_NOMEM;
}

static int leave(struct mk_request *r, struct mk_head *head)
{
    (void)r;
    (void)head;
    return 0;
}

static int to_upper(struct mk_request *r, struct mk_head *head)
{
    return with(r, head, upper);
}

static int to_ten(struct mk_request *r, struct mk_head *head)
{
    return with(r, head, tenfold);
}

static int to_nothing(struct mk_request *r, struct mk_head *head)
{
    return with(r, head, swallow);
}

static int to_count(struct mk_request *r, struct mk_head *head)
{
    return with(r, head, count_all);
}

static int to_two(struct mk_request *r, struct mk_head *head)
{
    return with(r, head, first_two);
}

static int to_failure(struct mk_request *r, struct mk_head *head)
{
    return with(r, head, fail_after_two);
}

static int to_standstill(struct mk_request *r, struct mk_head *head)
{
    return with(r, head, stuck);
}

static int to_lie(struct mk_request *r, struct mk_head *head)
{
    return with(r, head, liar);
}

static int to_held(struct mk_request *r, struct mk_head *head)
{
    struct held *state = mk_arena_zalloc(&r->arena, sizeof(*state));

    return state ? mk_head_filter(head, hold, state) : MK_E_NOMEM;
}

static int held_twice(struct mk_request *r, struct mk_head *head)
{
    int err = to_held(r, head);

    return err < 0 ? err : to_held(r, head);
}

static int to_pretence(struct mk_request *r, struct mk_head *head)
{
    return with(r, head, pretend);
}

static int to_releases(struct mk_request *r, struct mk_head *head)
{
    return with(r, head, count_releases);
}

static int ten_then_count(struct mk_request *r, struct mk_head *head)
{
    int err = with(r, head, tenfold);

    return err < 0 ? err : with(r, head, count_all);
}

static int nine_filters(struct mk_request *r, struct mk_head *head)
{
    int err = 0, count = 0;

    while (err == 0 && count < 100) {
        err = with(r, head, upper);
        count++;
    }
    assert_int_equal(err, MK_E_LIMIT);
    assert_int_equal(count, 9);
    return 0;
}

static int refuse(struct mk_request *r, struct mk_head *head)
{
    (void)r;
    (void)head;
    return MK_E_SYS;
}

static int answer_instead(struct mk_request *r, struct mk_head *head)
{
    (void)head;
    (void)mk_reply_error(r, 403, NULL);
    return 0;
}

static int change(struct mk_request *r, struct mk_head *head)
{
    struct mk_str name, value, type = mk_head_get(head, MK_STR("CONTENT-TYPE"));
    unsigned count = 0;

    (void)r;
    assert_int_equal(mk_head_status(head), 200);
    assert_int_equal(mk_head_length(head), 5);
    assert_int_equal(type.len, 25);
    for (uint32_t at = 0; mk_head_next(head, &at, &name, &value);)
        count++;
    assert_int_equal(count, 5);
    assert_null(mk_head_get(head, MK_STR("Content-Length")).p);
    assert_null(mk_head_get(head, MK_STR("Content")).p);
    assert_int_equal(mk_head_set(head, MK_STR("etag"), (struct mk_str){NULL, 0}), 0);
    assert_int_equal(mk_head_set(head, MK_STR("LAST-MODIFIED"), MK_STR("never")), 0);
    assert_int_equal(mk_head_set(head, MK_STR("X-A"), MK_STR("")), 0);
    assert_int_equal(mk_head_set(head, MK_STR("X-B"), (struct mk_str){NULL, 0}), 0);
    return 0;
}

static int set_what_cannot_be(struct mk_request *r, struct mk_head *head)
{
    static char large[MK_LIMIT_ANSWER_HEAD];

    (void)r;
    memset(large, 'x', sizeof(large));
    assert_int_equal(mk_head_set(head, MK_STR("Content-Length"), MK_STR("1")), MK_E_INVALID);
    assert_int_equal(mk_head_set(head, MK_STR("connection"), (struct mk_str){NULL, 0}),
                     MK_E_INVALID);
    assert_int_equal(mk_head_set(head, MK_STR("X-A"), MK_STR("a\r\nb")), MK_E_INVALID);
    assert_int_equal(mk_head_set(head, MK_STR("X:"), MK_STR("a")), MK_E_INVALID);
    assert_int_equal(mk_head_set(head, MK_STR("ETag"), (struct mk_str){large, sizeof(large)}),
                     MK_E_LIMIT);
    return 0;
}

/* ---- a handler with all kinds of sources ---- */

static ssize_t give_two(struct mk_request *r, void *arg, char *dst, size_t len)
{
    size_t *calls = arg;

    (void)len;
    if (++*calls % 2) { /* it has nothing each other time */
        mk_request_resume(r);
        return MK_E_AGAIN;
    }
    memcpy(dst, "pr", 2);
    return *calls < 5 ? 2 : 0;
}

/* It has something each third time: what a filter wrote because of the first refusal meets a second one. */
static ssize_t give_rarely(struct mk_request *r, void *arg, char *dst, size_t len)
{
    size_t *calls = arg;

    (void)len;
    if (++*calls % 3) {
        mk_request_resume(r);
        return MK_E_AGAIN;
    }
    memcpy(dst, "pr", 2);
    return *calls < 9 ? 2 : 0;
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const char *path = r->path.p;
    int64_t length = strcmp(path, "/h/short") == 0 ? 20 : strcmp(path, "/h/long") == 0 ? 10 : -1;
    size_t *calls = mk_arena_zalloc(&r->arena, sizeof(*calls));
    char name[64];
    struct mk_reply p;
    int fds[2];

    (void)ctx;
    (void)data;
    if (strcmp(path, "/h/parts") == 0) {
        assert_int_equal(mk_reply_begin(&p, r, 206), 0);
        assert_int_equal(mk_reply_end(&p, 0), MK_E_INVALID);
        return MK_VERDICT_DONE;
    }
    if (mk_reply_begin(&p, r, 200) < 0 || mk_reply_end(&p, length) < 0)
        return MK_VERDICT_DONE;
    (void)snprintf(name, sizeof(name), "%s/a.txt", fix.dir);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(write(fds[1], "pipe", 4), 4);
    (void)close(fds[1]);
    if (mk_reply_memory(r, MK_STR("mem")) < 0 ||
        mk_reply_fd(r, open(name, O_RDONLY | O_CLOEXEC), 1, 3) < 0 || !calls ||
        mk_reply_producer(r, strcmp(path, "/h/rare") == 0 ? give_rarely : give_two, calls) < 0) {
        (void)close(fds[0]);
        return MK_VERDICT_DONE;
    }
    (void)!mk_reply_pipe(r, fds[0], UINT64_MAX);
    return MK_VERDICT_DONE;
}

static const struct exchange {
    const char *sentence;
    int (*hook)(struct mk_request *r, struct mk_head *head);
    const char *in, *out;
    bool closes;
} exchanges[] = {
    /* clang-format off */
    {"an idle filter changes nothing", leave, GET("/a.txt", ""), "HTTP/1.1 200 OK\r\n" NAMED FILE_LINES "Content-Length: 5\r\n\r\nhello", false},
    {"a head", change, GET("/a.txt", ""), "HTTP/1.1 200 OK\r\n" NAMED "Content-Type: text/plain; charset=utf-8\r\nLAST-MODIFIED: never\r\nX-A: \r\nContent-Length: 5\r\n\r\nhello", false},
    {"what cannot be set", set_what_cannot_be, GET("/a.txt", ""), "HTTP/1.1 200 OK\r\n" NAMED FILE_LINES "Content-Length: 5\r\n\r\nhello", false},
    {"a file", to_upper, GET("/a.txt", ""), "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n5\r\nHELLO\r\n0\r\n\r\n", false},
    {"the same for HEAD", to_upper, HEAD("/a.txt"), "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n", false},
    {"the same until close", to_upper, OLD("/a.txt"), "HTTP/1.1 200 OK\r\n" NAMED WEAK "Connection: close\r\n\r\nHELLO", true},
    {"304 has the tag of 200 (RFC 9110 section 15.4.5)", to_upper, GET("/a.txt", "If-None-Match: *\r\n"), "HTTP/1.1 304 Not Modified\r\n" NAMED "Last-Modified: *\r\nETag: W/\"*\r\n\r\n", false},
    {"ranges are not asked for", to_upper, GET("/a.txt", "Range: bytes=0-1\r\n"), "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n5\r\nHELLO\r\n0\r\n\r\n", false},
    {"ranges are not asked for of idle filters either", leave, GET("/a.txt", "Range: bytes=0-1\r\n"), "HTTP/1.1 200 OK\r\n" NAMED FILE_LINES "Content-Length: 5\r\n\r\nhello", false},
    {"an empty file", to_upper, GET("/empty.txt", ""), "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n0\r\n\r\n", false},
    {"more than before", to_ten, GET("/a.txt", ""), "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n32\r\nhhhhhhhhhheeeeeeeeeelllllllllllllllllllloooooooooo\r\n0\r\n\r\n", false},
    {"nothing", to_nothing, GET("/a.txt", ""), "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n0\r\n\r\n", false},
    {"all of it before anything comes out", to_count, GET("/large.txt", ""), "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n7\r\n3000000\r\n0\r\n\r\n", false},
    {"one behind the other", ten_then_count, GET("/large.txt", ""), "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n8\r\n30000000\r\n0\r\n\r\n", false},
    {"not more than eight", nine_filters, GET("/a.txt", ""), "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n5\r\nHELLO\r\n0\r\n\r\n", false},
    {"one that has enough", to_two, GET("/a.txt", ""), "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n2\r\nhe\r\n0\r\n\r\n", false},
    {"one that fails midway", to_failure, GET("/a.txt", ""), "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n2\r\nhe\r\n", true},
    {"one that does nothing", to_standstill, GET("/a.txt", ""), "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n", true},
    {"one that claims more than its room", to_lie, GET("/a.txt", ""), "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n", true},
    {"one that refuses the head", refuse, GET("/a.txt", ""), "", true},
    {"one that refuses every head", refuse, GET("/none", ""), "", true},
    {"one that answers itself", answer_instead, GET("/a.txt", ""), "", true},
    {"an error page", to_upper, GET("/none", ""), "HTTP/1.1 404 Not Found\r\n" NAMED PAGE CHUNKED "\r\n*\r\n*\r\n*\r\n*\r\n0\r\n\r\n", false},
    {"a redirect", to_upper, GET("/dir", ""), "HTTP/1.1 301 Moved Permanently\r\n" NAMED "Location: /dir/\r\n" PAGE CHUNKED "\r\n*\r\n*\r\n*\r\n*\r\n0\r\n\r\n", false},
    {"no content", to_upper, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 204 No Content\r\n" NAMED "Allow: GET, HEAD, OPTIONS\r\n\r\n", false},
    {"parts cannot be changed", to_upper, GET("/h/parts", ""), "", true},
    {"sources of all kinds", to_count, GET("/h", ""), "HTTP/1.1 200 OK\r\n" NAMED CHUNKED "\r\n2\r\n14\r\n0\r\n\r\n", false},
    {"what is held leaves when the source has nothing", to_held, GET("/h", ""), "HTTP/1.1 200 OK\r\n" NAMED CHUNKED "\r\n7\r\n1memell\r\n3\r\n2pr\r\n3\r\n3pr\r\n4\r\npipe\r\n0\r\n\r\n", false},
    {"from each of two that hold", held_twice, GET("/h/rare", ""), "HTTP/1.1 200 OK\r\n" NAMED CHUNKED "\r\n8\r\n11memell\r\n4\r\n22pr\r\n4\r\n33pr\r\n4\r\npipe\r\n0\r\n\r\n", false},
    {"one that claims to hold something", to_pretence, GET("/h", ""), "HTTP/1.1 200 OK\r\n" NAMED CHUNKED "\r\n3\r\nMEM\r\n3\r\nELL\r\n2\r\nPR\r\n2\r\nPR\r\n4\r\nPIPE\r\n0\r\n\r\n", false},
    {"the end of a turn releases nothing", to_releases, GET("/large.txt", ""), "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n1\r\n0\r\n0\r\n\r\n", false},
    {"fewer bytes than were promised", to_nothing, GET("/h/short", ""), "HTTP/1.1 200 OK\r\n" NAMED CHUNKED "\r\n", true},
    {"more bytes than were promised", to_count, GET("/h/long", ""), "HTTP/1.1 200 OK\r\n" NAMED CHUNKED "\r\n2\r\n10\r\n", true},
    {"pipelined", to_upper, GET("/a.txt", "") HEAD("/a.txt") GET("/h", ""), "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n5\r\nHELLO\r\n0\r\n\r\n" "HTTP/1.1 200 OK\r\n" NAMED WEAK CHUNKED "\r\n" "HTTP/1.1 200 OK\r\n" NAMED CHUNKED "\r\n3\r\nMEM\r\n3\r\nELL\r\n2\r\nPR\r\n2\r\nPR\r\n4\r\nPIPE\r\n0\r\n\r\n", false},
    /* clang-format on */
};

static const struct exchange *current;

static int on_head(struct mk_request *r, const struct mk_context *ctx, struct mk_head *head)
{
    assert_non_null(ctx);
    return current->hook(r, head);
}

static const struct mk_plugin probe = {
    MK_PLUGIN("probe", "filters as a test says"),
    .on_head = on_head,
    .on_handle = on_handle,
};

static int set_up(void **state)
{
    static const struct mk_hooked hooked = {.plugin = &probe};
    static const struct row rows[] = {
        {"SERVER", "HideVersion", "on", 0},
        {"HANDLERS", "Match", "^/h echo", 0},
        {NULL, NULL, NULL, 0},
    };

    (void)state;
    dir_make(fix.dir);
    file_write(fix.dir, "a.txt", "hello", 5);
    file_write(fix.dir, "empty.txt", NULL, 0);
    file_write(fix.dir, "dir/b.txt", NULL, 1);
    file_write(fix.dir, "large.txt", NULL, 3000000);
    fixture_open(&fix, rows);
    fixture_handle(&fix, &probe, NULL);
    fix.plan.snapshot.sites[0].on_head = (struct mk_hooks){&hooked, 1};
    mk_log_set_fd(&fix.server->shared.log,
                  open("/dev/null", O_WRONLY | O_CLOEXEC)); /* mistakes are made on purpose */
    return 0;
}

static void plugins_that_leave_parts_give_ranges(void **state)
{
    static const struct mk_plugin parts = {.on_head = on_head, .traits = MK_TRAIT_PARTS};
    static const struct mk_hooked both[] = {{.plugin = &parts}, {.plugin = &probe}};
    static const struct exchange exchange = {.hook = leave};
    struct mk_hooks *hooks = &fix.plan.snapshot.sites[0].on_head, before = *hooks;

    (void)state;
    for (size_t count = 1; count <= 2; count++) {
        struct loopback lb;

        current = &exchange;
        loopback_init(&lb, fix.worker, MK_STR(GET("/a.txt", "Range: bytes=0-1\r\n")));
        *hooks = (struct mk_hooks){both, count};
        loopback_talk(&lb);
        assert_int_equal(loopback_status(&lb, 0), count == 1 ? 206 : 200);
        loopback_free(&lb);
    }
    *hooks = before;
}

static int tear_down(void **state)
{
    (void)state;
    mk_heap_fail_after(-1);
    fixture_close(&fix);
    dir_remove(fix.dir);
    return 0;
}

static struct loopback begin(const struct exchange *exchange)
{
    struct loopback lb;

    current = exchange;
    loopback_init(&lb, fix.worker, mk_str_from(exchange->in));
    return lb;
}

static void filters_work_as_written_here(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(exchanges); i++) {
        struct loopback lb = begin(&exchanges[i]);
        bool closed;

        loopback_open(&lb);
        loopback_run(&lb);
        closed = loopback_is_closed(&lb) || lb.nshutdown > 0;
        loopback_close(&lb);
        if (!loopback_matches(&lb, exchanges[i].out) || closed != exchanges[i].closes)
            fail_msg("%s: closed %d, got\n%.*s", exchanges[i].sentence, closed, (int)lb.out_len,
                     lb.out);
        loopback_free(&lb);
    }
}

static void slow_readers_get_the_same(void **state)
{
    static const size_t pieces[] = {1, 7, 100};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(exchanges); i++) {
        for (size_t j = 0; j < MK_ARRAY_LEN(pieces) && !exchanges[i].closes; j++) {
            struct loopback lb = begin(&exchanges[i]);

            lb.out_piece = pieces[j];
            lb.in_piece = 5;
            loopback_talk(&lb);
            if (!loopback_matches(&lb, exchanges[i].out))
                fail_msg("%s in pieces of %zu: got\n%.*s", exchanges[i].sentence, pieces[j],
                         (int)lb.out_len, lb.out);
            loopback_free(&lb);
        }
    }
}

/* A chain pulls: what a slow reader does not take is not made. */
static void nothing_runs_ahead_of_its_reader(void **state)
{
    static const struct exchange exchange = {"", to_ten, GET("/large.txt", ""), "", false};
    struct loopback lb = begin(&exchange);
    size_t most = 0;
    int turns = 0;

    (void)state;
    lb.out_piece = 100000;
    loopback_open(&lb);
    do {
        loopback_turn(&lb);
        if (!loopback_is_closed(&lb) && lb.conn->leftover_len > most)
            most = lb.conn->leftover_len;
    } while (lb.out_len < 30000000 && ++turns < 2000);
    loopback_run(&lb);
    assert_in_range(most, 1, 2 * MK_LIMIT_GATHER_BYTES);
    assert_true(lb.out_len > 30000000);
    assert_memory_equal(lb.out + lb.out_len - 7, "\r\n0\r\n\r\n", 7);
    loopback_close(&lb);
    loopback_free(&lb);
}

static void failing_allocations_are_survived(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(exchanges); i++) {
        bool careful = exchanges[i].hook == to_upper || exchanges[i].hook == to_count;

        for (long n = 0; careful && !exchanges[i].closes && n < 12; n++) {
            struct loopback lb = begin(&exchanges[i]);
            bool closed;

            lb.out_piece = 50;
            loopback_open(&lb);
            mk_heap_fail_after(n);
            loopback_run(&lb);
            mk_heap_fail_after(-1);
            closed = loopback_is_closed(&lb);
            loopback_close(&lb);
            if (!closed && !loopback_matches(&lb, exchanges[i].out) && !loopback_has(&lb, " 503 "))
                fail_msg("%s, allocation %ld: got\n%.*s", exchanges[i].sentence, n, (int)lb.out_len,
                         lb.out);
            loopback_free(&lb);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_work_as_written_here),
        cmocka_unit_test(slow_readers_get_the_same),
        cmocka_unit_test(nothing_runs_ahead_of_its_reader),
        cmocka_unit_test(plugins_that_leave_parts_give_ranges),
        cmocka_unit_test(failing_allocations_are_survived),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
