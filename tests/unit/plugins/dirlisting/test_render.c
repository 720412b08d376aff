/* SPDX-License-Identifier: Apache-2.0 */
#include "listing_test.h"

#include "kit/text/escape.h"

#include "render.h"
#include "text.h"
#include "theme.h"

#ifndef THEMES
#error "THEMES: where the shipped themes are"
#endif

enum { PAGE_MAX = 1 << 20, PIECES_MAX = 256 };

struct cut {
    struct dirlisting_piece header[PIECES_MAX], entry[PIECES_MAX], footer[PIECES_MAX];
    struct dirlisting_theme theme;
};

static void cut_one(struct dirlisting_template *t, struct mk_str text,
                    struct dirlisting_piece *pieces)
{
    struct dirlisting_fault fault;
    ssize_t count = dirlisting_template_check(
        text, DIRLISTING_PAGE | DIRLISTING_ENTRY | DIRLISTING_JSON, &fault);

    assert_in_range(count, 0, PIECES_MAX);
    dirlisting_template_cut(t, text, pieces);
}

static void cut_theme(struct cut *c, const struct dirlisting_texts *texts)
{
    cut_one(&c->theme.header, texts->header, c->header);
    cut_one(&c->theme.entry, texts->entry, c->entry);
    cut_one(&c->theme.footer, texts->footer, c->footer);
}

/* The page of a place, given out in steps of so many bytes. @return terminated; the caller's. */
static char *render(const struct place *place, const struct dirlisting_texts *texts,
                    struct mk_str path, struct dirlisting_ask ask, size_t room_max, size_t step)
{
    struct dirlisting_room *room = dirlisting_room_new(room_max);
    char html[512], json[512], links[8192], *out = malloc(PAGE_MAX), *piece = malloc(step);
    struct dirlisting_page page = {.ask = ask};
    struct cut c;
    size_t len = 0;
    ssize_t n;

    assert_non_null(out);
    assert_non_null(piece);
    memset(&c, 0, sizeof(c));
    cut_theme(&c, texts);
    page.theme = &c.theme;
    page.subject.html_path = (struct mk_str){html, text_html(html, path)};
    page.subject.json_path = (struct mk_str){json, text_json(json, path)};
    assert_true(dirlisting_path_links_room(path) <= sizeof(links));
    page.subject.path_links = (struct mk_str){links, dirlisting_path_links(links, path)};
    page.subject.has_parent = path.len > 1;
    assert_int_equal(dirlisting_list_open(&page.list, place->fd, false, room), 0);
    if (dirlisting_list_read(page.list, 1 << 20) == DIRLISTING_ALL)
        dirlisting_list_sort(page.list, ask);
    while ((n = dirlisting_render(&page, piece, step)) != 0) {
        if (n == MK_E_AGAIN) {
            dirlisting_list_refill(page.list);
            assert_true(dirlisting_list_read(page.list, 1 << 20) >= 0);
            continue;
        }
        assert_in_range(n, 1, step);
        assert_true(len + (size_t)n < PAGE_MAX);
        memcpy(out + len, piece, (size_t)n);
        len += (size_t)n;
    }
    assert_int_equal(dirlisting_render(&page, piece, step), 0);
    out[len] = '\0';
    free(piece);
    dirlisting_list_close(page.list);
    dirlisting_room_put(room);
    return out;
}

static void assert_page(const struct place *place, const struct dirlisting_texts *texts,
                        const char *expected)
{
    static const size_t steps[] = {1, 2, 7, 8192};

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        char *page =
            render(place, texts, MK_STR("/a<b>/"), (struct dirlisting_ask){0}, 1 << 20, steps[i]);

        assert_string_equal(page, expected);
        free(page);
    }
}

