/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <cmocka.h>

#include "kit/text/set.h"

enum { MANY = 5000, LONGEST = 4095 };

/* As much of a server as is needed: memory that is given back at the end of a test. */

static struct {
    void *blocks[64];
    size_t count, bytes;
    long left; /* until one fails; negative: none does */
} memory;

void *mk_setup_alloc(struct mk_setup *setup, size_t size)
{
    (void)setup;
    assert_true(memory.count < 64);
    if (memory.left-- == 0)
        return NULL;
    memory.bytes += size;
    return memory.blocks[memory.count++] = calloc(1, size ? size : 1);
}

static int begin(void **state)
{
    (void)state;
    memset(&memory, 0, sizeof(memory));
    memory.left = -1;
    return 0;
}

static int give_back(void **state)
{
    (void)state;
    while (memory.count > 0)
        free(memory.blocks[--memory.count]);
    return 0;
}

/* ---- the same as looking for each ---- */

static uint32_t seed = 1;

static uint32_t chance(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

static void make_text(char *text, size_t len, const char *letters)
{
    for (size_t i = 0; i < len; i++)
        text[i] = letters[chance((uint32_t)strlen(letters))];
    text[len] = '\0';
}

static void check_path(const struct text_set *t, const struct mk_str *items, uint32_t count,
                       const char *path)
{
    uint8_t found[TEXT_SET_FOUND_SIZE(MANY)] = {0};
    uint32_t next = 0;

    text_set_find(t, (struct mk_str){path, strlen(path)}, found);
    for (uint32_t i = 0; i < count; i++) {
        if (!strcasestr(path, items[i].p))
            continue;
        next = text_set_next(found, next, count);
        if (next++ != i)
            fail_msg("\"%s\" in \"%s\": %u", items[i].p, path, next - 1);
    }
    assert_int_equal(text_set_next(found, next, count), count);
}

static void finds_what_a_search_for_each_finds(void **state)
{
    static char texts[300][16];
    static struct mk_str items[300];

    (void)state;
    for (int round = 0; round < 300; round++) {
        const char *letters = round % 2 ? "ab" : "ab/c.\xe9";
        uint32_t count = chance(round % 3 ? 8 : 300) + 1;
        char path[64];
        struct text_set t;

        for (uint32_t i = 0; i < count; i++) {
            make_text(texts[i], 1 + chance(round % 5 ? 5 : 12), letters);
            items[i] = (struct mk_str){texts[i], strlen(texts[i])};
        }
        assert_int_equal(text_set_build(&t, NULL, items, count), 0);
        for (int i = 0; i < 30; i++) {
            make_text(path, chance(40), i % 2 ? "abAB" : "aAbB/cC.\xe9x");
            check_path(&t, items, count, path);
        }
        (void)give_back(state);
    }
}

static void nothing_is_found_without_texts(void **state)
{
    struct mk_str none = {"", 0};
    struct text_set t;
    uint8_t found[1] = {0};

    (void)state;
    assert_int_equal(text_set_build(&t, NULL, &none, 0), 0);
    text_set_find(&t, MK_STR("/a"), found);
    assert_int_equal(text_set_next(found, 0, 0), 0);
}

static void lack_of_memory_is_an_error(void **state)
{
    struct mk_str items[] = {MK_STR("ab"), MK_STR("b")};
    struct text_set t;
    int err = MK_E_NOMEM;
    long n = 0;

    for (; err == MK_E_NOMEM; n++) {
        memory.left = n;
        err = text_set_build(&t, NULL, items, 2);
        (void)give_back(state);
    }
    assert_int_equal(err, 0);
    assert_int_equal(n, 7);
}

/* ---- what it costs ---- */

static int64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void measure(const struct text_set *t, const char *what, struct mk_str path)
{
    static uint8_t found[TEXT_SET_FOUND_SIZE(MANY)];
    int64_t least = INT64_MAX; /* what else the machine does hardly adds to each of the runs */

    for (int i = 0; i < 101; i++) {
        int64_t begun = now_ns(), spent;

        memset(found, 0, sizeof(found));
        text_set_find(t, path, found);
        (void)text_set_next(found, 0, MANY);
        spent = now_ns() - begun;
        least = spent < least ? spent : least;
    }
    print_message("%s: %.1f us for %zu bytes\n", what, (double)least / 1000, path.len);
    /* 20 us are aimed at; with TSan it takes 300, and one after the other took 6 ms */
    assert_true(least < 1500000);
}

/* Of each kind of list: a hostile path, and one that is made of beginnings of texts. */
static void five_thousand_texts_are_found_in_one_pass(void **state)
{
    static char texts[MANY][200], path[LONGEST + 200];
    static struct mk_str items[MANY];

    for (int kind = 0; kind < 4; kind++) {
        int64_t begun = now_ns();
        struct text_set t;
        size_t len = 0;

        memory.bytes = 0;
        for (uint32_t i = 0; i < MANY; i++) {
            if (kind == 0)
                (void)snprintf(texts[i], sizeof(texts[i]), "/folder-%04u/of/secrets", i);
            else if (kind == 1)
                make_text(texts[i], 20, "abcdefghijklmnopqrstuvwxyz0123456789-_/.");
            else if (kind == 2)
                (void)snprintf(texts[i], sizeof(texts[i]), "/a/%u.php", i);
            else /* each a part of the next: many end at the same place */
                memset(texts[i], 'a', 1 + i % 199);
            items[i] = (struct mk_str){texts[i], strlen(texts[i])};
        }
        assert_int_equal(text_set_build(&t, NULL, items, MANY), 0);
        print_message("kind %d: built in %.1f ms, %zu KB\n", kind, (double)(now_ns() - begun) / 1e6,
                      memory.bytes >> 10);
        assert_true(memory.bytes <= (size_t)t.nnodes * 13 + (256 << 10) + 5 * MANY);
        while (len < LONGEST) {
            struct mk_str item = items[chance(MANY)];
            size_t n = 1 + chance((uint32_t)item.len);

            memcpy(path + len, item.p, n);
            len += n;
        }
        measure(&t, "beginnings", (struct mk_str){path, LONGEST});
        for (int i = 0; i < LONGEST; i++)
            path[i] = i % 2 ? 'a' : '/';
        measure(&t, "/a/a", (struct mk_str){path, LONGEST});
        memset(path, 'a', LONGEST);
        measure(&t, "aaaa", (struct mk_str){path, LONGEST});
        for (int i = 0; i < LONGEST; i++)
            path[i] = "/folder-0/of"[i % 12];
        measure(&t, "/folder-0/of", (struct mk_str){path, LONGEST});
        (void)give_back(state);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, give_back)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(finds_what_a_search_for_each_finds),
        TEST(nothing_is_found_without_texts),
        TEST(lack_of_memory_is_an_error),
        TEST(five_thousand_texts_are_found_in_one_pass),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
