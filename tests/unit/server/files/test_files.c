/* SPDX-License-Identifier: Apache-2.0 */
#include "folder.h"
#include "plan.h"

#include "base/limits.h"
#include "base/str.h"
#include "core/clock.h"
#include "core/fd.h"
#include "server/files/files.h"

#include <sys/stat.h>
#include <unistd.h>

/* The open-file table, with a clock of its own. */

static char dir[32];
static struct plan plan;
static struct mk_files files;
static const struct mk_clock clock_now = {.wall_s = 4000000000};
static int64_t now_ms;

static void open_table(const struct row *more, size_t max_entries)
{
    struct row rows[8] = {{"HOST", "DocumentRoot", dir, 0}};

    for (size_t i = 1; more && more->section; i++)
        rows[i] = *more++;
    plan_make(&plan, rows);
    assert_string_equal(plan_faults(&plan), "");
    assert_int_equal(
        mk_files_init(&files, &plan.snapshot, max_entries, mk_file_has_openat2(), &clock_now), 0);
    now_ms = 100000;
}

static void close_table(void)
{
    mk_files_fini(&files);
    assert_int_equal(files.nentries, 0);
    assert_int_equal(files.nmissing, 0);
    assert_int_equal(files.body_bytes, 0);
    plan_free(&plan);
    assert_int_equal(mk_heap_live(), 0);
}

static struct mk_file *get(const char *path)
{
    struct mk_file_root *root = mk_files_site_root(&files, &plan.snapshot.sites[0]);
    struct mk_file *file = mk_files_get(&files, root, mk_str_from(path), now_ms);

    assert_non_null(file);
    return file;
}

/* Get and put; what the table keeps can be compared by address. */
static struct mk_file *look(const char *path)
{
    struct mk_file *file = get(path);

    mk_file_put(file);
    return file;
}

static int set_up(void **state)
{
    (void)state;
    dir_make(dir);
    file_write(dir, "a.txt", NULL, 100);
    file_write(dir, "b.css", NULL, 200);
    file_write(dir, "c", NULL, 20000);
    file_write(dir, "empty", NULL, 0);
    file_write(dir, "sub/d.html", NULL, 10);
    for (int i = 0; i < 20; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "many/%d", i);
        file_write(dir, name, NULL, 1000);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dir_remove(dir);
    return 0;
}

static void tells_what_is_there(void **state)
{
    static const struct {
        const char *path;
        enum mk_file_kind kind;
        int error;
        uint64_t size;
        const char *type;
    } rows[] = {
        {"/a.txt", MK_FILE_REGULAR, 0, 100, "text/plain; charset=utf-8"},
        {"/b.css", MK_FILE_REGULAR, 0, 200, "text/css; charset=utf-8"},
        {"/c", MK_FILE_REGULAR, 0, 20000, "application/octet-stream"},
        {"/empty", MK_FILE_REGULAR, 0, 0, "application/octet-stream"},
        {"/sub/d.html", MK_FILE_REGULAR, 0, 10, "text/html; charset=utf-8"},
        {"/sub", MK_FILE_DIRECTORY, 0, 0, NULL},
        {"/sub/", MK_FILE_DIRECTORY, 0, 0, NULL},
        {"/", MK_FILE_DIRECTORY, 0, 0, NULL},
        {"/missing", MK_FILE_NONE, MK_E_NOENT, 0, NULL},
        {"/a.txt/x", MK_FILE_NONE, MK_E_NOENT, 0, NULL},
        {"/link", MK_FILE_NONE, MK_E_ACCESS, 0, NULL},
        {"/fifo", MK_FILE_NONE, MK_E_NOENT, 0, NULL},
    };
    char path[64];

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/link", dir);
    assert_int_equal(symlink("a.txt", path), 0);
    (void)snprintf(path, sizeof(path), "%s/fifo", dir);
    assert_int_equal(mkfifo(path, 0644), 0);
    open_table(NULL, 20);
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_file *file = get(rows[i].path);

        if (file->kind != rows[i].kind || (rows[i].error && file->error != rows[i].error))
            fail_msg("%s: kind %d, error %d", rows[i].path, file->kind, file->error);
        assert_true(mk_str_eq(file->path, mk_str_from(rows[i].path)));
        assert_int_equal(file->fd >= 0, file->kind == MK_FILE_REGULAR);
        if (file->kind == MK_FILE_REGULAR) {
            assert_int_equal(file->facts.size, rows[i].size);
            assert_true(mk_str_eq(file->type, mk_str_from(rows[i].type)));
        }
        mk_file_put(file);
    }
    close_table();
}

