/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_LIB_EMBEDDED_H
#define TESTS_UNIT_LIB_EMBEDDED_H

#include <monkey/ask.h>
#include <monkey/events.h>
#include <monkey/plugin.h>

/* A server inside the test, whose handlers are functions of the test. */

/** Workers, a free port, the plugin of the test (NULL: none). Log lines below errors are not written. */
struct mk_config *embedded_config(const char *workers, const struct mk_plugin *plugin,
                                  void *argument);
/** The same for mk_plugin.check_site: every path is the plugin's. */
int embedded_route(struct mk_setup *setup);
/** A mk_text_fn: append to arg, a string with room for 16000 bytes. */
void embedded_append(void *arg, const char *text, size_t len);
/** Made and listening, not started. */
struct mk_server *embedded_server(struct mk_config *config);
/** @return a connection to its first address; it does not block. */
int embedded_connect(const struct mk_server *server);
/** Send a GET that asks to close. */
void embedded_get(int fd, const char *path);
/** Read what is there. @return 1: all was read, to the end; 0: more may come. @param text  in and out: size bytes, terminated */
int embedded_read(int fd, char *text, size_t size);

#endif
