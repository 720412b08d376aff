/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "objects/logs/scribe.h"

#include <signal.h>

static char folder[64];

static char *in_folder(const char *name)
{
    char *path = NULL;

    assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    (void)strcpy(folder, "/tmp/duda_scribe.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"a", "b", "link", "fifo"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(names); i++) {
        char *path = in_folder(names[i]);

        (void)unlink(path);
        free(path);
    }
    return rmdir(folder);
}

/* @return bytes of the file, which is then removed; its text goes to dst */
static size_t take(const char *name, char *dst, size_t size)
{
    char *path = in_folder(name);
    FILE *file = fopen(path, "r");
    size_t n = 0;

    if (file) {
        n = fread(dst, 1, size - 1, file);
        (void)fclose(file);
    }
    dst[n] = 0;
    (void)unlink(path);
    free(path);
    return n;
}

static void texts_are_written_at_the_end_at_the_latest(void **state)
{
    struct mk_duda_scribe *scribe = mk_duda_scribe_new();
    char *a = in_folder("a"), *b = in_folder("b"), text[64];
    struct mk_duda_file_queue *to_a = mk_duda_scribe_add(scribe, a, -1);
    struct mk_duda_file_queue *to_b = mk_duda_scribe_add(scribe, b, mk_duda_open_log(b));

    (void)state;
    assert_true(mk_duda_queue_put(to_a, "one ", 4));
    assert_true(mk_duda_queue_put(to_b, "other", 5));
    assert_true(mk_duda_queue_put(to_a, "two", 3));
    mk_duda_scribe_free(scribe);
    (void)take("a", text, sizeof(text));
    assert_string_equal(text, "one two");
    (void)take("b", text, sizeof(text));
    assert_string_equal(text, "other");
    free(a);
    free(b);
}

static void nothing_is_taken_after_the_end(void **state)
{
    struct mk_duda_scribe *scribe = mk_duda_scribe_new();
    char *a = in_folder("a");
    struct mk_duda_file_queue *queue = mk_duda_scribe_add(scribe, a, -1);

    (void)state;
    mk_duda_scribe_end(scribe);
    assert_false(mk_duda_queue_put(queue, "late", 4));
    mk_duda_scribe_end(scribe);
    mk_duda_scribe_free(scribe);
    mk_duda_scribe_free(NULL);
    free(a);
}

/* The file is a pipe that nobody empties, so that the thread cannot go on. */
static void a_queue_is_bounded_and_who_logs_never_waits(void **state)
{
    struct mk_duda_scribe *scribe = mk_duda_scribe_new();
    char *a = in_folder("a"), bytes[1000];
    size_t taken = 0;
    int fds[2];
    struct mk_duda_file_queue *queue;

    (void)state;
    assert_int_equal(pipe(fds), 0);
    queue = mk_duda_scribe_add(scribe, a, fds[1]);
    memset(bytes, 'x', sizeof(bytes));
    while (mk_duda_queue_put(queue, bytes, sizeof(bytes)))
        taken += sizeof(bytes);
    /* what waits, what is being written, and perhaps what the pipe holds */
    assert_in_range(taken, MK_DUDA_QUEUE_MAX - sizeof(bytes), 3 * MK_DUDA_QUEUE_MAX);
    (void)close(fds[0]); /* writing fails from now on */
    mk_duda_scribe_free(scribe);
    free(a);
}

static void logs_are_regular_files_of_their_own(void **state)
{
    char *a = in_folder("a"), *link = in_folder("link"), *fifo = in_folder("fifo"), text[8];
    struct stat st;
    int fd = mk_duda_open_log(a);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    (void)close(fd);
    assert_int_equal(symlink("a", link), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(mk_duda_open_log(link), -1);
    assert_int_equal(mk_duda_open_log(fifo), -1);
    assert_int_equal(mk_duda_open_log(folder), -1);
    (void)take("a", text, sizeof(text));
    free(a);
    free(link);
    free(fifo);
}

enum { THREADS = 4, LINES = 500 };

static void *write_lines(void *arg)
{
    for (int i = 0; i < LINES; i++)
        (void)mk_duda_queue_put(arg, "line\n", 5);
    return NULL;
}

static void texts_of_threads_stay_whole(void **state)
{
    static char text[THREADS * LINES * 5 + 1];
    struct mk_duda_scribe *scribe = mk_duda_scribe_new();
    char *a = in_folder("a");
    struct mk_duda_file_queue *queue = mk_duda_scribe_add(scribe, a, -1);
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, queue), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    mk_duda_scribe_free(scribe);
    assert_int_equal(take("a", text, sizeof(text)), THREADS * LINES * 5);
    for (size_t i = 0; i < THREADS * LINES; i++)
        assert_memory_equal(text + i * 5, "line\n", 5);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_written_at_the_end_at_the_latest),
        cmocka_unit_test(nothing_is_taken_after_the_end),
        cmocka_unit_test(a_queue_is_bounded_and_who_logs_never_waits),
        cmocka_unit_test(logs_are_regular_files_of_their_own),
        cmocka_unit_test(texts_of_threads_stay_whole),
    };

    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
