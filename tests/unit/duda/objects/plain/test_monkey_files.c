/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "objects/plain/monkey_files.h"

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int make_files(void **state)
{
    FILE *file;
    char link[128];

    (void)state;
    (void)strcpy(folder, "/tmp/duda_files.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    file = fopen(in_folder("file"), "w");
    if (!file || fputs("two\nlines", file) < 0 || fclose(file) != 0)
        return -1;
    (void)strcpy(link, in_folder("link"));
    return symlink("file", link) < 0 || mkfifo(in_folder("fifo"), 0600) < 0 ? -1 : 0;
}

static int remove_files(void **state)
{
    (void)state;
    (void)unlink(in_folder("file"));
    (void)unlink(in_folder("link"));
    (void)unlink(in_folder("fifo"));
    return rmdir(folder);
}

static void reads_regular_files_alone(void **state)
{
    char *text = mk_duda_file_to_buffer(in_folder("link"));

    (void)state;
    assert_string_equal(text, "two\nlines");
    free(text);
    assert_null(mk_duda_file_to_buffer(in_folder("missing")));
    assert_null(mk_duda_file_to_buffer(in_folder("fifo")));
    assert_null(mk_duda_file_to_buffer(folder));
    assert_null(mk_duda_file_to_buffer(NULL));
}

static void describes_files(void **state)
{
    struct file_info info;

    (void)state;
    assert_int_equal(mk_duda_file_get_info(in_folder("link"), &info), 0);
    assert_true(info.exists && info.is_file && info.is_link && !info.is_directory);
    assert_true(info.read_access && !info.exec_access);
    assert_int_equal(info.size, 9);
    assert_int_equal(info.flags_read_only, O_RDONLY);
    assert_true(info.last_modification > 0);
    assert_int_equal(mk_duda_file_get_info(folder, &info), 0);
    assert_true(info.is_directory && !info.is_file && !info.is_link);
    assert_int_equal(mk_duda_file_get_info(in_folder("missing"), &info), -1);
    assert_false(info.exists);
    assert_int_equal(mk_duda_file_get_info(NULL, &info), -1);
    assert_int_equal(mk_duda_file_get_info(folder, NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_regular_files_alone),
        cmocka_unit_test(describes_files),
    };

    return cmocka_run_group_tests(tests, make_files, remove_files);
}
