/* SPDX-License-Identifier: Apache-2.0 */
#include "logger_test.h"

#include "gather.h"
#include "rotate.h"
#include "rotate.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What the sink said, and the folder of a test. */
static struct {
    pthread_mutex_t lock;
    char text[4096];
    char dir[64], path[96];
    struct logger_sink *sink;
} here = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void say(void *arg, enum mk_log_level level, const char *text)
{
    size_t len;

    (void)arg;
    (void)level;
    pthread_mutex_lock(&here.lock);
    len = strlen(here.text);
    (void)snprintf(here.text + len, sizeof(here.text) - len, "%s\n", text);
    pthread_mutex_unlock(&here.lock);
}

static size_t said(const char *what)
{
    size_t count = 0;

    pthread_mutex_lock(&here.lock);
    for (const char *p = here.text; (p = strstr(p, what)); p++)
        count++;
    pthread_mutex_unlock(&here.lock);
    return count;
}

/* The sum of all lines told as lost. */
static unsigned long told_lost(void)
{
    unsigned long sum = 0;

    pthread_mutex_lock(&here.lock);
    for (const char *p = here.text; (p = strstr(p, "lost=")); p++)
        sum += strtoul(p + 5, NULL, 10);
    pthread_mutex_unlock(&here.lock);
    return sum;
}

static int set_up(void **state)
{
    (void)state;
    strcpy(here.dir, "/tmp/monkey-logger-XXXXXX");
    if (!mkdtemp(here.dir))
        return -1;
    (void)snprintf(here.path, sizeof(here.path), "%s/log", here.dir);
    here.text[0] = '\0';
    here.sink = logger_sink_new(say, NULL);
    return here.sink ? 0 : -1;
}

static int tear_down(void **state)
{
    char other[120];

    (void)state;
    (void)snprintf(other, sizeof(other), "%s.1", here.path);
    (void)unlink(other);
    (void)unlink(here.path);
    return rmdir(here.dir);
}

static int open_log(void)
{
    return open(here.path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0640);
}

static struct logger_target *new_target(int fd)
{
    struct logger_target *t = logger_target_new(here.sink, here.path, fd, 0);

    assert_non_null(t);
    return t;
}

static struct logger_gather *new_gather(unsigned worker)
{
    struct logger_pipe *p = logger_sink_pipe(here.sink, worker);
    struct logger_gather *g;

    assert_non_null(p);
    g = logger_gather_new(p, 1);
    assert_non_null(g);
    return g;
}

static void write_text(const void *arg, struct logger_text *t)
{
    logger_put(t, mk_str_from(arg));
}

static void line(struct logger_gather *g, struct logger_target *t, const char *text)
{
    logger_gather_line(g, 0, t, write_text, text);
}

static void pause_ms(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    (void)nanosleep(&t, NULL);
}

static char *read_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    size_t len = 0, size = 1 << 22;
    char *text = malloc(size);

    assert_non_null(text);
    if (in) {
        len = fread(text, 1, size - 1, in);
        (void)fclose(in);
    }
    text[len] = '\0';
    return text;
}

/* The file's content becomes this within a second. */
static void assert_file(const char *path, const char *expected)
{
    for (int i = 0;; i++) {
        char *text = read_file(path);
        bool same = strcmp(text, expected) == 0;

        if (!same && i == 200)
            fail_msg("%s holds \"%s\" and not \"%s\"", path, text, expected);
        free(text);
        if (same)
            return;
        pause_ms(5);
    }
}

static void assert_said(const char *what)
{
    for (int i = 0; said(what) == 0; i++) {
        if (i == 200)
            fail_msg("never said \"%s\" but: %s", what, here.text);
        pause_ms(5);
    }
}