static void the_lines_of_an_answer_are_ready(void **state)
{
    static const struct row rows[] = {{"HOST", "Header", "X-A b", 0},
                                      {"HOST", "Header", "ETag", 0},
                                      {"HOST", "CacheControl", "*.css max-age=60", 0},
                                      {NULL, NULL, NULL, 0}};
    struct mk_file *file;
    struct mk_str all;

    (void)state;
    open_table(rows, 20);
    file = get("/b.css");
    all = (struct mk_str){file->type_line.p,
                          file->type_line.len + file->common_lines.len + file->length_line.len};
    assert_true(
        mk_str_has_prefix(all, MK_STR("Content-Type: text/css; charset=utf-8\r\nLast-Modified: ")));
    assert_true(mk_str_has_suffix(all, MK_STR("Accept-Ranges: bytes\r\nCache-Control: "
                                              "max-age=60\r\nX-A: b\r\nContent-Length: 200\r\n")));
    assert_null(memmem(all.p, all.len, "ETag", 4)); /* the site removed it */
    mk_file_put(file);
    file = get("/a.txt");
    assert_null(memmem(file->common_lines.p, file->common_lines.len, "Cache-Control", 13));
    mk_file_put(file);
    close_table();
}

static void the_second_look_brings_the_bytes(void **state)
{
    struct mk_file *file;

    (void)state;
    open_table(NULL, 20);
    file = look("/a.txt");
    assert_null(file->body);
    assert_ptr_equal(look("/a.txt"), file);
    assert_non_null(file->body);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(file->body[i], file_byte(i));
    assert_int_equal(files.body_bytes, 100);
    look("/c"); /* too large for that */
    assert_null(look("/c")->body);
    look("/empty");
    assert_null(look("/empty")->body);
    assert_int_equal(files.body_bytes, 100);
    close_table();
}

static void bytes_stay_within_their_budget(void **state)
{
    static const struct row rows[] = {{"SERVER", "FileCache", "4500B", 0}, {NULL, NULL, NULL, 0}};

    (void)state;
    open_table(rows, 20);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 10; i++) {
            char path[32];

            (void)snprintf(path, sizeof(path), "/many/%d", i);
            look(path);
            look(path);
            assert_true(files.body_bytes <= 4500);
        }
    }
    assert_int_equal(files.body_bytes, 4000);
    close_table();
}

static void no_budget_keeps_no_bytes(void **state)
{
    static const struct row rows[] = {{"SERVER", "FileCache", "0", 0}, {NULL, NULL, NULL, 0}};

    (void)state;
    open_table(rows, 20);
    look("/a.txt");
    assert_null(look("/a.txt")->body);
    close_table();
}

static void the_least_used_goes_first(void **state)
{
    struct mk_file *a, *kept;

    (void)state;
    open_table(NULL, 4);
    a = look("/a.txt");
    for (int i = 0; i < 20; i++) {
        char path[32];

        (void)snprintf(path, sizeof(path), "/many/%d", i);
        look(path);
        assert_ptr_equal(look("/a.txt"), a); /* used again and again: stays */
        assert_true(files.nentries <= 4);
    }
    kept = get("/many/19");
    for (int i = 0; i < 8; i++) {
        char path[32];

        (void)snprintf(path, sizeof(path), "/many/%d", i);
        look(path);
    }
    assert_int_equal(kept->facts.size,
                     1000); /* out of the table, but whoever holds it may read on */
    assert_int_equal(lseek(kept->fd, 0, SEEK_END), 1000);
    mk_file_put(kept);
    close_table();
}

