/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "packages/kv/store.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static struct unqlite *new_store(size_t bytes, size_t entries, int evicts)
{
    const struct kv_options options = {
        .max_bytes = bytes, .max_entries = entries, .evicts = evicts};
    struct unqlite *store = kv_new(&options);

    assert_non_null(store);
    return store;
}

static int put(struct unqlite *store, const char *key, const char *data)
{
    return kv_put(store, key, (int)strlen(key), data, strlen(data), 0, false);
}

static void assert_data(struct unqlite *store, const char *key, const char *expected)
{
    const struct kv_entry *e = kv_find(store, key, (int)strlen(key));

    assert_int_equal(e != NULL, expected != NULL);
    if (!e || !expected)
        return;
    assert_int_equal(e->len, strlen(expected));
    assert_memory_equal(e->data, expected, e->len);
}

static void many_entries(void **state)
{
    struct unqlite *store = new_store(0, 0, 0);
    char key[16];

    (void)state;
    for (int i = 0; i < 5000; i++) {
        (void)snprintf(key, sizeof(key), "%d", i % 4000);
        assert_int_equal(put(store, key, key), UNQLITE_OK);
    }
    assert_int_equal(store->map.count, 4000);
    for (int i = 0; i < 4000; i += 2) {
        (void)snprintf(key, sizeof(key), "%d", i);
        kv_remove(store, kv_find(store, key, (int)strlen(key)));
    }
    for (int i = 0; i < 4000; i++) {
        (void)snprintf(key, sizeof(key), "%d", i);
        assert_data(store, key, i % 2 ? key : NULL);
    }
    kv_free(store);
    kv_free(NULL);
}

static void a_full_store_refuses(void **state)
{
    struct unqlite *store = new_store(0, 2, 0);

    (void)state;
    assert_int_equal(put(store, "a", "1"), UNQLITE_OK);
    assert_int_equal(put(store, "b", "2"), UNQLITE_OK);
    assert_int_equal(put(store, "c", "3"), UNQLITE_NOMEM);
    assert_int_equal(put(store, "a", "9"), UNQLITE_OK); /* replaced */
    assert_data(store, "a", "9");
    assert_data(store, "c", NULL);
    kv_free(store);
}

static void a_full_store_evicts_the_unused(void **state)
{
    struct unqlite *store = new_store(0, 3, 1);

    (void)state;
    assert_int_equal(put(store, "a", "1"), UNQLITE_OK);
    assert_int_equal(put(store, "b", "2"), UNQLITE_OK);
    assert_int_equal(put(store, "c", "3"), UNQLITE_OK);
    assert_data(store, "a", "1");
    assert_int_equal(put(store, "d", "4"), UNQLITE_OK);
    assert_data(store, "b", NULL);
    assert_data(store, "a", "1");
    assert_data(store, "c", "3");
    assert_data(store, "d", "4");
    kv_free(store);
}

static void bytes_are_bounded(void **state)
{
    enum { ROOM = 10000 };
    struct unqlite *store = new_store(ROOM, 0, 1);
    char *large = calloc(1, 2 * ROOM);
    size_t before;

    (void)state;
    memset(large, 'x', 4000);
    for (int i = 0; i < 100; i++) {
        char key[8];

        (void)snprintf(key, sizeof(key), "%d", i);
        assert_int_equal(put(store, key, large), UNQLITE_OK);
        assert_true(store->bytes <= ROOM);
    }
    assert_int_equal(store->map.count, 2);
    before = store->map.count;
    /* what can never fit removes nothing */
    memset(large, 'x', 2 * ROOM - 1);
    assert_int_equal(put(store, "x", large), UNQLITE_NOMEM);
    assert_int_equal(kv_put(store, "99", 2, large, 2 * ROOM - 1, 0, true), UNQLITE_NOMEM);
    assert_int_equal(store->map.count, before);
    large[4000] = '\0';
    assert_data(store, "99", large);
    /* an entry that grows makes others go, not itself */
    assert_int_equal(kv_put(store, "99", 2, large, 4000, 0, true), UNQLITE_OK);
    assert_int_equal(store->map.count, 1);
    free(large);
    kv_free(store);
}

static void entries_expire(void **state)
{
    struct unqlite *store = new_store(0, 2, 0);

    (void)state;
    assert_int_equal(kv_put(store, "past", 4, "x", 1, kv_now(), false), UNQLITE_OK);
    assert_int_equal(kv_put(store, "later", 5, "x", 1, kv_now() + 1000000, false), UNQLITE_OK);
    assert_int_equal(put(store, "new", "x"), UNQLITE_OK); /* in the place of "past" */
    assert_data(store, "past", NULL);
    assert_data(store, "later", "x");
    assert_int_equal(store->map.count, 2);
    kv_free(store);
}

