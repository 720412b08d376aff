/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "objects/session/session_file.h"
#include "kit/sessions/sessions.h"

#include <signal.h>
#include <sys/resource.h>

enum { NOW = 1000000 };

static struct sessions *store_of(size_t sessions)
{
    const struct sessions_limits limits = {sessions, SESSIONS_BYTES_MAX, SESSION_IDLE_S, false};

    return sessions_new(&limits);
}

static struct session_id begin(struct sessions *store, const char *old)
{
    struct session_id id;

    assert_int_equal(sessions_begin(store, old, NOW, &id), 0);
    assert_int_equal(strlen(id.text), SESSION_ID_LEN);
    return id;
}

static void assert_value(struct sessions *store, const char *id, const char *name, int64_t now,
                         const char *expected)
{
    char *value = sessions_get(store, id, name, now);

    assert_int_equal(sessions_has(store, id, name, now), expected != NULL);
    if (expected)
        assert_string_equal(value, expected);
    else
        assert_null(value);
    free(value);
}

static void values_have_names(void **state)
{
    struct sessions *store = store_of(10);
    struct session_id id = begin(store, NULL);

    (void)state;
    assert_int_equal(sessions_put(store, id.text, "a", "1", 0, NOW), 0);
    assert_int_equal(sessions_put(store, id.text, "b", "2", 0, NOW), 0);
    assert_int_equal(sessions_put(store, id.text, "a", "3", 0, NOW), 0);
    assert_value(store, id.text, "a", NOW, "3");
    assert_value(store, id.text, "b", NOW, "2");
    assert_value(store, id.text, "c", NOW, NULL);
    assert_int_equal(sessions_remove(store, id.text, "c", NOW), -1);
    assert_int_equal(sessions_remove(store, id.text, "a", NOW), 1);
    assert_int_equal(sessions_remove(store, id.text, "b", NOW), 0);
    assert_int_equal(sessions_count(store), 0);
    assert_int_equal(sessions_put(store, id.text, "a", "1", 0, NOW), MK_E_NOENT);
    sessions_free(store);
    sessions_free(NULL);
}

static void values_expire(void **state)
{
    struct sessions *store = store_of(10);
    struct session_id id = begin(store, NULL);

    (void)state;
    assert_int_equal(sessions_put(store, id.text, "fixed", "1", NOW + 10, NOW), 0);
    assert_int_equal(sessions_put(store, id.text, "idle", "2", 0, NOW), 0);
    assert_value(store, id.text, "fixed", NOW + 9, "1");
    assert_value(store, id.text, "fixed", NOW + 10, NULL);
    assert_value(store, id.text, "idle", NOW + SESSION_IDLE_S - 1, "2");
    /* used just now: it lasts as long again */
    assert_value(store, id.text, "idle", NOW + 2 * SESSION_IDLE_S - 2, "2");
    assert_value(store, id.text, "idle", NOW + 4 * SESSION_IDLE_S, NULL);
    assert_int_equal(sessions_count(store), 0); /* its last value has gone */
    sessions_free(store);
}

static void a_new_identity_takes_the_values_along(void **state)
{
    struct sessions *store = store_of(10);
    struct session_id old = begin(store, NULL), id;

    (void)state;
    assert_int_equal(sessions_put(store, old.text, "a", "1", 0, NOW), 0);
    id = begin(store, old.text);
    assert_string_not_equal(id.text, old.text);
    assert_value(store, id.text, "a", NOW, "1");
    (void)begin(store, "00000000000000000000000000000000"); /* one that never was */
    assert_int_equal(sessions_count(store), 3);
    sessions_free(store);
}

static enum session_fit fit(struct sessions *store, const char *id, const char *name,
                            const char *value, bool *is_replaced)
{
    return sessions_fit(store, id, name, value, NOW, is_replaced);
}

static void a_value_fits_a_session(void **state)
{
    struct sessions *store = store_of(10);
    struct session_id id = begin(store, NULL);
    bool is_replaced = true;

    (void)state;
    assert_int_equal(sessions_put(store, id.text, "a", "1", 0, NOW), 0);
    assert_int_equal(fit(store, id.text, "a", "1", &is_replaced), SESSION_SAME);
    assert_int_equal(fit(store, id.text, "a", "2", &is_replaced), SESSION_CHANGED);
    assert_int_equal(fit(store, id.text, "b", "1", &is_replaced), SESSION_NEW_NAME);
    assert_false(is_replaced);
    (void)begin(store, id.text);
    assert_int_equal(fit(store, id.text, "a", "1", &is_replaced), SESSION_SAME);
    assert_true(is_replaced);
    assert_int_equal(fit(store, "0", "a", "1", &is_replaced), SESSION_NONE);
    assert_false(is_replaced);
    sessions_free(store);
}