static void misses_evict_only_misses(void **state)
{
    struct mk_file *a;

    (void)state;
    open_table(NULL, 4);
    a = look("/a.txt");
    for (int i = 0; i < 1000; i++) {
        char path[32];

        (void)snprintf(path, sizeof(path), "/none/%d", i);
        assert_int_equal(look(path)->kind, MK_FILE_NONE);
    }
    assert_in_range(files.nmissing, 1, MK_LIMIT_MISSING_FILES);
    assert_int_equal(files.nentries, 1);
    assert_ptr_equal(look("/a.txt"), a);
    close_table();
}

static void a_change_is_seen_within_a_second(void **state)
{
    struct mk_file *file;
    char path[64];

    (void)state;
    open_table(NULL, 20);
    file_write(dir, "changes", "old", 3);
    file = look("/changes");
    look("/changes");
    (void)usleep(20000); /* beyond the grain of the file system's clock */
    file_write(dir, "changes", "newer", 5);
    now_ms += 999;
    assert_ptr_equal(look("/changes"), file);
    now_ms += 1;
    file = look("/changes");
    assert_int_equal(file->facts.size, 5);
    look("/changes");
    assert_memory_equal(look("/changes")->body, "newer", 5);
    now_ms += 1000;
    assert_ptr_equal(look("/changes"), file); /* looked at, and still the same */
    (void)snprintf(path, sizeof(path), "%s/changes", dir);
    assert_int_equal(unlink(path), 0);
    now_ms += 1000;
    assert_int_equal(look("/changes")->kind, MK_FILE_NONE);
    file_write(dir, "changes", "back", 4);
    assert_int_equal(look("/changes")->kind, MK_FILE_NONE); /* believed for a second */
    now_ms += 1000;
    assert_int_equal(look("/changes")->kind, MK_FILE_REGULAR);
    assert_int_equal(unlink(path), 0);
    close_table();
}

/* A body is loaded at the second look; when the file was changed since the first, its tag is another one. */
static void changed_bytes_get_no_old_tag(void **state)
{
    struct mk_file *file;
    char tag[18];

    (void)state;
    open_table(NULL, 20);
    file_write(dir, "races", "first", 5);
    file = look("/races");
    memcpy(tag, file->etag.p, sizeof(tag));
    (void)usleep(20000);
    file_write(dir, "races", "other", 5);
    file = look("/races");
    if (file->body)
        assert_memory_equal(file->body, "other", 5);
    assert_memory_not_equal(file->etag.p, tag, sizeof(tag));
    close_table();
}

static void a_switched_root_is_seen_within_a_second(void **state)
{
    char one[64], two[64], link[64], again[64];
    struct row rows[] = {{"HOST", "DocumentRoot", link, 0}, {NULL, NULL, NULL, 0}};

    (void)state;
    file_write(dir, "v1/x", "1", 1);
    file_write(dir, "v2/x", "22", 2);
    (void)snprintf(one, sizeof(one), "%s/v1", dir);
    (void)snprintf(two, sizeof(two), "%s/v2", dir);
    (void)snprintf(link, sizeof(link), "%s/current", dir);
    (void)snprintf(again, sizeof(again), "%s/next", dir);
    assert_int_equal(symlink(one, link), 0);
    plan_make(&plan, rows);
    assert_int_equal(mk_files_init(&files, &plan.snapshot, 20, false, &clock_now), 0);
    now_ms = 5000;
    assert_int_equal(look("/x")->facts.size, 1);
    assert_int_equal(symlink(two, again), 0);
    assert_int_equal(rename(again, link), 0);
    assert_int_equal(look("/x")->facts.size, 1);
    now_ms += 1000;
    assert_int_equal(look("/x")->facts.size, 2);
    assert_int_equal(unlink(link), 0);
    now_ms += 1000;
    assert_int_equal(look("/x")->kind, MK_FILE_NONE);
    assert_int_equal(symlink(one, link), 0);
    now_ms += 1000;
    assert_int_equal(look("/x")->facts.size, 1);
    close_table();
}

