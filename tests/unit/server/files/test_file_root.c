/* SPDX-License-Identifier: Apache-2.0 */
#include "folder.h"
#include "plan.h"

#include "base/limits.h"
#include "base/str.h"
#include "core/clock.h"
#include "core/fd.h"
#include "server/files/files.h"

#include <errno.h>
#include <pwd.h>

/* The directories of users, with a user database and a clock of the test's own. */

static char dir[32];
static struct plan plan;
static struct mk_files files;
static const struct mk_clock clock_now = {.wall_s = 4000000000};
static int64_t now_ms;
static unsigned nasked;    /* how often the database was asked */
static bool out_of_order;  /* it cannot be asked */
static const char *newest; /* a user who was added later */

/* In the place of the C library's. */
int getpwnam_r(const char *name, struct passwd *pw, char *buffer, size_t size,
               struct passwd **found)
{
    bool is_known = strcmp(name, "alice") == 0 || strcmp(name, "toor") == 0 ||
                    (newest && strcmp(name, newest) == 0);

    nasked++;
    *found = NULL;
    if (out_of_order)
        return EIO;
    if (!is_known)
        return 0;
    (void)snprintf(buffer, size, "/home/%s", name);
    *pw = (struct passwd){.pw_dir = buffer, .pw_uid = strcmp(name, "toor") == 0 ? 0 : 4000};
    *found = pw;
    return 0;
}

static struct mk_file_root *root_of(const char *user)
{
    return mk_files_user_root(&files, &plan.snapshot.sites[0], mk_str_from(user), now_ms);
}

/* @return how often the database was asked for it. */
static unsigned miss(const char *user)
{
    unsigned before = nasked;

    assert_null(root_of(user));
    return nasked - before;
}

static int set_up(void **state)
{
    static struct row rows[] = {
        {"HOST", "DocumentRoot", dir, 0}, {"SERVER", "UserDir", "www", 0}, {NULL, NULL, NULL, 0}};

    (void)state;
    dir_make(dir);
    plan_make(&plan, rows);
    assert_string_equal(plan_faults(&plan), "");
    assert_int_equal(mk_files_init(&files, &plan.snapshot, 20, mk_file_has_openat2(), &clock_now),
                     0);
    now_ms = 100000;
    nasked = 0;
    out_of_order = false;
    newest = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mk_files_fini(&files);
    plan_free(&plan);
    dir_remove(dir);
    assert_int_equal(mk_heap_live(), 0);
    return 0;
}

static void users_are_who_they_say(void **state)
{
    struct mk_file_root *root = root_of("alice");

    (void)state;
    assert_non_null(root);
    assert_string_equal(root->path, "/home/alice");
    assert_string_equal(root->beneath, "www");
    assert_int_equal(root->owner, 4000);
    assert_ptr_equal(root_of("alice"), root);
    assert_int_equal(nasked, 1);
}

static void uid_0_has_no_directory(void **state)
{
    (void)state;
    assert_null(root_of("toor"));
}

static void what_is_no_name_is_not_looked_up(void **state)
{
    static const char *const wrong[] = {
        "",    ".",  "..",
        "a/b", "-x", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(wrong); i++) {
        if (miss(wrong[i]) != 0)
            fail_msg("\"%s\" was looked up", wrong[i]);
    }
}

static void a_stranger_is_asked_for_once_in_some_seconds(void **state)
{
    (void)state;
    assert_int_equal(miss("stranger"), 1);
    assert_int_equal(miss("stranger"), 0);
    assert_int_equal(miss("strange"), 1);
    assert_int_equal(miss("toor"), 1);
    assert_int_equal(miss("toor"), 0);
    now_ms += 4999;
    assert_int_equal(miss("stranger"), 0);
    newest = "stranger";
    now_ms += 1;
    assert_non_null(root_of("stranger"));
}

static void strangers_are_bounded(void **state)
{
    char name[16];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof(name), "name%d", i);
        assert_int_equal(miss(name), 1);
        assert_true(files.nstrangers <= MK_LIMIT_STRANGERS);
    }
    assert_int_equal(miss("name999"), 0);
    assert_int_equal(miss("name872"), 0);
    assert_int_equal(miss("name871"), 1); /* the oldest went first */
}

static void a_failed_look_up_says_nothing_of_the_user(void **state)
{
    (void)state;
    out_of_order = true;
    assert_int_equal(miss("alice"), 1);
    out_of_order = false;
    assert_non_null(root_of("alice"));
}

static void without_memory_strangers_are_strangers(void **state)
{
    (void)state;
    mk_heap_fail_after(0);
    assert_int_equal(miss("stranger"), 1);
    mk_heap_fail_after(0);
    assert_int_equal(miss("alice"), 1);
    mk_heap_fail_after(-1);
    assert_non_null(root_of("alice"));
}

static void names_of_users_are_bounded(void **state)
{
    char name[MK_LIMIT_USER_NAME + 1];

    (void)state;
    memset(name, 'x', sizeof(name));
    name[MK_LIMIT_USER_NAME - 1] = '\0'; /* its NUL counts */
    newest = name;
    assert_non_null(root_of(name));
    name[MK_LIMIT_USER_NAME - 1] = 'x';
    name[MK_LIMIT_USER_NAME] = '\0';
    assert_int_equal(miss(name), 0);
}

/* The directory that was unused for longest goes; when it is asked for again, the user is looked up again. */
static void open_directories_are_bounded(void **state)
{
    char name[16];

    (void)state;
    newest = name;
    for (int i = 0; i <= MK_LIMIT_USER_ROOTS; i++) {
        (void)snprintf(name, sizeof(name), "name%d", i);
        assert_non_null(root_of(name));
        assert_non_null(root_of("alice")); /* used again and again: stays */
        assert_true(files.nroots <= MK_LIMIT_USER_ROOTS);
    }
    assert_int_equal(files.nroots, MK_LIMIT_USER_ROOTS);
    nasked = 0;
    assert_non_null(root_of("alice"));
    assert_int_equal(nasked, 0);
    (void)snprintf(name, sizeof(name), "name2");
    assert_non_null(root_of(name));
    assert_int_equal(nasked, 0);
    (void)snprintf(name, sizeof(name), "name0");
    assert_non_null(root_of(name));
    assert_int_equal(nasked, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(users_are_who_they_say, set_up, tear_down),
        cmocka_unit_test_setup_teardown(uid_0_has_no_directory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_name_is_not_looked_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_stranger_is_asked_for_once_in_some_seconds, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(strangers_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_of_users_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(open_directories_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_failed_look_up_says_nothing_of_the_user, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(without_memory_strangers_are_strangers, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