static void the_old_identity_has_what_it_had_for_a_while(void **state)
{
    const int64_t end = NOW + SESSION_REPLACED_S;
    struct sessions *store = store_of(10);
    struct session_id old = begin(store, NULL), id;

    (void)state;
    assert_int_equal(sessions_put(store, old.text, "cart", "1", 0, NOW), 0);
    id = begin(store, old.text);
    assert_int_equal(sessions_put(store, id.text, "user", "ann", 0, NOW), 0);
    assert_value(store, old.text, "cart", end - 1, "1");
    assert_value(store, old.text, "user", end - 1, NULL); /* who has planted it */
    assert_int_equal(sessions_put(store, old.text, "cart", "2", 0, end - 1), 0);
    assert_value(store, id.text, "cart", end - 1, "2");
    assert_value(store, old.text, "cart", end, NULL);
    assert_int_equal(sessions_count(store), 1);
    assert_value(store, id.text, "cart", end, "2");
    assert_value(store, id.text, "user", end, "ann");
    sessions_free(store);
}

static void the_old_identity_does_not_say_who_has_logged_in(void **state)
{
    struct sessions *store = store_of(10);
    struct session_id planted = begin(store, NULL), id;

    (void)state;
    assert_int_equal(sessions_put(store, planted.text, "user", "mallory", 0, NOW), 0);
    id = begin(store, planted.text);
    assert_int_equal(sessions_put(store, id.text, "user", "alice", 0, NOW), 0);
    assert_int_equal(sessions_put(store, id.text, "cart", "1", 0, NOW), 0);
    assert_int_equal(sessions_put(store, planted.text, "user", "mallory", 0, NOW), 0);
    assert_int_equal(sessions_put(store, planted.text, "cart", "2", 0, NOW), 0);
    assert_value(store, id.text, "user", NOW, "alice");
    assert_value(store, id.text, "cart", NOW, "1");
    sessions_free(store);
}

static void two_requests_replace_the_same_identity(void **state)
{
    struct sessions *store = store_of(10);
    struct session_id old = begin(store, NULL), first, second;

    (void)state;
    assert_int_equal(sessions_put(store, old.text, "user", "ann", 0, NOW), 0);
    first = begin(store, old.text);
    second = begin(store, old.text);
    assert_value(store, first.text, "user", NOW + 60, "ann");
    assert_value(store, second.text, "user", NOW + 60, "ann");
    sessions_free(store);
}

static void who_logs_out_has_done_so_under_both_identities(void **state)
{
    struct sessions *store = store_of(10);
    struct session_id old, id;

    (void)state;
    for (int late = 0; late < 2; late++) {
        old = begin(store, NULL);
        assert_int_equal(sessions_put(store, old.text, "user", "ann", 0, NOW), 0);
        id = begin(store, old.text);
        assert_int_equal(sessions_put(store, id.text, "cart", "1", 0, NOW), 0);
        assert_int_equal(sessions_remove(store, late ? old.text : id.text, "user", NOW), 1);
        assert_value(store, old.text, "user", NOW, NULL);
        assert_value(store, id.text, "user", NOW, NULL);
        assert_value(store, id.text, "cart", NOW, "1");
    }
    sessions_free(store);
}

/* However often the identity was replaced within the half minute in which old ones live. */
static void a_removal_reaches_all_identities(void **state)
{
    enum { MANY = 14 };
    struct session_id ids[MANY];

    (void)state;
    for (int by = 0; by < MANY; by++) {
        struct sessions *store = store_of(50);

        ids[0] = begin(store, NULL);
        assert_int_equal(sessions_put(store, ids[0].text, "user", "ann", 0, NOW), 0);
        assert_int_equal(sessions_put(store, ids[0].text, "cart", "1", 0, NOW), 0);
        for (int i = 1; i < MANY; i++)
            ids[i] = begin(store, i == 3 ? ids[1].text : ids[i - 1].text); /* two from one, once */
        assert_int_equal(sessions_put(store, ids[4].text, "cart", "2", 0, NOW), 0);
        assert_value(store, ids[MANY - 1].text, "cart", NOW, "2");
        assert_int_equal(sessions_remove(store, ids[by].text, "user", NOW), 1);
        for (int i = 0; i < MANY; i++)
            assert_value(store, ids[i].text, "user", NOW, NULL);
        assert_value(store, ids[2].text, "cart", NOW, "1");
        sessions_free(store);
    }
}

