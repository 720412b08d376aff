/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GUARD_H
#define TESTS_GUARD_H

/*
 * Memory that ends at an inaccessible page, so that one byte read or written too far is a crash,
 * with or without sanitizers. Also what every test of a table needs.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <unistd.h>

#include <monkey/types.h>

struct guard {
    char *map;
    size_t room; /* usable bytes, which end at the inaccessible page */
};

static inline struct guard guard_open(size_t room)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t usable = (room + page - 1) / page * page;
    char *map =
        mmap(NULL, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(map != MAP_FAILED);
    assert_int_equal(mprotect(map + usable, page, PROT_NONE), 0);
    return (struct guard){map, usable};
}

static inline void guard_close(struct guard *g)
{
    munmap(g->map, g->room + (size_t)sysconf(_SC_PAGESIZE));
    g->map = NULL;
}

/** The last len bytes before the inaccessible page. */
static inline char *guard_end(const struct guard *g, size_t len)
{
    assert_true(len <= g->room);
    return g->map + g->room - len;
}

/** Copy bytes so that they end at the inaccessible page; what was there before is wiped. */
static inline char *guard_put(const struct guard *g, const void *bytes, size_t len)
{
    char *at = guard_end(g, len);

    memset(g->map, 0xee, g->room);
    if (len > 0)
        memcpy(at, bytes, len);
    return at;
}

static inline struct mk_str guard_str(const struct guard *g, struct mk_str s)
{
    return s.p ? (struct mk_str){guard_put(g, s.p, s.len), s.len} : s;
}

/** Text of a slice for a message; cut when long. One at a time. */
static inline const char *show(struct mk_str s)
{
    static char text[256];
    size_t out = 0;

    for (size_t i = 0; i < s.len && out + 8 < sizeof(text); i++) {
        unsigned char c = (unsigned char)s.p[i];

        out += (size_t)snprintf(text + out, sizeof(text) - out,
                                c >= 0x20 && c < 0x7f ? "%c" : "\\x%02x", c);
    }
    text[out] = '\0';
    return text;
}

#endif