static void tags_become_what_they_stand_for(void **state)
{
    static const struct dirlisting_texts texts = {
        .header = MK_STR_INIT("[%_html_title_%|%_theme_path_%|%_parent_state_%|%_note_%]\n"),
        .entry = MK_STR_INIT("%_target_type_%|%_target_title_%|%_target_url_%|%_target_name_%|"
                             "%_target_time_%|%_target_size_%|%_target_bytes_%\n"),
        .footer = MK_STR_INIT("%_summary_%\n"),
    };
    const struct place *place = *state;

    place_file(place, "a&\"\xFF", 2048, 0);
    place_file(place, "b", 1, 86400);
    place_directory(place, "d e");
    utimensat(place->fd, "d e", (struct timespec[2]){{.tv_sec = 5}, {.tv_sec = 5}}, 0);
    assert_page(place, &texts,
                "[/a&lt;b&gt;/|||]\n"
                "directory|d e|d%20e/|d e/|1970-01-01 00:00:05Z|-|directory\n"
                "file|a&amp;&quot;\xEF\xBF\xBD|a%26%22%FF|a&amp;&quot;\xEF\xBF\xBD|"
                "1970-01-01 00:00:00Z|2.0 KiB|2048 bytes\n"
                "file|b|b|b|1970-01-02 00:00:00Z|1 B|1 byte\n"
                "1 directory, 2 files, 2.0 KiB\n");
}

static void json_has_the_same(void **state)
{
    const struct place *place = *state;

    place_file(place, "a\"\xFF", 2048, 0);
    place_directory(place, "d");
    utimensat(place->fd, "d", (struct timespec[2]){{.tv_sec = 5}, {.tv_sec = 5}}, 0);
    assert_page(place, &dirlisting_json_texts,
                "{\"path\":\"/a<b>/\",\"sort\":\"name\",\"order\":\"asc\",\"sorted\":true,"
                "\"entries\":[\n"
                "{\"name\":\"d\",\"url\":\"d/\",\"type\":\"directory\",\"size\":null,"
                "\"time\":\"1970-01-01T00:00:05Z\"},\n"
                "{\"name\":\"a\\\"\\uFFFD\",\"url\":\"a%22%FF\",\"type\":\"file\",\"size\":2048,"
                "\"time\":\"1970-01-01T00:00:00Z\"}\n]}\n");
}

static void nothing_is_said_of_nothing(void **state)
{
    static const struct dirlisting_texts empty = {{"", 0}, {"", 0}, {"", 0}};
    static const struct dirlisting_texts summary = {
        {"", 0}, {"", 0}, MK_STR_INIT("%_summary_%%_note_%")};

    assert_page(*state, &empty, "");
    assert_page(*state, &summary, "Empty");
    place_file(*state, "x", 0, 0);
    assert_page(*state, &empty, "");
    assert_page(*state, &summary, "1 file, 0 B");
}