/* Those that were replaced longest ago go. */
static void identities_of_one_session_are_few(void **state)
{
    struct sessions *store = store_of(100);
    struct session_id first = begin(store, NULL), second, id;

    (void)state;
    assert_int_equal(sessions_put(store, first.text, "user", "ann", 0, NOW), 0);
    second = id = begin(store, first.text);
    for (int i = 0; i < 40; i++)
        id = begin(store, id.text);
    assert_int_equal(sessions_count(store), 16);
    assert_value(store, first.text, "user", NOW, NULL);
    assert_value(store, second.text, "user", NOW, NULL);
    assert_value(store, id.text, "user", NOW, "ann");
    assert_int_equal(sessions_remove(store, id.text, "user", NOW), 0);
    assert_int_equal(sessions_count(store), 0);
    sessions_free(store);
}

static void sessions_that_lose_least_go_first(void **state)
{
    struct sessions *store = store_of(4);
    struct session_id user = begin(store, NULL), old, id, light;

    (void)state;
    assert_int_equal(sessions_put(store, user.text, "user", "1", 0, NOW), 0);
    light = begin(store, NULL);
    assert_int_equal(sessions_put(store, light.text, "_csrf", "1", 0, NOW), 0);
    old = begin(store, NULL);
    assert_int_equal(sessions_put(store, old.text, "cart", "1", 0, NOW), 0);
    id = begin(store, old.text);
    for (int i = 0; i < 20; i++) {
        struct session_id stranger = begin(store, NULL);

        assert_int_equal(sessions_put(store, stranger.text, "_csrf", "1", 0, NOW), 0);
        assert_value(store, old.text, "cart", NOW, NULL);
    }
    assert_value(store, light.text, "_csrf", NOW, NULL);
    assert_value(store, user.text, "user", NOW, "1");
    assert_value(store, id.text, "cart", NOW, "1");
    assert_int_equal(sessions_count(store), 4);
    sessions_free(store);
}

static void what_is_no_identity_is_unknown(void **state)
{
    static const char *const wrong[] = {"", "0", "../../../../../../../etc/passwd",
                                        "0000000000000000000000000000000g",
                                        "000000000000000000000000000000000"};
    struct sessions *store = store_of(10);

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(wrong); i++) {
        assert_value(store, wrong[i], "a", NOW, NULL);
        assert_int_equal(sessions_put(store, wrong[i], "a", "1", 0, NOW), MK_E_NOENT);
        assert_int_equal(sessions_remove(store, wrong[i], "a", NOW), -1);
    }
    sessions_free(store);
}

static void the_one_that_was_unused_longest_goes(void **state)
{
    struct sessions *store = store_of(3);
    struct session_id ids[4];

    (void)state;
    for (int i = 0; i < 3; i++) {
        ids[i] = begin(store, NULL);
        assert_int_equal(sessions_put(store, ids[i].text, "a", "1", 0, NOW), 0);
    }
    assert_value(store, ids[0].text, "a", NOW, "1"); /* so the second is unused longest */
    ids[3] = begin(store, NULL);
    assert_int_equal(sessions_count(store), 3);
    assert_value(store, ids[0].text, "a", NOW, "1");
    assert_value(store, ids[1].text, "a", NOW, NULL);
    assert_value(store, ids[2].text, "a", NOW, "1");
    sessions_free(store);
}

static void values_are_bounded(void **state)
{
    struct sessions *store = store_of(SESSIONS_MAX);
    struct session_id id = begin(store, NULL);
    char *large = calloc(1, SESSION_VALUE_MAX + 1), name[16];

    (void)state;
    memset(large, 'x', SESSION_VALUE_MAX);
    assert_int_equal(sessions_put(store, id.text, "a", large, 0, NOW), MK_E_LIMIT);
    for (int i = 0; i <= SESSION_NAMES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "n%d", i);
        assert_int_equal(sessions_put(store, id.text, name, "1", 0, NOW),
                         i < SESSION_NAMES_MAX ? 0 : MK_E_LIMIT);
    }
    assert_int_equal(sessions_put(store, id.text, "n0", "2", 0, NOW), 0); /* replaced */
    free(large);
    sessions_free(store);
}

