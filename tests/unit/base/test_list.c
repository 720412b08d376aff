/* SPDX-License-Identifier: Apache-2.0 */
#include "base_test.h"

#include "base/list.h"

struct item {
    int value;
    struct mk_list node;
};

static struct item *item_of(struct mk_list *node)
{
    return (struct item *)(void *)((char *)node - offsetof(struct item, node));
}

/** The values of a list as text, walked both ways. */
static const char *values(struct mk_list *head)
{
    static char text[64];
    size_t n = 0;
    int count = 0;

    text[0] = '\0';
    MK_LIST_EACH (head, it) {
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%d ", item_of(it)->value);
        count++;
    }
    for (struct mk_list *it = head->prev; it != head; it = it->prev)
        count--;
    assert_int_equal(count, 0);
    return text;
}

static void adds_and_removes(void **state)
{
    struct item items[3] = {{.value = 1}, {.value = 2}, {.value = 3}};
    struct mk_list head;

    (void)state;
    mk_list_init(&head);
    assert_true(mk_list_is_empty(&head));
    for (int i = 0; i < 3; i++) {
        mk_list_init(&items[i].node);
        assert_false(mk_list_is_linked(&items[i].node));
        mk_list_add_tail(&head, &items[i].node);
        assert_true(mk_list_is_linked(&items[i].node));
    }
    assert_string_equal(values(&head), "1 2 3 ");
    mk_list_remove(&items[1].node);
    assert_string_equal(values(&head), "1 3 ");
    mk_list_remove(&items[1].node); /* twice is harmless */
    assert_string_equal(values(&head), "1 3 ");
    mk_list_remove(&items[0].node);
    mk_list_remove(&items[2].node);
    assert_true(mk_list_is_empty(&head));
}

static void splices(void **state)
{
    struct item items[4] = {{.value = 1}, {.value = 2}, {.value = 3}, {.value = 4}};
    struct mk_list to, from;

    (void)state;
    mk_list_init(&to);
    mk_list_init(&from);
    mk_list_splice_tail(&to, &from);
    assert_true(mk_list_is_empty(&to));
    mk_list_add_tail(&from, &items[0].node);
    mk_list_add_tail(&from, &items[1].node);
    mk_list_splice_tail(&to, &from); /* into an empty list */
    assert_string_equal(values(&to), "1 2 ");
    assert_true(mk_list_is_empty(&from));
    mk_list_add_tail(&from, &items[2].node);
    mk_list_add_tail(&from, &items[3].node);
    mk_list_splice_tail(&to, &from);
    assert_string_equal(values(&to), "1 2 3 4 ");
    assert_true(mk_list_is_empty(&from));
}

static void a_walk_may_remove_where_it_is(void **state)
{
    struct item items[4] = {{.value = 1}, {.value = 2}, {.value = 3}, {.value = 4}};
    struct mk_list head;

    (void)state;
    mk_list_init(&head);
    for (int i = 0; i < 4; i++)
        mk_list_add_tail(&head, &items[i].node);
    MK_LIST_EACH (&head, it) {
        if (item_of(it)->value % 2 == 0)
            mk_list_remove(it);
    }
    assert_string_equal(values(&head), "1 3 ");
    MK_LIST_EACH (&head, it)
        mk_list_remove(it);
    assert_true(mk_list_is_empty(&head));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_and_removes),
        cmocka_unit_test(splices),
        cmocka_unit_test(a_walk_may_remove_where_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
