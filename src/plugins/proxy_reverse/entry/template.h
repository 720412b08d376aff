/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_TEMPLATE_H
#define PROXY_TEMPLATE_H

#include <monkey/types.h>

#include <stdbool.h>

/* `$name` in the value of SetHeader. An application must never get the literal: it might take it for an address. */

/** The names there are, for a sentence. */
#define PROXY_VARIABLES                                                                            \
    "$remote_addr, $scheme, $host, $http_host, $server_port, $uri and $query (or $args); $$ is a " \
    "dollar sign"

/**
 * Take the first piece of a template: text that stands for itself, or a variable.
 * @param rest  in: what is left, not empty; out: what follows
 * @param name  out: of a variable, without its dollar; p NULL: text is what is meant
 * @return the text as written.
 */
struct mk_str proxy_template_next(struct mk_str *rest, struct mk_str *name);

/** Is there such a variable? */
bool proxy_is_variable(struct mk_str name);

#endif
