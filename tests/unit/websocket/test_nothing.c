/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <monkey/websocket.h>

#include "../lib/embedded.h"

/* NULL for what a call of <monkey/websocket.h> needs: a result that says so, and never a crash. */

static const struct mk_str text = {"hello", 5};
static const struct mk_ws_spec spec = {.size = sizeof(spec)};
static struct mk_server *server;
static struct mk_ws_group *group;
static char place; /* never looked at: something else is missing */

#define NO_WS ((struct mk_ws *)NULL)
#define A_WS ((struct mk_ws *)(void *)&place)

/* X(name, call, its result). Objects are compared by whether there is one. */
#define CALLS(X)                                                                                   \
    X(opening_without_request, mk_ws_accept(NULL, &spec, NULL, NULL), MK_VERDICT_DONE)             \
    X(data_of_nothing, mk_ws_data(NO_WS) != NULL, false)                                           \
    X(worker_of_nothing, mk_ws_worker(NO_WS) != NULL, false)                                       \
    X(protocol_of_nothing, mk_ws_protocol(NO_WS), 0)                                               \
    X(message_to_nothing, mk_ws_send(NO_WS, MK_WS_TEXT, text), MK_E_INVALID)                       \
    X(ping_to_nothing, mk_ws_ping(NO_WS, text), MK_E_INVALID)                                      \
    X(close_of_nothing, (mk_ws_close(NO_WS, MK_WS_NORMAL, text), 0), 0)                            \
    X(handle_of_nothing, mk_ws_handle(NO_WS) != NULL, false)                                       \
    X(another_handle_of_nothing, mk_ws_handle_get(NULL) != NULL, false)                            \
    X(no_handle_given_back, (mk_ws_handle_put(NULL), 0), 0)                                        \
    X(message_by_no_handle, mk_ws_handle_send(NULL, MK_WS_TEXT, text), MK_E_INVALID)               \
    X(close_by_no_handle, mk_ws_handle_close(NULL, MK_WS_NORMAL), MK_E_INVALID)                    \
    X(group_of_no_server, mk_ws_group_new(NULL) != NULL, false)                                    \
    X(no_group_given_back, (mk_ws_group_free(NULL), 0), 0)                                         \
    X(join_of_no_group, mk_ws_group_join(NULL, A_WS), MK_E_INVALID)                                \
    X(join_of_nothing, mk_ws_group_join(group, NO_WS), MK_E_INVALID)                               \
    X(leave_of_no_group, (mk_ws_group_leave(NULL, A_WS), 0), 0)                                    \
    X(leave_of_nothing, (mk_ws_group_leave(group, NO_WS), 0), 0)                                   \
    X(message_to_no_group, mk_ws_group_send(NULL, MK_WS_TEXT, text), MK_E_INVALID)                 \
    X(message_of_no_group_to_others, mk_ws_group_send_others(NULL, A_WS, MK_WS_TEXT, text),        \
      MK_E_INVALID)                                                                                \
    X(message_of_nothing_to_others, mk_ws_group_send_others(group, NO_WS, MK_WS_TEXT, text),       \
      MK_E_INVALID)

#define TEST(name, call, result)                                                                   \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        assert_int_equal((call), (result));                                                        \
    }
CALLS(TEST)

/* ---- a handler without a spec ---- */

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    (void)ctx, (void)data;
    return mk_ws_accept(r, NULL, NULL, NULL);
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("nothing", "accepts without a spec"),
    .check_site = embedded_route,
    .on_handle = on_handle,
};

static void a_handler_without_a_spec_answers_500(void **state)
{
    const struct mk_question question = {.size = sizeof(question), .target = MK_STR("/")};
    struct mk_answer *answer;

    (void)state;
    assert_int_equal(mk_server_ask_wait(server, &question, &answer), 0);
    assert_int_equal(answer->status, 500);
    mk_answer_free(answer);
}

/* ---- */

static int set_up(void **state)
{
    (void)state;
    if (mk_server_new(&server, embedded_config("1", &plugin, NULL), NULL) < 0)
        return -1;
    group = mk_ws_group_new(server);
    return group && mk_server_start(server) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mk_ws_group_free(group);
    mk_server_free(server);
    return 0;
}

int main(void)
{
#define ROW(name, call, result) cmocka_unit_test(name),
    static const struct CMUnitTest tests[] = {
        CALLS(ROW) cmocka_unit_test(a_handler_without_a_spec_answers_500),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
