/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "owner.h"

/* Field blocks that come again: they are told as such while they mean the same, and as fields whenever they may not. */

static uint64_t number; /* of what this owner has kept */

static struct h2_stream *begin(struct h2_session *s, uint32_t id)
{
    (void)s, (void)id;
    return &add_stream()->base;
}

static bool again(struct h2_stream *st, uint64_t of)
{
    (void)st;
    if (of == number)
        say("again; ");
    return of == number;
}

static int head(struct h2_stream *st)
{
    say("head; ");
    if (h2_stream_may_keep(st))
        h2_stream_keep(st, ++number);
    return 0;
}

static const struct h2_events events = {.begin = begin,
                                        .field = field,
                                        .again = again,
                                        .head = head,
                                        .data = data,
                                        .end = end,
                                        .give = give,
                                        .trailers = trailers,
                                        .answered = answered,
                                        .over = over};

/* GET http / */
#define REQUEST "\202\206\204"
/* :authority: a, and x: y, both entered */
#define FIRST REQUEST "\101\1a\100\1x\1y"
/* the same, by numbers */
#define AGAIN REQUEST "\277\276"

static void open_session(void)
{
    memset(&w, 0, sizeof(w));
    w.out = (struct h2_out){.p = w.bytes, .cap = sizeof(w.bytes)};
    h2_session_init(
        &w.session, &events,
        &(struct h2_limits){
            .max_streams = 100, .max_head = 1000, .stream_window = 65536, .window_max = 1 << 20},
        &w.out, &w.sum, 0);
    w.session.room = w.room;
    put_begin(&b);
    (void)feed();
}

static const char *ask(uint32_t id, const char *block, size_t len)
{
    put_frame(&b, H2_HEADERS, H2_FLAG_END_HEADERS | H2_FLAG_END_STREAM, id, block, len);
    return feed();
}

#define ASK(id, block) ask((id), (block), sizeof(block) - 1)

static void expect(const char *seen, const char *wanted)
{
    if (strcmp(seen, wanted) != 0)
        fail_msg("%s, and not %s", seen, wanted);
}

/* A block that comes the second time is kept, and the third one is told as it; the first one enters what these name. */
static void keep_block(void)
{
    open_session();
    expect(ASK(1, FIRST), "field 1 x=y; head; ");
    expect(ASK(3, AGAIN), "field 3 x=y; head; ");
    expect(ASK(5, AGAIN), "field 5 x=y; head; ");
    expect(ASK(7, AGAIN), "again; head; ");
}

static void test_a_block_comes_again(void **state)
{
    (void)state;
    keep_block();
    expect(ASK(9, AGAIN), "again; head; ");
    assert_true(h2_stream_has_end(stream(9)));
    close_session();
}

/* What was kept is gone: another connection's has its place. */
static void test_an_owner_that_has_it_no_more(void **state)
{
    (void)state;
    keep_block();
    number++;
    expect(ASK(9, AGAIN), "field 9 x=y; head; ");
    expect(ASK(11, AGAIN), "again; head; ");
    close_session();
}

/* RFC 7541 section 2.3.3: numbers mean other fields then. */
static void test_a_table_that_changes(void **state)
{
    (void)state;
    keep_block();
    expect(ASK(9, REQUEST "\277\100\1z\1z"), "field 9 z=z; head; ");
    expect(ASK(11, AGAIN), "field 11 x=y; field 11 z=z; over 11 1; <3/0/11:4=1> ");
    close_session();
}

/* RFC 7541 section 4.3: a smaller table drives entries out. */
static void test_a_table_that_shrinks(void **state)
{
    (void)state;
    keep_block();
    expect(ASK(9, "\40\77\341\37" REQUEST "\101\1a"), "head; ");
    expect(ASK(11, AGAIN), "<7/0/0:8=11,9> ");
    close_session();
}

/* RFC 7541 section 4.2: a change of the size is to be heard each time. */
static void test_a_block_that_changes_the_size(void **state)
{
    static const char block[] = "\77\341\37" REQUEST "\1\1a";

    (void)state;
    open_session();
    for (uint32_t id = 1; id < 9; id += 2)
        expect(ASK(id, block), "head; ");
    close_session();
}