/* ---- the file ---- */

static char path[4096];

static int make_path(void **state)
{
    int fd;

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/mk_kv_XXXXXX",
                   getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    fd = mkstemp(path);
    if (fd < 0)
        return -1;
    (void)close(fd);
    return unlink(path);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static void entries_survive(void **state)
{
    const struct kv_options options = {.path = path};
    struct unqlite *store = kv_new(&options);

    (void)state;
    assert_int_equal(put(store, "a", "1"), UNQLITE_OK);
    assert_int_equal(put(store, "empty", ""), UNQLITE_OK);
    assert_int_equal(kv_put(store, "z\0z", 3, "\0\1", 2, kv_now() + 100000, false), UNQLITE_OK);
    assert_int_equal(kv_put(store, "past", 4, "x", 1, kv_now(), false), UNQLITE_OK);
    assert_int_equal(kv_save(store), UNQLITE_OK);
    kv_free(store);
    store = kv_new(&options);
    assert_int_equal(kv_load(store), UNQLITE_OK);
    assert_int_equal(store->map.count, 3);
    assert_data(store, "a", "1");
    assert_data(store, "empty", "");
    assert_memory_equal(kv_find(store, "z\0z", 3)->data, "\0\1", 2);
    assert_in_range(kv_find(store, "z\0z", 3)->expires_ms - kv_now(), 1, 110000);
    kv_free(store);
}

/* A file that was cut anywhere, or whose bytes are others, is refused or read, and nothing else. */
static void damaged_files(void **state)
{
    const struct kv_options options = {.path = path};
    struct unqlite *store = kv_new(&options);
    char bytes[512];
    FILE *file;
    size_t len;

    (void)state;
    assert_int_equal(put(store, "key", "value"), UNQLITE_OK);
    assert_int_equal(kv_save(store), UNQLITE_OK);
    kv_free(store);
    file = fopen(path, "r");
    len = fread(bytes, 1, sizeof(bytes), file);
    assert_int_equal(fclose(file), 0);
    for (size_t cut = 0; cut < 2 * len; cut++) {
        char other[512];

        memcpy(other, bytes, len);
        if (cut >= len)
            other[cut - len] ^= (char)0xff;
        file = fopen(path, "w");
        assert_int_equal(fwrite(other, 1, cut < len ? cut : len, file), cut < len ? cut : len);
        assert_int_equal(fclose(file), 0);
        store = kv_new(&options);
        if (cut < len)
            assert_int_equal(kv_load(store), UNQLITE_IOERR);
        else
            (void)kv_load(store);
        kv_free(store);
    }
}

/* A file may have so many bytes, as on a disk that is full. */
static int save_with(const struct unqlite *store, rlim_t bytes)
{
    struct rlimit before, less;
    int result;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    less = (struct rlimit){bytes, before.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
    result = kv_save(store);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    return result;
}

static void a_full_disk_leaves_the_old_file(void **state)
{
    const struct kv_options options = {.path = path}, nowhere = {.path = "/nothing/here/store"};
    struct unqlite *store = kv_new(&options), *other = kv_new(&nowhere);

    (void)state;
    assert_int_equal(put(store, "a", "1"), UNQLITE_OK);
    assert_int_equal(kv_save(store), UNQLITE_OK);
    assert_int_equal(put(store, "a", "2"), UNQLITE_OK);
    assert_int_equal(save_with(store, 20), UNQLITE_IOERR);
    kv_free(store);
    store = kv_new(&options);
    assert_int_equal(kv_load(store), UNQLITE_OK);
    assert_data(store, "a", "1");
    assert_int_equal(kv_save(other), UNQLITE_IOERR);
    assert_int_equal(kv_load(other), UNQLITE_OK); /* no file: no entries */
    kv_free(store);
    kv_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_entries),
        cmocka_unit_test(a_full_store_refuses),
        cmocka_unit_test(a_full_store_evicts_the_unused),
        cmocka_unit_test(bytes_are_bounded),
        cmocka_unit_test(entries_expire),
        cmocka_unit_test_setup_teardown(entries_survive, make_path, remove_path),
        cmocka_unit_test_setup_teardown(damaged_files, make_path, remove_path),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_the_old_file, make_path, remove_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
