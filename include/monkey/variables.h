/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_VARIABLES_H
#define MONKEY_VARIABLES_H

/*
 * Variables of settings, such as `$host` in `Header X-Where $host`: the same names with the same meaning for the server and
 * for plugins. A setting is taken apart when it is read, and again for each request:
 *
 *     while (rest.len > 0) {
 *         const int which = mk_variable_next(&rest, &text);
 *
 *         if (which < 0)
 *             mk_setup_fault(setup, at, "unknown variable \"%.*s\"; expected " MK_VARIABLES_TEXT, ...);
 *     }
 *
 * Reading is in this header: a plugin runs with a server that knows fewer variables, whose values are empty then.
 */

#include <monkey/request.h>

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum mk_variable {
    MK_VARIABLE_TEXT, /* none: text that stands for itself */
    MK_VARIABLE_PATH, /* decoded and normalised: it is to be percent-encoded where it is written */
    MK_VARIABLE_TARGET, /* path and query as they were sent, without an origin */
    MK_VARIABLE_QUERY,  /* behind `?`, as sent; p NULL without */
    MK_VARIABLE_HOST, /* that was asked for, without its port; of a request without one the site's first name */
    MK_VARIABLE_HTTP_HOST,   /* as sent */
    MK_VARIABLE_SCHEME,      /* "http", "https" */
    MK_VARIABLE_REMOTE_ADDR, /* the client's IP address; "unknown": it came through a unix socket */
    MK_VARIABLE_SERVER_PORT, /* of the listening address; empty: it has none */
    MK_VARIABLE_REQUEST_ID,  /* of the plugin trace, once it has had the request; p NULL: none */
    MK_VARIABLE_COUNT
};

/** The names there are, for a sentence. */
#define MK_VARIABLES_TEXT                                                                          \
    "$remote_addr, $scheme, $host, $http_host, $server_port, $request_id, $request_uri, "          \
    "$uri or $path, $query or $args, and $$ for a dollar"

enum { MK_VARIABLE_ROOM = MK_PEER_TEXT };

/**
 * What a variable stands for in a request.
 * @param which  also TEXT, or one that this server does not know: empty
 * @param room   where the value may be written
 * @return borrowed from the request or from room; without CR, LF and other bytes that a field cannot have, except for PATH.
 */
MK_API struct mk_str mk_request_variable(const struct mk_request *r, int which,
                                         char room[MK_VARIABLE_ROOM]);

/* The names without pointers, which a loader would have to set. */
static inline int mk_variable_find(struct mk_str name)
{
    static const struct {
        char name[12];
        unsigned char which;
    } known[] = {
        {"uri", MK_VARIABLE_PATH},
        {"path", MK_VARIABLE_PATH},
        {"request_uri", MK_VARIABLE_TARGET},
        {"query", MK_VARIABLE_QUERY},
        {"args", MK_VARIABLE_QUERY},
        {"host", MK_VARIABLE_HOST},
        {"http_host", MK_VARIABLE_HTTP_HOST},
        {"scheme", MK_VARIABLE_SCHEME},
        {"remote_addr", MK_VARIABLE_REMOTE_ADDR},
        {"server_port", MK_VARIABLE_SERVER_PORT},
        {"request_id", MK_VARIABLE_REQUEST_ID},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (name.len < sizeof(known[i].name) && known[i].name[name.len] == '\0' &&
            memcmp(name.p, known[i].name, name.len) == 0)
            return known[i].which;
    }
    return MK_E_NOENT;
}

/**
 * Take the first piece of a text.
 * @param rest  in: what is left, not empty; out: what follows
 * @param text  out: the piece; of a variable as written, with its dollar
 * @return the variable; MK_VARIABLE_TEXT: text is what is meant; MK_E_NOENT: there is no such variable, or a dollar is followed
 *         by neither a letter nor `_`, and text is the dollar alone.
 */
static inline int mk_variable_next(struct mk_str *rest, struct mk_str *text)
{
    const struct mk_str all = *rest;
    size_t len = 1, used;
    int which = MK_VARIABLE_TEXT;

    if (all.p[0] != '$') {
        while (len < all.len && all.p[len] != '$')
            len++;
        used = len;
    } else if (all.len > 1 && all.p[1] == '$') {
        used = 2;
    } else {
        struct mk_str name = {all.p + 1, 0};

        while (len < all.len &&
               (all.p[len] == '_' || ((all.p[len] | 0x20) >= 'a' && (all.p[len] | 0x20) <= 'z')))
            len++;
        name.len = len - 1;
        used = len;
        which = mk_variable_find(name);
    }
    text->p = all.p;
    text->len = len;
    rest->p = all.p + used;
    rest->len = all.len - used;
    return which;
}

#ifdef __cplusplus
}
#endif

#endif
