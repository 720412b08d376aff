/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <unistd.h>

/* The open-file table against files that change behind its back. */

static struct mk_file *look_up(struct fixture *f, const char *path)
{
    struct mk_files *files = &f->worker->view->files;
    struct mk_file *file = mk_files_get(
        files, mk_files_site_root(files, &f->plan.snapshot.sites[0]), mk_str_from(path), 1);

    assert_non_null(file);
    assert_int_equal(file->kind, MK_FILE_REGULAR);
    return file;
}

static void bytes_that_could_not_be_read_are_not_kept(void **state)
{
    struct fixture f = {.server = NULL};
    struct mk_file *held, *now;
    char path[64];

    (void)state;
    dir_make(f.dir);
    file_write(f.dir, "a.txt", NULL, 1000);
    fixture_open(&f, NULL);
    held = look_up(&f, "/a.txt"); /* as an answer under way does */
    (void)snprintf(path, sizeof(path), "%s/a.txt", f.dir);
    assert_int_equal(truncate(path, 10), 0);
    now = look_up(&f, "/a.txt"); /* the second time its bytes are worth keeping */
    assert_ptr_not_equal(now, held);
    assert_int_equal(now->facts.size, 10);
    assert_null(held->body);
    assert_int_equal(f.worker->view->files.body_bytes, 0);
    mk_file_put(held);
    mk_file_put(now);
    fixture_close(&f);
    dir_remove(f.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_that_could_not_be_read_are_not_kept)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
