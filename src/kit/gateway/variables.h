/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_GATEWAY_VARIABLES_H
#define KIT_GATEWAY_VARIABLES_H

#include "kit/gateway/script.h"

/*
 * The meta-variables of a request (RFC 3875 section 4.1), with those that programs have come to expect besides.
 */

/**
 * Take one variable; nothing of it may be kept by reference.
 * @param value  never has p NULL; no NUL in it
 * @return 0, or an error that ends the walk.
 */
typedef int (*gateway_put_fn)(void *arg, struct mk_str name, struct mk_str value);

struct gateway_variable {
    struct mk_str name, value;
};

struct gateway_variables {
    const struct gateway_script *script;
    int64_t
        content_length; /* of the body that the backend will get, its framing taken out; -1: not known */
    bool has_body;      /* did the request announce one? An empty one has CONTENT_LENGTH 0 */
    const struct gateway_variable
        *own; /* of the configuration: behind all others, in place of one of the same name */
    size_t nown;
};

/**
 * Give every variable to put_one.
 *
 * Fields of the request become HTTP_NAME in capitals with `-` as `_`. A field whose name has other characters than
 * letters, digits and `-` has none, since a `_` would pass for a `-`. Repeated fields are joined (RFC 9110 section 5.3; Cookie by
 * "; "). There is no HTTP_PROXY, which programs take for a setting of their own, nothing that is said of the framing, to a
 * proxy, or of what the client expects before it sends, and no HTTP_AUTHORIZATION where the server itself has checked the password.
 *
 * Fields of notes (<monkey/notes.h>) take the place of the client's.
 *
 * @return 0, MK_E_NOMEM, or what put_one said.
 */
int gateway_variables_each(const struct gateway_variables *v, struct mk_request *r,
                           gateway_put_fn put_one, void *arg) MK_MUST_USE;

/** The variable's name of a field. @return its length; 0: the field has none. @param dst  room for GATEWAY_NAME_MAX bytes */
enum { GATEWAY_NAME_MAX = 256 };
size_t gateway_field_name(char dst[GATEWAY_NAME_MAX], struct mk_str field);

/**
 * Host and port of the address that a connection came to, as struct mk_conn_facts has it.
 * @param host  out: without brackets; empty for every address and for unix sockets
 * @param port  out: empty for unix sockets
 */
void gateway_split_address(const char *address, struct mk_str *host, struct mk_str *port);

#endif