static void the_store_is_bounded_in_bytes(void **state)
{
    enum { VALUE = SESSION_VALUE_MAX - 10, MANY = SESSIONS_BYTES_MAX / VALUE + 20 };
    struct sessions *store = store_of(SESSIONS_MAX);
    char *large = calloc(1, VALUE + 1);

    (void)state;
    memset(large, 'x', VALUE);
    for (int i = 0; i < MANY; i++) {
        struct session_id id = begin(store, NULL);

        assert_int_equal(sessions_put(store, id.text, "a", large, 0, NOW), 0);
    }
    assert_in_range(sessions_count(store), 1, SESSIONS_BYTES_MAX / VALUE + 1);
    free(large);
    sessions_free(store);
}

static void *use(void *arg)
{
    for (int i = 0; i < 200; i++) {
        struct session_id id = begin(arg, NULL);

        (void)sessions_put(arg, id.text, "a", "1", 0, NOW);
        id = begin(arg, id.text);
        free(sessions_get(arg, id.text, "a", NOW));
        (void)sessions_remove(arg, id.text, "a", NOW);
    }
    return NULL;
}

static void workers_share_it(void **state)
{
    struct sessions *store = store_of(8);
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use, store), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_in_range(sessions_count(store), 0, 8);
    sessions_free(store);
}

/* Files may have so many bytes, as on a disk that is full; 0: as many as before. */
static void a_store_has_bounds_of_its_own(void **state)
{
    const struct sessions_limits limits = {100, 1000, 60, false};
    struct sessions *store = sessions_new(&limits);
    char text[301];
    struct session_id first;

    (void)state;
    memset(text, 'x', 300);
    text[300] = '\0';
    first = begin(store, NULL);
    assert_int_equal(sessions_put(store, first.text, "a", text, 0, NOW), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sessions_put(store, begin(store, NULL).text, "a", text, 0, NOW), 0);
    assert_value(store, first.text, "a", NOW, NULL);
    assert_int_equal(sessions_count(store), 3);
    first = begin(store, NULL);
    assert_int_equal(sessions_put(store, first.text, "b", "1", 0, NOW), 0);
    assert_value(store, first.text, "b", NOW + 59, "1");
    assert_value(store, first.text, "b", NOW + 59 + 60, NULL);
    sessions_free(store);
}

static struct sessions *open_whole(void)
{
    const struct sessions_limits limits = {SESSIONS_MAX, SESSIONS_BYTES_MAX, 60, true};

    return sessions_new(&limits);
}

static void one_use_is_of_all_values(void **state)
{
    struct sessions *store = open_whole();
    const struct session_id id = begin(store, NULL);
    bool is_replaced;

    (void)state;
    assert_int_equal(sessions_put(store, id.text, "a", "1", 0, NOW), 0);
    assert_int_equal(sessions_put(store, id.text, "brief", "1", NOW + 10, NOW), 0);
    assert_int_equal(sessions_put(store, id.text, "b", "2", 0, NOW + 50), 0);
    assert_value(store, id.text, "b", NOW + 100, "2");
    assert_value(store, id.text, "a", NOW + 150, "1");
    assert_value(store, id.text, "brief", NOW + 150, NULL);
    assert_true(sessions_is_there(store, id.text, NOW + 209, &is_replaced));
    assert_false(is_replaced);
    assert_false(sessions_is_there(store, id.text, NOW + 210, &is_replaced));
    assert_int_equal(sessions_count(store), 0);
    sessions_free(store);
}

static void an_identity_that_was_replaced_is_known_and_has_nothing(void **state)
{
    struct sessions *store = open_whole();
    const struct session_id old = begin(store, NULL);
    struct session_id id;
    bool is_replaced;

    (void)state;
    assert_int_equal(sessions_put(store, old.text, "cart", "1", 0, NOW), 0);
    assert_int_equal(sessions_put(store, old.text, "user", "ann", 0, NOW), 0);
    id = begin(store, old.text);
    assert_value(store, old.text, "cart", NOW, NULL);
    assert_value(store, old.text, "user", NOW, NULL);
    assert_true(sessions_is_there(store, old.text, NOW + SESSION_REPLACED_S - 1, &is_replaced));
    assert_true(is_replaced);
    assert_int_equal(sessions_put(store, old.text, "cart", "2", 0, NOW), 0);
    assert_value(store, id.text, "cart", NOW, "1");
    assert_value(store, id.text, "user", NOW, "ann");
    assert_false(sessions_is_there(store, old.text, NOW + SESSION_REPLACED_S, &is_replaced));
    assert_true(sessions_is_there(store, id.text, NOW + SESSION_REPLACED_S, &is_replaced));
    sessions_free(store);
}

