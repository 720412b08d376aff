/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_COMPAT_SCENE_H
#define TESTS_COMPAT_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdbool.h>

/* What tests of the older interfaces share: a folder with a socket and files, and a client. */

/** Make the folder, and remove it. For cmocka's groups. */
int compat_set_up(void **state);
/** The same, with compat_listen_to_warnings(). */
int compat_set_up_listening(void **state);
int compat_tear_down(void **state);

/** @return "FOLDER/name"; static for each name, of which there are few. */
const char *compat_path(const char *name);
/** @return "unix:FOLDER/name", likewise. */
const char *compat_address(const char *name);
void compat_write(const char *name, const char *text);

/** A connection to the socket of this name. */
int compat_connect(const char *name);
void compat_send(int fd, const char *text, size_t len);
/** @return what comes until the end, terminated, for free(). */
char *compat_rest(int fd);

/** Send one request, and read the answer. @param head  without the last empty line. @return as compat_rest. */
char *compat_ask(const char *name, const char *head, const char *body, size_t len);
/** Ask for a path with GET. The answer has this status and this body; body NULL: any. */
void compat_expect(const char *name, const char *path, int status, const char *body);
/** Compare an answer, and free it. @param body  NULL: any */
void compat_is(char *answer, int status, const char *body);

/** Keep standard error in a file from now on. */
void compat_listen_to_warnings(void);
/** Has a warning with these words been written since the last call? */
bool compat_warned(const char *words);

/** Let n more allocations succeed and the one after that fail, in the libraries and in the core; -1: all succeed. */
void compat_fail_after(long n);

#endif
