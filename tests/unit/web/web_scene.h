/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WEB_SCENE_H
#define TESTS_WEB_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <monkey/ask.h>
#include <monkey/server.h>
#include <monkey/web.h>

#include <stdbool.h>

/* What tests of the library share: a server, mostly of one worker, whose requests come from memory. */

/** A configuration without files that listens on a free port. */
struct mk_config *web_config(void);

/** The same with so many workers. */
struct mk_config *web_config_of(const char *workers);

/** A server of that configuration; freed by mk_server_free. */
struct mk_server *web_serve(struct mk_config *config);

/** A server with one handler. */
struct mk_server *web_serve_one(const char *methods, const char *pattern, mk_handle_fn fn,
                                void *arg);

/** @param fields  field lines with their line ends; NULL: none. @param body  NULL: none */
struct mk_answer *web_ask(struct mk_server *server, const char *method, const char *target,
                          const char *fields, const char *body);

/** Ask with GET and compare status and body; body NULL: any. */
void web_expect(struct mk_server *server, const char *target, unsigned status, const char *body);

/** Compare an answer, and free it. @param body  NULL: any */
void web_is(struct mk_answer *answer, unsigned status, const char *body);

/** @return whether the answer has this line, "Allow: GET". */
bool web_has_line(const struct mk_answer *answer, const char *line);

#endif
