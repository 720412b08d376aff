/* SPDX-License-Identifier: Apache-2.0 */
#include "listing_test.h"

#include "list.h"

#include <grp.h>
#include <sys/wait.h>

enum { PLENTY = 1 << 20, ROOM = 64 << 20 };

static struct dirlisting_list *open_list(const struct place *place, bool links, size_t max)
{
    struct dirlisting_room *room = dirlisting_room_new(max);
    struct dirlisting_list *list = NULL;

    assert_non_null(room);
    assert_int_equal(dirlisting_list_open(&list, place->fd, links, room), 0);
    dirlisting_room_put(room);
    return list;
}

/* All names of a sorted list, each with a blank behind it. */
static void assert_names(struct dirlisting_list *list, const char *expected)
{
    struct dirlisting_entry entry;
    char names[1024] = "";

    while (dirlisting_list_next(list, &entry)) {
        strncat(names, entry.name.p, entry.name.len);
        strcat(names, entry.directory ? "/ " : " ");
    }
    assert_string_equal(names, expected);
}

static void assert_listing(const struct place *place, bool links, struct dirlisting_ask ask,
                           const char *expected)
{
    struct dirlisting_list *list = open_list(place, links, ROOM);

    assert_int_equal(dirlisting_list_read(list, PLENTY), DIRLISTING_ALL);
    dirlisting_list_sort(list, ask);
    assert_true(dirlisting_list_is_sorted(list));
    assert_true(dirlisting_list_is_all(list));
    assert_names(list, expected);
    dirlisting_list_close(list);
}

static void names_compare_as_people_count(void **state)
{
    static const char *const in_order[] = {
        "!",
        "0",
        "00",
        "01",
        "1",
        "2",
        "9",
        "10",
        "99999999999999999999",
        "100000000000000000000",
        "A",
        "a",
        "a0",
        "a1",
        "A1b",
        "a1c",
        "a2",
        "a10",
        "a10b",
        "aa",
        "B",
        "b",
        "\xC3\xA9",
    };
    const size_t count = sizeof(in_order) / sizeof(in_order[0]);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            int order =
                dirlisting_compare_names(mk_str_from(in_order[i]), mk_str_from(in_order[j]));

            if ((order > 0) - (order < 0) != (i > j) - (i < j))
                fail_msg("%s and %s: %d", in_order[i], in_order[j], order);
        }
    }
}

static void entries_are_sorted_as_asked(void **state)
{
    const struct place *place = *state;

    place_file(place, "b10", 300, 1000);
    place_file(place, "B9", 100, 3000);
    place_file(place, "a", 200, 2000);
    place_file(place, "c", 200, 2000);
    place_directory(place, "z");
    place_directory(place, "y");
    assert_listing(place, false, (struct dirlisting_ask){DIRLISTING_BY_NAME, false},
                   "y/ z/ a B9 b10 c ");
    assert_listing(place, false, (struct dirlisting_ask){DIRLISTING_BY_NAME, true},
                   "z/ y/ c b10 B9 a ");
    assert_listing(place, false, (struct dirlisting_ask){DIRLISTING_BY_SIZE, false},
                   "y/ z/ B9 a c b10 ");
    assert_listing(place, false, (struct dirlisting_ask){DIRLISTING_BY_SIZE, true},
                   "y/ z/ b10 a c B9 ");
    futimens(place->fd, NULL);
    utimensat(place->fd, "z", (struct timespec[2]){{.tv_sec = 5}, {.tv_sec = 5}}, 0);
    assert_listing(place, false, (struct dirlisting_ask){DIRLISTING_BY_TIME, false},
                   "z/ y/ b10 a c B9 ");
    assert_listing(place, false, (struct dirlisting_ask){DIRLISTING_BY_TIME, true},
                   "y/ z/ B9 a c b10 ");
}

static void facts_are_those_of_the_file(void **state)
{
    const struct place *place = *state;
    struct dirlisting_list *list;
    struct dirlisting_entry entry;

    place_file(place, "large", INT64_C(5) << 30, 1234567890);
    list = open_list(place, false, ROOM);
    assert_int_equal(dirlisting_list_read(list, PLENTY), DIRLISTING_ALL);
    assert_true(dirlisting_list_next(list, &entry));
    assert_true(entry.size == INT64_C(5) << 30);
    assert_int_equal(entry.time, 1234567890);
    assert_false(entry.directory);
    assert_false(dirlisting_list_next(list, &entry));
    dirlisting_list_close(list);
}

static void what_would_be_refused_is_left_out(void **state)
{
    const struct place *place = *state;

    place_file(place, ".hidden", 0, 0);
    place_directory(place, ".well-known");
    place_file(place, "file", 0, 0);
    place_directory(place, "dir");
    assert_int_equal(mkfifoat(place->fd, "fifo", 0644), 0);
    assert_int_equal(symlinkat("file", place->fd, "link"), 0);
    assert_int_equal(symlinkat("dir", place->fd, "linkdir"), 0);
    assert_int_equal(symlinkat("nowhere", place->fd, "dangling"), 0);
    assert_int_equal(symlinkat("loop", place->fd, "loop"), 0);
    assert_int_equal(symlinkat("fifo", place->fd, "linkfifo"), 0);
    assert_listing(place, false, (struct dirlisting_ask){0}, "dir/ file ");
    assert_listing(place, true, (struct dirlisting_ask){0}, "dir/ linkdir/ file link ");
}