static void lines_come_to_the_file(void **state)
{
    struct logger_target *t = new_target(open_log());
    struct logger_gather *g = new_gather(0);
    struct stat st;

    (void)state;
    line(g, t, "one\n");
    line(g, t, "two\n");
    assert_int_equal(logger_gather_flush(g), 0);
    assert_file(here.path, "one\ntwo\n");
    assert_int_equal(stat(here.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    line(g, t, "three\n");
    logger_gather_free(g);
    logger_target_put(here.sink, t);
    logger_sink_put(here.sink);
    assert_file(here.path, "one\ntwo\nthree\n");
}

static void what_waits_is_written_at_the_end(void **state)
{
    struct logger_target *t = new_target(open_log());
    struct logger_gather *g = new_gather(0);

    (void)state;
    logger_sink_set_wait(here.sink, 3600 * 1000);
    line(g, t, "one\n");
    logger_gather_free(g);
    logger_target_put(here.sink, t);
    logger_sink_put(here.sink);
    assert_file(here.path, "one\n");
    assert_string_equal(here.text, "");
}

static void a_target_is_shared_by_name(void **state)
{
    struct logger_target *t = new_target(open_log());

    (void)state;
    assert_ptr_equal(logger_target_find(here.sink, here.path), t);
    assert_null(logger_target_find(here.sink, "/elsewhere"));
    assert_ptr_equal(logger_sink_pipe(here.sink, 3), logger_sink_pipe(here.sink, 3));
    assert_ptr_not_equal(logger_sink_pipe(here.sink, 3), logger_sink_pipe(here.sink, 4));
    logger_target_put(here.sink, t);
    logger_target_put(here.sink, t);
    for (int i = 0; (t = logger_target_find(here.sink, here.path)); i++) {
        logger_target_put(here.sink, t);
        assert_true(i < 200);
        pause_ms(5);
    }
    logger_sink_put(here.sink);
}

static void goes_on_at_the_end_that_others_made(void **state)
{
    struct logger_target *t = new_target(open_log());
    struct logger_gather *g = new_gather(0);
    int fd;

    (void)state;
    line(g, t, "a long first line\n");
    assert_int_equal(logger_gather_flush(g), 0);
    assert_file(here.path, "a long first line\n");
    assert_int_equal(truncate(here.path, 0), 0);
    line(g, t, "cut\n");
    assert_int_equal(logger_gather_flush(g), 0);
    assert_file(here.path, "cut\n");
    fd = open(here.path, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, "theirs\n", 7), 7);
    (void)close(fd);
    line(g, t, "ours\n");
    logger_gather_free(g);
    assert_file(here.path, "cut\ntheirs\nours\n");
    logger_target_put(here.sink, t);
    logger_sink_put(here.sink);
}

static void reopening_goes_to_the_new_file(void **state)
{
    struct logger_target *t = new_target(open_log());
    struct logger_gather *g = new_gather(0);
    char old[120];

    (void)state;
    (void)snprintf(old, sizeof(old), "%s.1", here.path);
    line(g, t, "one\n");
    assert_int_equal(logger_gather_flush(g), 0);
    assert_file(here.path, "one\n");
    assert_int_equal(rename(here.path, old), 0);
    line(g, t, "two\n");
    assert_int_equal(logger_gather_flush(g), 0);
    assert_file(old, "one\ntwo\n");
    logger_target_reopen(here.sink, t, open_log());
    line(g, t, "three\n");
    logger_gather_free(g);
    assert_file(here.path, "three\n");
    assert_file(old, "one\ntwo\n");
    logger_target_put(here.sink, t);
    logger_sink_put(here.sink);
}

/* ---- several workers at full speed ---- */

enum { WRITERS = 4, LINES = 20000 };

struct writer {
    pthread_t thread;
    unsigned number;
    struct logger_target *target;
};

static void *write_lines(void *arg)
{
    const struct writer *w = arg;
    struct logger_gather *g = new_gather(w->number);

    for (int i = 0; i < LINES; i++) {
        char text[64];

        (void)snprintf(text, sizeof(text), "%u %d some more text\n", w->number, i);
        line(g, w->target, text);
    }
    logger_gather_free(g);
    return NULL;
}

static void run_writers(struct logger_target *t)
{
    struct writer writers[WRITERS];

    for (unsigned i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.number = i, .target = t};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_lines, &writers[i]), 0);
    }
    for (unsigned i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
}

/* @return how many lines there are; each is whole, and those of a writer are in order. */
static unsigned long count_lines(const char *text)
{
    unsigned long count = 0;
    int next[WRITERS] = {0};

    while (*text) {
        int number, i, used = 0;

        if (sscanf(text, "%d %d some more text%n", &number, &i, &used) != 2 || text[used] != '\n')
            fail_msg("a broken line: %.40s", text);
        assert_in_range(number, 0, WRITERS - 1);
        assert_true(i >= next[number]);
        next[number] = i + 1;
        text += used + 1;
        count++;
    }
    return count;
}

static void every_line_of_many_writers_is_written_or_counted(void **state)
{
    struct logger_target *t = new_target(open_log());
    char *text;

    (void)state;
    logger_sink_set_wait(here.sink, 1000);
    run_writers(t);
    logger_target_put(here.sink, t);
    logger_sink_put(here.sink);
    text = read_file(here.path);
    assert_int_equal(count_lines(text) + told_lost(), WRITERS * LINES);
    free(text);
}

/* ---- rotation ---- */

static int open_log_again(void *arg, const char *path)
{
    assert_string_equal(path, here.path);
    return arg ? MK_E_ACCESS : open_log();
}

static void name_of(char dst[120], unsigned number)
{
    if (number > 0)
        (void)snprintf(dst, 120, "%s.%u", here.path, number);
    else
        (void)snprintf(dst, 120, "%s", here.path);
}

static void end_log(struct logger_gather *g, struct logger_target *t)
{
    logger_gather_free(g);
    logger_target_put(here.sink, t);
    logger_sink_put(here.sink);
}

