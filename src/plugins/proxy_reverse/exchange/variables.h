/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_VARIABLES_H
#define PROXY_VARIABLES_H

#include "exchange/head.h"

/* `$name` in the value of SetHeader. An application must never get the literal: it might take it for an address. */

/** The names there are, for a sentence. */
#define PROXY_VARIABLES                                                                            \
    "$remote_addr, $scheme, $host, $http_host, $server_port, $uri and $query (or $args); $$ is a " \
    "dollar sign"

enum { PROXY_PORT_TEXT = 8 };

/**
 * Take the first piece of a template: text that stands for itself, or a variable.
 * @param rest  in: what is left, not empty; out: what follows
 * @param name  out: of a variable, without its dollar; p NULL: text is what is meant
 * @return the text as written.
 */
struct mk_str proxy_template_next(struct mk_str *rest, struct mk_str *name);

/** Is there such a variable? */
bool proxy_is_variable(struct mk_str name);

/**
 * What a variable stands for in a request; borrowed from it or from scratch.
 * @param is_path  out: it is decoded, and goes into a field percent-encoded
 */
struct mk_str proxy_variable(struct mk_str name, const struct proxy_request *q,
                             char scratch[PROXY_PORT_TEXT], bool *is_path);

#endif