static void an_end_is_that_of_all_identities(void **state)
{
    struct sessions *store = open_whole();
    const struct session_id old = begin(store, NULL), another = begin(store, NULL);
    struct session_id id;
    bool is_replaced;

    (void)state;
    assert_int_equal(sessions_put(store, old.text, "user", "ann", 0, NOW), 0);
    assert_int_equal(sessions_put(store, another.text, "user", "bob", 0, NOW), 0);
    id = begin(store, old.text);
    assert_true(sessions_end(store, old.text, NOW));
    assert_false(sessions_is_there(store, id.text, NOW, &is_replaced));
    assert_false(sessions_is_there(store, old.text, NOW, &is_replaced));
    assert_false(sessions_end(store, id.text, NOW));
    assert_value(store, another.text, "user", NOW, "bob");
    assert_int_equal(sessions_count(store), 1);
    sessions_free(store);
}

static void bound_files(rlim_t bytes)
{
    struct rlimit limit;

    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static struct sessions *open_kept(const char *path)
{
    char why[256];
    struct mk_duda_session_file *file =
        mk_duda_session_file_open(path, "site/service", why, sizeof(why));
    struct sessions *store = store_of(10);

    if (!file) {
        print_message("%s\n", why);
        sessions_free(store);
        return NULL;
    }
    sessions_keep(store, &mk_duda_session_file, file, NOW);
    return store;
}

static void values_survive_and_a_full_disk_is_an_error(void **state)
{
    char folder[] = "kept-XXXXXX", path[64], key[SESSION_ID_LEN + 1];
    struct session_id id, other;
    struct sessions *store;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/sessions", folder);
    store = open_kept(path);
    if (store) {
        id = begin(store, NULL);
        assert_int_equal(sessions_put(store, id.text, "a", "1", 0, NOW), 0);
        assert_int_equal(sessions_put(store, id.text, "late", "1", NOW + 5, NOW), 0);
        other = begin(store, NULL);
        bound_files(100);
        assert_int_equal(sessions_put(store, id.text, "a", "2", 0, NOW), MK_E_PEER);
        assert_int_equal(sessions_put(store, other.text, "b", "2", 0, NOW), MK_E_PEER);
        bound_files(0);
        assert_value(store, id.text, "a", NOW, "1");
        assert_value(store, other.text, "b", NOW, NULL);
        memcpy(key, sessions_key(store), sizeof(key));
        sessions_free(store);
        store = open_kept(path);
        assert_non_null(store);
        assert_string_equal(sessions_key(store), key);
        assert_value(store, id.text, "a", NOW, "1");
        assert_value(store, id.text, "late", NOW + 4, "1");
        assert_value(store, id.text, "late", NOW + 5, NULL);
        sessions_free(store);
    }
    (void)unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_names),
        cmocka_unit_test(values_expire),
        cmocka_unit_test(a_new_identity_takes_the_values_along),
        cmocka_unit_test(a_value_fits_a_session),
        cmocka_unit_test(the_old_identity_has_what_it_had_for_a_while),
        cmocka_unit_test(the_old_identity_does_not_say_who_has_logged_in),
        cmocka_unit_test(two_requests_replace_the_same_identity),
        cmocka_unit_test(who_logs_out_has_done_so_under_both_identities),
        cmocka_unit_test(a_removal_reaches_all_identities),
        cmocka_unit_test(identities_of_one_session_are_few),
        cmocka_unit_test(sessions_that_lose_least_go_first),
        cmocka_unit_test(what_is_no_identity_is_unknown),
        cmocka_unit_test(a_store_has_bounds_of_its_own),
        cmocka_unit_test(one_use_is_of_all_values),
        cmocka_unit_test(an_identity_that_was_replaced_is_known_and_has_nothing),
        cmocka_unit_test(an_end_is_that_of_all_identities),
        cmocka_unit_test(the_one_that_was_unused_longest_goes),
        cmocka_unit_test(values_are_bounded),
        cmocka_unit_test(the_store_is_bounded_in_bytes),
        cmocka_unit_test(workers_share_it),
        cmocka_unit_test(values_survive_and_a_full_disk_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
