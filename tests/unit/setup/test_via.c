/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

/* How a transport is found by its name, and which one a Listen line gets. */

static const struct mk_transport wire = {.name = "wire"}, rope = {.name = "rope"};
static const struct mk_plugin plain = {MK_PLUGIN("plain", "")};
static const struct mk_plugin of_wire = {MK_PLUGIN("wire", ""), .transport = &wire};
static const struct mk_plugin of_rope = {MK_PLUGIN("rope", ""), .transport = &rope};

static void transports_are_found_by_name(void **state)
{
    struct mk_loaded loaded[] = {{.plugin = &plain}, {.plugin = &of_wire}, {.plugin = &of_rope}};
    struct mk_snapshot s = {.plugins = loaded, .nplugins = 3};
    struct mk_via via;

    (void)state;
    assert_true(mk_via_find(&via, &s, MK_STR("Wire")));
    assert_ptr_equal(via.transport, &wire);
    assert_true(mk_via_find(&via, &s, MK_STR("ROPE")));
    assert_ptr_equal(via.transport, &rope);
    assert_int_equal(via.plugin, 2);
    assert_false(mk_via_find(&via, &s, MK_STR("plain")));
    assert_false(mk_via_find(&via, &s, MK_STR("ropes")));
}

static void each_line_has_its_own_or_the_usual_transport(void **state)
{
    struct mk_loaded loaded[] = {{.plugin = &of_wire}, {.plugin = &of_rope}};
    struct mk_listen listens[] = {{.transport = NULL}, {.transport = "wire"}};
    struct mk_snapshot s = {.plugins = loaded,
                            .nplugins = 2,
                            .set = {.listens = listens, .nlistens = 2, .transport = "rope"}};
    const struct mk_snapshot_source source = {.nsites = 0};
    struct mk_setup ctx = {.faults = NULL};

    (void)state;
    mk_via_choose(&s, &source, &ctx);
    assert_ptr_equal(listens[0].via.transport, &rope);
    assert_ptr_equal(listens[1].via.transport, &wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transports_are_found_by_name),
        cmocka_unit_test(each_line_has_its_own_or_the_usual_transport),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
