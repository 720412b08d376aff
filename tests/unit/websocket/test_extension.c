/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/extension.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define DEFLATE "permessage-deflate"
#define ALONE DEFLATE "; server_no_context_takeover; client_no_context_takeover"

/* RFC 7692 section 7.1: an offer, and the answer of a server that keeps no window, and of one that does; NULL: declined. */
static const struct {
    const char *offer, *alone, *kept;
} rows[] = {
    {DEFLATE, ALONE, DEFLATE},
    {"x-other, " DEFLATE, ALONE, DEFLATE},
    {"Permessage-Deflate", ALONE, DEFLATE},
    {DEFLATE ";server_no_context_takeover", ALONE, DEFLATE "; server_no_context_takeover"},
    {DEFLATE "; client_no_context_takeover", ALONE, DEFLATE "; client_no_context_takeover"},
    {DEFLATE "; client_max_window_bits", ALONE "; client_max_window_bits=12",
     DEFLATE "; client_max_window_bits=12"},
    {DEFLATE "; client_max_window_bits=15", ALONE "; client_max_window_bits=12",
     DEFLATE "; client_max_window_bits=12"},
    {DEFLATE "; client_max_window_bits=8", ALONE "; client_max_window_bits=8",
     DEFLATE "; client_max_window_bits=8"},
    {DEFLATE "; server_max_window_bits=15", ALONE, DEFLATE},
    {DEFLATE "; server_max_window_bits=9", ALONE "; server_max_window_bits=9",
     DEFLATE "; server_max_window_bits=9"},
    {DEFLATE "; server_max_window_bits=\"10\"", ALONE "; server_max_window_bits=10",
     DEFLATE "; server_max_window_bits=10"},
    {DEFLATE "; server_max_window_bits = 10 ", ALONE "; server_max_window_bits=10",
     DEFLATE "; server_max_window_bits=10"},
    /* declined: zlib cannot; a parameter without the value that it needs, with one that it has not, twice, unknown */
    {DEFLATE "; server_max_window_bits=8", NULL, NULL},
    {DEFLATE "; server_max_window_bits", NULL, NULL},
    {DEFLATE "; server_max_window_bits=16", NULL, NULL},
    {DEFLATE "; server_max_window_bits=7", NULL, NULL},
    {DEFLATE "; server_max_window_bits=012", NULL, NULL},
    {DEFLATE "; server_max_window_bits=\"", NULL, NULL},
    {DEFLATE "; client_max_window_bits=", NULL, NULL},
    {DEFLATE "; server_no_context_takeover=1", NULL, NULL},
    {DEFLATE "; server_no_context_takeover; server_no_context_takeover", NULL, NULL},
    {DEFLATE "; client_max_window_bits; client_max_window_bits=10", NULL, NULL},
    {DEFLATE "; server_max_window_bits=10; server_max_window_bits=10", NULL, NULL},
    {DEFLATE "; unknown", NULL, NULL},
    {DEFLATE ";", NULL, NULL},
    {"x-webkit-deflate-frame", NULL, NULL},
    {"", NULL, NULL},
    /* section 5.1: the first that can be met */
    {DEFLATE "; server_max_window_bits=8, " DEFLATE "; unknown=1, " DEFLATE
             "; server_max_window_bits=11, " DEFLATE,
     ALONE "; server_max_window_bits=11", DEFLATE "; server_max_window_bits=11"},
};

static void expect(const char *offer, bool keeps, const char *answer)
{
    const struct ws_deflate_rules rules = {true, keeps, keeps};
    struct ws_deflate d = {.is_agreed = false};
    char text[WS_EXTENSION_ROOM];

    ws_deflate_offer(&d, &rules, mk_str_from(offer));
    assert_int_equal(d.is_agreed, answer != NULL);
    if (!answer)
        return;
    assert_int_equal(ws_deflate_answer(text, &d), strlen(answer));
    assert_memory_equal(text, answer, strlen(answer));
}

static void offers_have_their_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        expect(rows[i].offer, false, rows[i].alone);
        expect(rows[i].offer, true, rows[i].kept);
    }
}

static void the_longest_answer_fits(void **state)
{
    struct ws_deflate d = {true, false, false, 9, 8};
    char text[WS_EXTENSION_ROOM];

    (void)state;
    assert_true(ws_deflate_answer(text, &d) < sizeof(text));
}

static void nothing_is_agreed_on_where_it_is_off_or_done(void **state)
{
    const struct ws_deflate_rules off = {.is_allowed = false}, on = {.is_allowed = true};
    struct ws_deflate d = {.is_agreed = false};

    (void)state;
    ws_deflate_offer(&d, &off, MK_STR(DEFLATE));
    assert_false(d.is_agreed);
    ws_deflate_offer(&d, &on, MK_STR(DEFLATE "; server_max_window_bits=10"));
    ws_deflate_offer(&d, &on, MK_STR(DEFLATE "; server_max_window_bits=9"));
    assert_int_equal(d.sent_bits, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offers_have_their_answers),
        cmocka_unit_test(the_longest_answer_fits),
        cmocka_unit_test(nothing_is_agreed_on_where_it_is_off_or_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
