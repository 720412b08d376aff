/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_TEST_H
#define DUDA_TEST_H

#include <stddef.h>
#include <string.h>

/*
 * Tests of a service, in its files *_test.c, for `dudac test`: they ask the service from memory, without a port. Each runs in
 * a process of its own with a server that has just started.
 *
 *     #include "duda_test.h"
 *
 *     TEST(greets_by_name)
 *     {
 *         const struct duda_answer *answer = GET("/hello/greet?name=Ann");
 *
 *         EXPECT(answer->status == 200);
 *         EXPECT_TEXT(answer->body, "Hello, Ann!\n");
 *     }
 */

/** An answer, complete. It lives until the test ends, and so do texts of duda_test_field. */
struct duda_answer {
    int status;         /* 0: there was none, which fails the test */
    const char *fields; /* "Name: value\r\n" lines, terminated */
    const char *body;   /* without chunks, terminated behind its len bytes */
    size_t len;
};

/**
 * Ask the service, and wait for the answer.
 * @param target  "/NAME/path?query"
 * @param fields  "Name: value\r\n" lines; NULL or "": none. Content-Length is added
 * @param body    len bytes; NULL: none
 * @return never NULL
 */
const struct duda_answer *duda_test_ask(const char *method, const char *target, const char *fields,
                                        const char *body, size_t len);

/** @return the value of the first field of this name, in any case; NULL: there is none. */
const char *duda_test_field(const struct duda_answer *answer, const char *name);

/** The same with a text, or NULL. */
const struct duda_answer *duda_test_ask_text(const char *method, const char *target,
                                             const char *fields, const char *text);

#define ASK(method, target, fields, text) duda_test_ask_text(method, target, fields, text)
#define GET(target) ASK("GET", target, NULL, NULL)
#define POST(target, text) ASK("POST", target, NULL, text)
#define PUT(target, text) ASK("PUT", target, NULL, text)
#define DELETE(target) ASK("DELETE", target, NULL, NULL)

/** Ends the function that has it, and fails the test, unless the condition holds. The function returns no value. */
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            duda_test_fail(__FILE__, __LINE__, #condition);                                        \
            return;                                                                                \
        }                                                                                          \
    } while (0)

/** The same for two texts, which are printed if they differ. */
#define EXPECT_TEXT(actual, expected)                                                              \
    do {                                                                                           \
        if (!duda_test_is_text(__FILE__, __LINE__, actual, expected))                              \
            return;                                                                                \
    } while (0)

/** A test; its name is a word, and each file may have one of this name. */
#define TEST(name)                                                                                 \
    static void name(void);                                                                        \
    __attribute__((constructor)) static void duda_test_add_##name(void)                            \
    {                                                                                              \
        static struct duda_test test = {name, #name, __FILE__, NULL};                              \
        duda_test_add(&test);                                                                      \
    }                                                                                              \
    static void name(void)

/* ---- of the macros ---- */

struct duda_test {
    void (*function)(void);
    const char *name, *file;
    struct duda_test *next;
};

void duda_test_add(struct duda_test *test);
void duda_test_fail(const char *file, int line, const char *condition);
int duda_test_is_text(const char *file, int line, const char *actual, const char *expected);

#endif