static void columns_link_to_the_other_order(void **state)
{
    static const struct dirlisting_texts texts = {
        .header = MK_STR_INIT("%_name_order_% %_name_link_%\n%_time_order_% %_time_link_%\n"
                              "%_size_order_% %_size_link_%\n"),
        .entry = {"", 0},
        .footer = {"", 0},
    };
    static const struct {
        struct dirlisting_ask ask;
        const char *expected;
    } rows[] = {
        {{DIRLISTING_BY_NAME, false},
         "ascending ?sort=name&amp;order=desc\nnone ?sort=time&amp;order=desc\n"
         "none ?sort=size&amp;order=desc\n"},
        {{DIRLISTING_BY_NAME, true},
         "descending ?sort=name&amp;order=asc\nnone ?sort=time&amp;order=desc\n"
         "none ?sort=size&amp;order=desc\n"},
        {{DIRLISTING_BY_TIME, true},
         "none ?sort=name&amp;order=asc\ndescending ?sort=time&amp;order=asc\n"
         "none ?sort=size&amp;order=desc\n"},
        {{DIRLISTING_BY_SIZE, false},
         "none ?sort=name&amp;order=asc\nnone ?sort=time&amp;order=desc\n"
         "ascending ?sort=size&amp;order=desc\n"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *page = render(*state, &texts, MK_STR("/"), rows[i].ask, 1 << 20, 100);

        assert_string_equal(page, rows[i].expected);
        free(page);
    }
}

static void a_page_in_pieces_says_that_it_is_not_sorted(void **state)
{
    static const struct dirlisting_texts texts = {
        .header = MK_STR_INIT("%_note_%|%_name_order_%|%_json_sorted_%\n"),
        .entry = MK_STR_INIT("."),
        .footer = MK_STR_INIT("\n%_summary_%|%_name_order_%"),
    };
    const struct place *place = *state;
    char name[256], *page, *dots;

    for (int i = 0; i < 200; i++) {
        (void)snprintf(name, sizeof(name), "%0200d", i);
        place_file(place, name, 1, 0);
    }
    page = render(place, &texts, MK_STR("/"), (struct dirlisting_ask){0}, 0, 100);
    dots = strchr(page, '\n') + 1;
    assert_true(strstr(page, "Too many entries"));
    assert_true(strstr(page, "|none|false\n"));
    assert_int_equal(strspn(dots, "."), 200);
    assert_string_equal(dots + 200, "\n200 files, 200 B|none");
    free(page);
}

static void paths_link_to_what_is_above(void **state)
{
    static const struct {
        const char *path, *links;
    } rows[] = {
        {"/", "<span aria-current=\"page\">/</span>"},
        {"/a/", "<a href=\"../\">/</a><span aria-current=\"page\">a/</span>"},
        {"/<&/b/", "<a href=\"../../\">/</a><a href=\"../\">&lt;&amp;/</a>"
                   "<span aria-current=\"page\">b/</span>"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char links[512] = {0};
        size_t len = dirlisting_path_links(links, mk_str_from(rows[i].path));

        assert_string_equal(links, rows[i].links);
        assert_true(len <= dirlisting_path_links_room(mk_str_from(rows[i].path)));
    }
}

static void deep_paths_stay_in_their_room(void **state)
{
    char path[4096];
    struct mk_str deep = {path, 4095};

    (void)state;
    for (size_t i = 0; i < deep.len; i++)
        path[i] = i % 2 ? '"' : '/';
    size_t room = dirlisting_path_links_room(deep);
    char *links = malloc(room);

    assert_non_null(links);
    assert_true(dirlisting_path_links(links, deep) <= room);
    assert_true(room < 32 << 10);
    free(links);
}

static void assert_shipped(const char *name, struct mk_str text)
{
    char path[512], shipped[DIRLISTING_THEME_FILE_MAX];
    FILE *file;
    size_t len;

    (void)snprintf(path, sizeof(path), "%s/default/%s", THEMES, name);
    file = fopen(path, "re");
    assert_non_null(file);
    len = fread(shipped, 1, sizeof(shipped), file);
    fclose(file);
    assert_int_equal(len, text.len);
    assert_memory_equal(shipped, text.p, len);
}

static void the_built_in_theme_is_the_shipped_one(void **state)
{
    struct dirlisting_fault fault;

    (void)state;
    assert_shipped("header.theme", dirlisting_default_texts.header);
    assert_shipped("entry.theme", dirlisting_default_texts.entry);
    assert_shipped("footer.theme", dirlisting_default_texts.footer);
    assert_true(
        dirlisting_template_check(dirlisting_default_texts.header, DIRLISTING_PAGE, &fault) > 0);
    assert_true(
        dirlisting_template_check(dirlisting_default_texts.footer, DIRLISTING_PAGE, &fault) > 0);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, place_open, place_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(tags_become_what_they_stand_for),
        IN_PLACE(json_has_the_same),
        IN_PLACE(nothing_is_said_of_nothing),
        IN_PLACE(columns_link_to_the_other_order),
        IN_PLACE(a_page_in_pieces_says_that_it_is_not_sorted),
        cmocka_unit_test(paths_link_to_what_is_above),
        cmocka_unit_test(deep_paths_stay_in_their_room),
        cmocka_unit_test(the_built_in_theme_is_the_shipped_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