static void without_the_table_every_look_is_new(void **state)
{
    static const struct row rows[] = {{"SERVER", "FDT", "off", 0}, {NULL, NULL, NULL, 0}};
    struct mk_file *a, *b;

    (void)state;
    open_table(rows, 20);
    a = get("/a.txt");
    b = get("/a.txt");
    assert_ptr_not_equal(a, b);
    assert_int_equal(files.nentries, 0);
    mk_file_put(a);
    mk_file_put(b);
    close_table();
}

static void a_shortage_is_no_fact(void **state)
{
    struct mk_file *file;

    (void)state;
    open_table(NULL, 20);
    mk_heap_fail_after(0);
    assert_null(mk_files_get(&files, mk_files_site_root(&files, &plan.snapshot.sites[0]),
                             MK_STR("/a.txt"), now_ms));
    file = look("/a.txt");
    mk_heap_fail_after(0);
    assert_ptr_equal(look("/a.txt"),
                     file); /* its bytes could not be kept: served from the descriptor */
    assert_null(file->body);
    mk_heap_fail_after(-1);
    close_table();
}

/* The largest that is sent from memory, and a byte more. */
static void bytes_of_small_files_only(void **state)
{
    (void)state;
    file_write(dir, "small", NULL, MK_LIMIT_SMALL_BODY);
    file_write(dir, "larger", NULL, MK_LIMIT_SMALL_BODY + 1);
    open_table(NULL, 20);
    look("/small");
    assert_non_null(look("/small")->body);
    look("/larger");
    assert_null(look("/larger")->body);
    close_table();
}

/* Slashes make no other file of a path, but count as its bytes. */
static void paths_are_bounded(void **state)
{
    char path[MK_LIMIT_PATH + 2];
    size_t slashes = MK_LIMIT_PATH - strlen("/sub") - strlen("d.html");

    (void)state;
    open_table(NULL, 20);
    memset(path, '/', sizeof(path));
    memcpy(path, "/sub", 4);
    memcpy(path + 4 + slashes, "d.html", sizeof("d.html"));
    assert_int_equal(strlen(path), MK_LIMIT_PATH);
    assert_int_equal(look(path)->kind, MK_FILE_REGULAR);
    memset(path + 4 + slashes, '/', 2);
    memcpy(path + 5 + slashes, "d.html", sizeof("d.html"));
    assert_int_equal(strlen(path), MK_LIMIT_PATH + 1);
    assert_int_equal(look(path)->kind, MK_FILE_NONE);
    close_table();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_is_there),
        cmocka_unit_test(the_lines_of_an_answer_are_ready),
        cmocka_unit_test(the_second_look_brings_the_bytes),
        cmocka_unit_test(bytes_of_small_files_only),
        cmocka_unit_test(paths_are_bounded),
        cmocka_unit_test(bytes_stay_within_their_budget),
        cmocka_unit_test(no_budget_keeps_no_bytes),
        cmocka_unit_test(the_least_used_goes_first),
        cmocka_unit_test(misses_evict_only_misses),
        cmocka_unit_test(a_change_is_seen_within_a_second),
        cmocka_unit_test(changed_bytes_get_no_old_tag),
        cmocka_unit_test(a_switched_root_is_seen_within_a_second),
        cmocka_unit_test(without_the_table_every_look_is_new),
        cmocka_unit_test(a_shortage_is_no_fact),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
