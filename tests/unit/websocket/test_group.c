/* SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

static struct mk_server *const server = (struct mk_server *)0x1000; /* for the scene */

static struct mk_ws_group *make(struct scene *s)
{
    struct mk_ws_group *g;

    scene_open(s);
    g = mk_ws_group_new(server);
    assert_non_null(g);
    return g;
}

static void end(struct scene *s, struct mk_ws_group *g)
{
    mk_ws_group_free(g);
    assert_int_equal(s->nhandles, 0);
    scene_close(s);
}

static void members_alone_get_a_message(void **state)
{
    struct scene s;
    struct mk_ws_group *g = make(&s);

    (void)state;
    s.credit = 100;
    assert_int_equal(mk_ws_group_send(g, MK_WS_TEXT, MK_STR("none")), 0);
    assert_int_equal(mk_ws_group_join(g, &s.ws), 0);
    assert_int_equal(mk_ws_group_send(g, MK_WS_TEXT, MK_STR("one")), 0);
    assert_int_equal(mk_ws_group_send(g, MK_WS_BINARY, MK_STR("two")), 0);
    SCENE_EXPECT(&s, "\x81\x03one\x82\x03two");
    mk_ws_group_leave(g, &s.ws);
    assert_int_equal(mk_ws_group_send(g, MK_WS_TEXT, MK_STR("none")), 0);
    SCENE_EXPECT(&s, "");
    end(&s, g);
}

static void a_sender_does_not_get_what_is_for_others(void **state)
{
    struct scene s;
    struct mk_ws_group *g = make(&s);
    struct mk_ws other = s.ws;

    (void)state;
    s.credit = 100;
    assert_int_equal(mk_ws_group_join(g, &s.ws), 0);
    assert_int_equal(mk_ws_group_send_others(g, &s.ws, MK_WS_TEXT, MK_STR("one")), 0);
    SCENE_EXPECT(&s, "");
    assert_int_equal(mk_ws_group_send_others(g, &other, MK_WS_TEXT, MK_STR("two")), 0);
    SCENE_EXPECT(&s, "\x81\x03two");
    ws_handle_end(&other);
    ws_handle_end(&s.ws);
    mk_ws_group_leave(g, &s.ws);
    end(&s, g);
}

static void a_second_join_and_a_second_leave_change_nothing(void **state)
{
    struct scene s;
    struct mk_ws_group *g = make(&s);

    (void)state;
    s.credit = 100;
    assert_int_equal(mk_ws_group_join(g, &s.ws), 0);
    assert_int_equal(mk_ws_group_join(g, &s.ws), 0);
    assert_int_equal(mk_ws_group_send(g, MK_WS_TEXT, MK_STR("one")), 0);
    SCENE_EXPECT(&s, "\x81\x03one");
    mk_ws_group_leave(g, &s.ws);
    mk_ws_group_leave(g, &s.ws);
    end(&s, g);
}

static void a_connection_that_ends_leaves_all_groups(void **state)
{
    struct scene s;
    struct mk_ws_group *g = make(&s), *other = mk_ws_group_new(server);

    (void)state;
    assert_non_null(other);
    assert_int_equal(mk_ws_group_join(g, &s.ws), 0);
    assert_int_equal(mk_ws_group_join(other, &s.ws), 0);
    mk_ws_group_free(other); /* its member holds it */
    ws_groups_end(&s.ws);
    assert_int_equal(s.nhandles, 1);
    assert_int_equal(mk_ws_group_send(g, MK_WS_TEXT, MK_STR("none")), 0);
    end(&s, g);
}

static void a_group_outlives_its_server(void **state)
{
    struct scene s;
    struct mk_ws_group *g = make(&s);

    (void)state;
    s.has_ended = true;
    assert_int_equal(mk_ws_group_send(g, MK_WS_TEXT, MK_STR("late")), MK_E_PEER);
    end(&s, g);
}

/* It may have more workers than the group has lists. */
static void a_connection_of_another_server_is_refused(void **state)
{
    struct scene s;
    struct mk_ws_group *g = make(&s);

    (void)state;
    s.is_foreign = true;
    s.index = SCENE_WORKERS;
    assert_int_equal(mk_ws_group_join(g, &s.ws), MK_E_INVALID);
    mk_ws_group_leave(g, &s.ws);
    assert_null(s.ws.groups);
    end(&s, g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_alone_get_a_message),
        cmocka_unit_test(a_sender_does_not_get_what_is_for_others),
        cmocka_unit_test(a_second_join_and_a_second_leave_change_nothing),
        cmocka_unit_test(a_connection_that_ends_leaves_all_groups),
        cmocka_unit_test(a_group_outlives_its_server),
        cmocka_unit_test(a_connection_of_another_server_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