/* Lines of 50 bytes in files of 100: the last five are kept, in order. */
static void a_full_file_is_renamed(void **state)
{
    const struct logger_rotation rotation = {.size = 100, .count = 2, .open = open_log_again};
    struct logger_target *t = new_target(open_log());
    struct logger_gather *g = new_gather(0);
    char text[128], name[120];

    (void)state;
    logger_target_rotate(here.sink, t, &rotation);
    for (int i = 0; i < 9; i++) {
        (void)snprintf(text, sizeof(text), "%049d\n", i);
        line(g, t, text);
        assert_int_equal(logger_gather_flush(g), 0);
    }
    end_log(g, t);
    (void)snprintf(text, sizeof(text), "%049d\n", 8);
    assert_file(here.path, text);
    for (int i = 1; i <= 2; i++) {
        name_of(name, (unsigned)i);
        (void)snprintf(text, sizeof(text), "%049d\n%049d\n", 8 - 2 * i, 9 - 2 * i);
        assert_file(name, text);
        assert_int_equal(unlink(name), 0);
    }
    name_of(name, 3);
    assert_int_equal(access(name, F_OK), -1);
    assert_string_equal(here.text, "");
}

/* @return its lines; it is removed. */
static unsigned long lines_of_file(unsigned number)
{
    char name[120], *text;
    unsigned long lines;

    name_of(name, number);
    if (access(name, F_OK) < 0)
        return 0;
    text = read_file(name);
    assert_in_range(strlen(text), 1, LOGGER_ROTATE_MIN);
    lines = count_lines(text);
    free(text);
    (void)unlink(name);
    return lines;
}

static void rotation_loses_no_line_of_many_writers(void **state)
{
    const struct logger_rotation rotation = {
        .size = LOGGER_ROTATE_MIN, .count = LOGGER_ROTATE_COUNT_MAX, .open = open_log_again};
    struct logger_target *t = new_target(open_log());
    unsigned long lines = 0, files = 0;

    (void)state;
    logger_target_rotate(here.sink, t, &rotation);
    run_writers(t);
    logger_target_put(here.sink, t);
    logger_sink_put(here.sink);
    for (unsigned i = 0; i <= LOGGER_ROTATE_COUNT_MAX; i++) {
        const unsigned long more = lines_of_file(i);

        lines += more;
        files += more > 0;
    }
    assert_in_range(files, 5, LOGGER_ROTATE_COUNT_MAX);
    assert_int_equal(lines + told_lost(), WRITERS * LINES);
    (void)close(open_log());
}

static void a_file_of_another_day_is_renamed(void **state)
{
    const struct logger_rotation rotation = {.daily = true, .count = 1, .open = open_log_again};
    const struct timespec yesterday = {time(NULL) - 86400, 0}, times[2] = {yesterday, yesterday};
    struct logger_target *t;
    struct logger_gather *g;
    char name[120];
    int fd = open_log();

    (void)state;
    assert_int_equal(write(fd, "old\n", 4), 4);
    assert_int_equal(futimens(fd, times), 0);
    t = new_target(fd);
    logger_target_rotate(here.sink, t, &rotation);
    g = new_gather(0);
    line(g, t, "new\n");
    assert_int_equal(logger_gather_flush(g), 0);
    assert_file(here.path, "new\n");
    line(g, t, "same day\n");
    end_log(g, t);
    assert_file(here.path, "new\nsame day\n");
    name_of(name, 1);
    assert_file(name, "old\n");
}

static void a_log_that_cannot_be_rotated_grows(void **state)
{
    struct logger_rotation rotation = {
        .size = 10, .count = 1, .open = open_log_again, .arg = &here};
    struct logger_target *t = new_target(open_log());
    struct logger_gather *g = new_gather(0);
    char name[120];

    (void)state;
    logger_target_rotate(here.sink, t, &rotation);
    for (int i = 0; i < 4; i++) {
        line(g, t, "a line\n");
        assert_int_equal(logger_gather_flush(g), 0);
    }
    end_log(g, t);
    assert_file(here.path, "a line\na line\na line\na line\n");
    assert_int_equal(said("log cannot be rotated"), 1);
    assert_int_equal(said("Permission denied"), 1);
    name_of(name, 1);
    assert_int_equal(access(name, F_OK), -1);
}

/* A day in March has 23 hours there. */
static void midnight_is_local(void **state)
{
    (void)state;
    assert_int_equal(setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1), 0);
    tzset();
    assert_int_equal(logger_rotate_midnight(1774652400), 1774738800);
    assert_int_equal(logger_rotate_midnight(1774738799), 1774738800);
    assert_int_equal(logger_rotate_midnight(1774738800), 1774821600);
    assert_int_equal(unsetenv("TZ"), 0);
    tzset();
}