/* In a process of its own, which is not root: root reads everything. */
static int names_for_somebody_else(const struct place *place, char *names, size_t room)
{
    int pipe_fds[2], status;
    ssize_t len;
    pid_t pid;

    assert_int_equal(pipe(pipe_fds), 0);
    pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setgid(65534) < 0 || setuid(65534) < 0))
            _exit(1);
        struct dirlisting_list *list = open_list(place, false, ROOM);
        struct dirlisting_entry entry;

        if (dirlisting_list_read(list, PLENTY) != DIRLISTING_ALL)
            _exit(2);
        dirlisting_list_sort(list, (struct dirlisting_ask){0});
        while (dirlisting_list_next(list, &entry))
            (void)dprintf(pipe_fds[1], "%.*s ", (int)entry.name.len, entry.name.p);
        dirlisting_list_close(list);
        _exit(0);
    }
    close(pipe_fds[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    len = read(pipe_fds[0], names, room - 1);
    close(pipe_fds[0]);
    names[len > 0 ? len : 0] = '\0';
    return status;
}

static void what_cannot_be_read_is_left_out(void **state)
{
    const struct place *place = *state;
    char names[256];

    place_file(place, "file", 0, 0);
    place_file(place, "secret", 0, 0);
    place_directory(place, "closed");
    place_directory(place, "passage");
    place_directory(place, "open");
    assert_int_equal(fchmod(place->fd, 0755), 0);
    assert_int_equal(fchmodat(place->fd, "secret", 0200, 0), 0);
    assert_int_equal(fchmodat(place->fd, "closed", 0644, 0), 0);
    assert_int_equal(fchmodat(place->fd, "passage", 0311, 0), 0);
    assert_int_equal(names_for_somebody_else(place, names, sizeof(names)), 0);
    assert_string_equal(names, "open file ");
    assert_int_equal(fchmodat(place->fd, "closed", 0755, 0), 0);
    assert_int_equal(fchmodat(place->fd, "passage", 0755, 0), 0);
}

static void the_longest_names_are_kept(void **state)
{
    const struct place *place = *state;
    struct dirlisting_list *list;
    struct dirlisting_entry entry;
    char name[DIRLISTING_NAME_MAX + 1];

    memset(name, 'x', DIRLISTING_NAME_MAX);
    name[DIRLISTING_NAME_MAX] = '\0';
    place_file(place, name, 0, 0);
    list = open_list(place, false, ROOM);
    assert_int_equal(dirlisting_list_read(list, PLENTY), DIRLISTING_ALL);
    assert_true(dirlisting_list_next(list, &entry));
    assert_int_equal(entry.name.len, DIRLISTING_NAME_MAX);
    assert_memory_equal(entry.name.p, name, DIRLISTING_NAME_MAX);
    dirlisting_list_close(list);
}

static void an_empty_directory_has_no_entries(void **state)
{
    assert_listing(*state, false, (struct dirlisting_ask){0}, "");
}

static void a_removed_directory_is_empty(void **state)
{
    const struct place *place = *state;
    struct place gone = {.fd = -1};
    struct dirlisting_list *list;

    place_directory(place, "gone");
    gone.fd = openat(place->fd, "gone", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    list = open_list(&gone, false, ROOM);
    assert_int_equal(unlinkat(place->fd, "gone", AT_REMOVEDIR), 0);
    assert_int_equal(dirlisting_list_read(list, PLENTY), DIRLISTING_ALL);
    assert_names(list, "");
    dirlisting_list_close(list);
    close(gone.fd);
}

static void a_descriptor_that_is_no_directory_is_refused(void **state)
{
    const struct place *place = *state;
    struct dirlisting_room *room = dirlisting_room_new(ROOM);
    struct dirlisting_list *list;
    int fd;

    place_file(place, "file", 0, 0);
    fd = openat(place->fd, "file", O_RDONLY | O_CLOEXEC);
    assert_int_equal(dirlisting_list_open(&list, fd, false, room), MK_E_NOENT);
    close(fd);
    dirlisting_room_put(room);
}

enum {
    MANY = 800,
    RECORD = 224
}; /* names of 200 bytes: 175 KB of records, in the first block and three others */

/* One file of many names: that is quicker to make. */
static int make_many(void **state)
{
    char name[256];

    place_open(state);
    place_file(*state, "file", 0, 0);
    for (int i = 1; i <= MANY; i++) {
        const struct place *place = *state;

        (void)snprintf(name, sizeof(name), "%0196d.txt", i);
        assert_int_equal(linkat(place->fd, "file", place->fd, name, 0), 0);
    }
    unlinkat(((struct place *)*state)->fd, "file", 0);
    return 0;
}

static void many_entries_fill_many_blocks(void **state)
{
    const struct place *place = *state;
    struct dirlisting_room *room = dirlisting_room_new(ROOM);
    struct dirlisting_list *list;
    struct dirlisting_entry entry;
    char name[256];
    int got;

    assert_int_equal(dirlisting_list_open(&list, place->fd, false, room), 0);
    assert_int_equal(dirlisting_room_used(room), 0);
    while ((got = dirlisting_list_read(list, 100)) == DIRLISTING_MORE)
        ;
    assert_int_equal(got, DIRLISTING_ALL);
    dirlisting_list_sort(list, (struct dirlisting_ask){0});
    assert_true(dirlisting_list_is_sorted(list));
    assert_in_range(dirlisting_room_used(room), MANY * (RECORD + 4) - DIRLISTING_BLOCK_FIRST,
                    MANY * (RECORD + 4) + DIRLISTING_BLOCK);
    for (int i = 1; i <= MANY; i++) {
        assert_true(dirlisting_list_next(list, &entry));
        (void)snprintf(name, sizeof(name), "%0196d.txt", i);
        assert_memory_equal(entry.name.p, name, entry.name.len);
    }
    assert_false(dirlisting_list_next(list, &entry));
    dirlisting_list_close(list);
    assert_int_equal(dirlisting_room_used(room), 0);
    dirlisting_room_put(room);
}

/* Each once, in whatever order, in memory that does not grow. */
static void without_room_entries_come_in_pieces(void **state)
{
    static bool seen[MANY + 1];
    const struct place *place = *state;
    struct dirlisting_room *room = dirlisting_room_new(DIRLISTING_BLOCK + 100);
    struct dirlisting_list *list;
    struct dirlisting_entry entry;
    int got, count = 0, pieces = 0;

    memset(seen, 0, sizeof(seen));
    assert_int_equal(dirlisting_list_open(&list, place->fd, false, room), 0);
    do {
        got = dirlisting_list_read(list, PLENTY);
        assert_true(got == DIRLISTING_FULL || got == DIRLISTING_ALL);
        assert_int_equal(dirlisting_room_used(room), pieces > 0 ? 0 : DIRLISTING_BLOCK);
        while (dirlisting_list_next(list, &entry)) {
            int number = atoi(entry.name.p);

            assert_in_range(number, 1, MANY);
            assert_false(seen[number]);
            seen[number] = true;
            count++;
        }
        pieces++;
        if (got == DIRLISTING_FULL) {
            assert_false(dirlisting_list_is_all(list));
            dirlisting_list_refill(list);
        }
    } while (got == DIRLISTING_FULL);
    assert_int_equal(count, MANY);
    assert_true(pieces > 5);
    dirlisting_list_close(list);
    dirlisting_room_put(room);
}

static void without_room_for_the_order_nothing_is_sorted(void **state)
{
    const struct place *place = *state;
    struct dirlisting_list *list;
    struct dirlisting_entry entry;
    int count = 0;

    list = open_list(place, false, (size_t)3 * DIRLISTING_BLOCK + MANY * 4 - 1);
    assert_int_equal(dirlisting_list_read(list, PLENTY), DIRLISTING_ALL);
    dirlisting_list_sort(list, (struct dirlisting_ask){0});
    assert_false(dirlisting_list_is_sorted(list));
    while (dirlisting_list_next(list, &entry))
        count++;
    assert_int_equal(count, MANY);
    dirlisting_list_close(list);
}

static void a_streamed_list_takes_no_room(void **state)
{
    const struct place *place = *state;
    struct dirlisting_room *room = dirlisting_room_new(ROOM);
    struct dirlisting_list *list;

    assert_int_equal(dirlisting_list_open(&list, place->fd, false, room), 0);
    dirlisting_list_stream(list);
    assert_int_equal(dirlisting_list_read(list, PLENTY), DIRLISTING_FULL);
    assert_int_equal(dirlisting_room_used(room), 0);
    dirlisting_list_close(list);
    dirlisting_room_put(room);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, place_open, place_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_compare_as_people_count),
        IN_PLACE(entries_are_sorted_as_asked),
        IN_PLACE(facts_are_those_of_the_file),
        IN_PLACE(what_would_be_refused_is_left_out),
        IN_PLACE(what_cannot_be_read_is_left_out),
        IN_PLACE(the_longest_names_are_kept),
        IN_PLACE(an_empty_directory_has_no_entries),
        IN_PLACE(a_removed_directory_is_empty),
        IN_PLACE(a_descriptor_that_is_no_directory_is_refused),
    };
    const struct CMUnitTest of_many[] = {
        cmocka_unit_test(many_entries_fill_many_blocks),
        cmocka_unit_test(without_room_entries_come_in_pieces),
        cmocka_unit_test(without_room_for_the_order_nothing_is_sorted),
        cmocka_unit_test(a_streamed_list_takes_no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) +
           cmocka_run_group_tests(of_many, make_many, place_close);
}