/* RFC 9218 section 5 */
static void test_an_urgent_one_is_not_kept(void **state)
{
    static const char block[] = REQUEST "\1\1a\0\10priority\3u=1";

    (void)state;
    open_session();
    for (uint32_t id = 1; id < 7; id += 2) {
        expect(ASK(id, block), id == 1   ? "field 1 priority=u=1; head; "
                               : id == 3 ? "field 3 priority=u=1; head; "
                                         : "field 5 priority=u=1; head; ");
        assert_int_equal(stream(id)->turn.priority.urgency, 1);
    }
    close_session();
}

/* A block that comes in pieces is not looked at as one; its end alone is none. */
static void test_pieces(void **state)
{
    static const char tail[] = AGAIN;

    (void)state;
    for (size_t cut = 1; cut < sizeof(tail) - 1; cut++) {
        keep_block();
        put_frame(&b, H2_HEADERS, H2_FLAG_END_STREAM, 9, tail, cut);
        put_frame(&b, H2_CONTINUATION, H2_FLAG_END_HEADERS, 9, tail + cut, sizeof(tail) - 1 - cut);
        expect(feed(), "field 9 x=y; head; ");
        put_frame(&b, H2_HEADERS, H2_FLAG_END_STREAM, 11, "\202", 1);
        put_frame(&b, H2_CONTINUATION, H2_FLAG_END_HEADERS, 11, tail, sizeof(tail) - 1);
        expect(feed(), "over 11 1; <3/0/11:4=1> "); /* a method twice */
        close_session();
    }
}

static void test_bytes_in_pieces(void **state)
{
    (void)state;
    keep_block();
    for (uint32_t id = 9; id < 9 + 2 * 13; id += 2) {
        struct bytes whole;
        size_t cut = (id - 9) / 2 + 1;

        put_frame(&b, H2_HEADERS, H2_FLAG_END_HEADERS | H2_FLAG_END_STREAM, id, AGAIN, 5);
        whole = b;
        b.len = cut;
        (void)feed();
        memmove(b.p, whole.p + cut, whole.len - cut);
        b.len = whole.len - cut;
        assert_non_null(strstr(feed(), "head; "));
    }
    close_session();
}

/* RFC 9113 section 8.1.1: what the fields say of the body holds for each of them. */
static void test_a_length_is_kept(void **state)
{
    static const char block[] = REQUEST "\1\1a\17\15\0013";

    (void)state;
    open_session();
    for (uint32_t id = 1; id < 9; id += 2) {
        put_frame(&b, H2_HEADERS, H2_FLAG_END_HEADERS, id, block, sizeof(block) - 1);
        put_frame(&b, H2_DATA, H2_FLAG_END_STREAM, id, "ab", 2);
        assert_non_null(strstr(feed(), "over"));
        assert_null(strstr(w.record, "end "));
    }
    assert_non_null(strstr(w.record, "again"));
    close_session();
}

static void test_trailers_are_not_a_head(void **state)
{
    static const char block[] = REQUEST "\1\1a";

    (void)state;
    open_session();
    expect(ASK(1, block), "head; ");
    expect(ASK(3, block), "head; ");
    put_frame(&b, H2_HEADERS, H2_FLAG_END_HEADERS, 5, block, sizeof(block) - 1);
    expect(feed(), "again; head; ");
    put_frame(&b, H2_HEADERS, H2_FLAG_END_HEADERS | H2_FLAG_END_STREAM, 5, block,
              sizeof(block) - 1);
    assert_non_null(strstr(feed(), "over 5 1; "));
    close_session();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_block_comes_again),
        cmocka_unit_test(test_an_owner_that_has_it_no_more),
        cmocka_unit_test(test_a_table_that_changes),
        cmocka_unit_test(test_a_table_that_shrinks),
        cmocka_unit_test(test_a_block_that_changes_the_size),
        cmocka_unit_test(test_an_urgent_one_is_not_kept),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_bytes_in_pieces),
        cmocka_unit_test(test_a_length_is_kept),
        cmocka_unit_test(test_trailers_are_not_a_head),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