/* ---- targets that take no more ---- */

static void a_reader_that_does_not_read_stalls_nobody(void **state)
{
    struct logger_target *t;
    static char text[1 << 22];
    size_t len = 0;
    ssize_t n;
    int reader;

    (void)state;
    assert_int_equal(mkfifo(here.path, 0600), 0);
    reader = open(here.path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    t = new_target(open_log());
    run_writers(t);
    run_writers(t); /* far more than fifo and pipes hold; ends, because nobody waits */
    assert_said("its reader is too slow");
    logger_target_put(here.sink, t);
    logger_sink_put(here.sink);
    while ((n = read(reader, text + len, sizeof(text) - 1 - len)) > 0)
        len += (size_t)n;
    (void)close(reader);
    text[len] = '\0';
    assert_true(told_lost() > 0);
    n = 0;
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        n++;
    assert_int_equal((unsigned long)n + told_lost(), 2 * WRITERS * LINES);
}

/* A limit on the size of files is as good as a full disk: the write that crosses it is cut short. */
static void a_full_disk_is_told_once_and_so_is_its_end(void **state)
{
    struct logger_target *t = new_target(open_log());
    struct logger_gather *g = new_gather(0);
    struct rlimit unlimited, limit;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
    limit = (struct rlimit){10, unlimited.rlim_max};
    line(g, t, "first\n");
    assert_int_equal(logger_gather_flush(g), 0);
    assert_file(here.path, "first\n");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (int i = 0; i < 5; i++) {
        line(g, t, "this is lost\n");
        assert_int_equal(logger_gather_flush(g), 0);
        assert_said("cannot be written");
        pause_ms(5);
    }
    assert_file(here.path, "first\n"); /* and no part of the second */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
    line(g, t, "again\n");
    assert_int_equal(logger_gather_flush(g), 0);
    assert_file(here.path, "first\nagain\n");
    assert_int_equal(said("can be written again"), 0); /* one line says little */
    pause_ms(LOGGER_RECOVERY_MS);
    line(g, t, "and again\n");
    assert_int_equal(logger_gather_flush(g), 0);
    assert_said("can be written again");
    logger_gather_free(g);
    logger_target_put(here.sink, t);
    logger_sink_put(here.sink);
    assert_int_equal(said("cannot be written"), 1);
    assert_int_equal(said("can be written again"), 1);
    assert_int_equal(told_lost(), 5);
}

static void a_device_without_room_is_told_once(void **state)
{
    struct logger_target *t = new_target(open("/dev/full", O_WRONLY | O_CLOEXEC));
    struct logger_gather *g = new_gather(0);

    (void)state;
    for (int i = 0; i < 5; i++) {
        line(g, t, "lost\n");
        assert_int_equal(logger_gather_flush(g), 0);
        pause_ms(5);
    }
    logger_gather_free(g);
    logger_target_put(here.sink, t);
    logger_sink_put(here.sink);
    assert_int_equal(said("No space left"), 1);
    assert_int_equal(told_lost(), 5);
}

/* ---- lines ---- */

static void write_much(const void *arg, struct logger_text *t)
{
    for (int i = 0; i < 1000 && !t->full; i++)
        logger_put(t, mk_str_from(arg));
}

static void a_line_that_is_too_long_is_cut_and_marked(void **state)
{
    struct logger_target *t = new_target(open_log());
    struct logger_gather *g = new_gather(0);
    char *text;
    size_t len;

    (void)state;
    line(g, t, "before\n");
    logger_gather_line(g, 0, t, write_much, "0123456789");
    line(g, t, "behind\n");
    logger_gather_free(g);
    logger_target_put(here.sink, t);
    logger_sink_put(here.sink);
    text = read_file(here.path);
    len = strlen(text);
    assert_true(len > 4000 && len < LOGGER_FRAME_MAX + 14);
    assert_memory_equal(text, "before\n0123", 11);
    assert_string_equal(strstr(text, "..."), "...\nbehind\n");
    free(text);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(lines_come_to_the_file),
        CASE(what_waits_is_written_at_the_end),
        CASE(a_target_is_shared_by_name),
        CASE(goes_on_at_the_end_that_others_made),
        CASE(reopening_goes_to_the_new_file),
        CASE(a_full_file_is_renamed),
        CASE(rotation_loses_no_line_of_many_writers),
        CASE(a_file_of_another_day_is_renamed),
        CASE(a_log_that_cannot_be_rotated_grows),
        cmocka_unit_test(midnight_is_local),
        CASE(every_line_of_many_writers_is_written_or_counted),
        CASE(a_reader_that_does_not_read_stalls_nobody),
        CASE(a_full_disk_is_told_once_and_so_is_its_end),
        CASE(a_device_without_room_is_told_once),
        CASE(a_line_that_is_too_long_is_cut_and_marked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
