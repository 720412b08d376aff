/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_VARIABLES_H
#define MONKEY_VARIABLES_H

/*
 * Variables of settings, such as `$host` in `Header X-Where $host`: the same names with the same meaning for the server and
 * for plugins. A text with variables is taken apart once, when it is read, into a template of pieces:
 *
 *     err = mk_setup_template(setup, setting, setting->value, 0, &settings->where);
 *
 * and for each request its pieces are written one after the other, each escaped for its place:
 *
 *     for (size_t i = 0; i < t->count; i++)
 *         put(mk_template_value(&t->pieces[i], r, room));
 */

#include <monkey/request.h>
#include <monkey/settings.h>

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
    MK_VARIABLE_HTTP_HOST,   /* as sent; empty: it is none */
    MK_VARIABLE_SCHEME,      /* "http", "https" */
    MK_VARIABLE_REMOTE_ADDR, /* the client's IP address; "unknown": it came through a unix socket */
    MK_VARIABLE_SERVER_PORT, /* of the listening address; empty: it has none */
    MK_VARIABLE_REQUEST_ID,  /* of the plugin trace, once it has had the request; p NULL: none */
    MK_VARIABLE_REMOTE_PORT, /* the client's; empty: it came through a unix socket */
    MK_VARIABLE_TLS_VERSION, /* such as "TLSv1.3"; p NULL: not encrypted */
    MK_VARIABLE_TLS_SUBJECT, /* of a verified client certificate; p NULL: none */
    MK_VARIABLE_COUNT,
    MK_VARIABLE_ENVIRONMENT = 100, /* `${NAME}`: text, which was read with the configuration */
    MK_VARIABLE_GROUP              /* `$0` to `$9`: of a regular expression */
};

enum {
    MK_VARIABLE_ROOM = MK_PEER_TEXT,
    MK_TEMPLATE_MAX = 64, /* pieces */
    MK_ENVIRONMENT_VALUE_MAX = 4096,
    /* what else a text may have */
    MK_TEMPLATE_GROUPS = 1, /* `$1`; otherwise they are unknown variables */
    MK_TEMPLATE_PRICES = 2  /* a dollar before no letter, `_` or brace is text, as in `$5` */
};

struct mk_template_piece {
    struct mk_str
        text;  /* TEXT and ENVIRONMENT: what is meant; others: as written, with the dollar */
    int which; /* enum mk_variable */
};

/** A text taken apart. Zeroed: an empty one. */
struct mk_template {
    const struct mk_template_piece *pieces;
    size_t count;
};

/**
 * Take a text of a setting apart and replace the variables of the environment. Noted as errors at the setting are: an unknown
 * variable, with the nearest name; one that the environment has not, or whose value is empty, longer than
 * MK_ENVIRONMENT_VALUE_MAX or has control characters; more than MK_TEMPLATE_MAX pieces.
 * @param text   of the setting's value, or a copy; need not outlive the call
 * @param flags  MK_TEMPLATE_GROUPS, MK_TEMPLATE_PRICES
 * @param t      out: lives as long as the settings
 * @return 0, MK_E_INVALID or MK_E_NOMEM.
 */
MK_API int mk_setup_template(struct mk_setup *setup, const struct mk_setting *s, struct mk_str text,
                             unsigned flags, struct mk_template *t) MK_MUST_USE;

/**
 * What a variable stands for in a request.
 * @param which  also TEXT, or one that this server does not know: empty
 * @param room   where the value may be written
 * @return borrowed from the request or from room; without CR, LF and other bytes that a field cannot have, except for PATH.
 */
MK_API struct mk_str mk_request_variable(const struct mk_request *r, int which,
                                         char room[MK_VARIABLE_ROOM]);

static inline bool mk_template_is_text(const struct mk_template_piece *piece)
{
    return piece->which == MK_VARIABLE_TEXT || piece->which == MK_VARIABLE_ENVIRONMENT;
}

/** Does a text mean the same for all requests? */
static inline bool mk_template_is_fixed(const struct mk_template *t)
{
    size_t i = 0;

    while (i < t->count && mk_template_is_text(&t->pieces[i]))
        i++;
    return i == t->count;
}

static inline struct mk_str mk_template_value(const struct mk_template_piece *piece,
                                              const struct mk_request *r,
                                              char room[MK_VARIABLE_ROOM])
{
    return mk_template_is_text(piece) ? piece->text : mk_request_variable(r, piece->which, room);
}

/* ---- reading, for mk_setup_template and for tests ---- */

/** The names, in the order of enum mk_variable, and two other ones; each ends in a NUL, and the last in another. */
static const char mk_variable_names[] =
    "path\0request_uri\0query\0host\0http_host\0scheme\0remote_addr\0server_port\0request_id\0"
    "remote_port\0tls_version\0tls_client_subject\0uri\0args\0";

enum { MK_VARIABLE_URI = MK_VARIABLE_COUNT, MK_VARIABLE_ARGS, MK_VARIABLE_NAMES };

/** Walk the names. @param which  0 at first; of a name is its number @return NULL after the last. */
static inline const char *mk_variable_next_name(const char *name, int *which)
{
    name = *which == 0 ? mk_variable_names : name + strlen(name) + 1;
    ++*which;
    return *name ? name : NULL;
}

static inline int mk_variable_find(struct mk_str wanted)
{
    int which = 0;

    for (const char *name = NULL; (name = mk_variable_next_name(name, &which)) != NULL;) {
        if (strlen(name) == wanted.len && memcmp(name, wanted.p, wanted.len) == 0)
            return which == MK_VARIABLE_URI    ? MK_VARIABLE_PATH
                   : which == MK_VARIABLE_ARGS ? MK_VARIABLE_QUERY
                                               : which;
    }
    return MK_E_NOENT;
}

/**
 * Take the first piece of a text.
 * @param rest   in: what is left, not empty; out: what follows
 * @param piece  out; the text of ENVIRONMENT is the name alone; which is MK_E_NOENT for a variable that there is not, whose text
 *               is the dollar alone, or with a brace, if that is followed by no name
 */
static inline void mk_variable_next(struct mk_str *rest, struct mk_template_piece *piece)
{
    const char *p = rest->p, *end = p + rest->len, *close;
    const char second = rest->len > 1 ? p[1] : '\0';
    struct mk_str text = {p, 1}, name;

    piece->which = MK_VARIABLE_TEXT;
    if (*p != '$') {
        while (++p < end && *p != '$')
            text.len++;
    } else if (second == '$') {
        p += 2;
    } else if (second >= '0' && second <= '9') {
        piece->which = MK_VARIABLE_GROUP;
        text.len = 2;
        p += 2;
    } else if (second == '\x7b') { /* a brace */
        close = (const char *)memchr(p, '\x7d', rest->len);
        piece->which = MK_E_NOENT;
        text.len = 2;
        if (close && close > p + 2) {
            piece->which = MK_VARIABLE_ENVIRONMENT;
            text.p = p + 2;
            text.len = (size_t)(close - text.p);
            p = close + 1;
        }
    } else {
        while (++p < end && (*p == '_' || ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z')))
            text.len++;
        name.p = text.p + 1;
        name.len = text.len - 1;
        piece->which = mk_variable_find(name);
    }
    piece->text = text;
    rest->p = p;
    rest->len = (size_t)(end - p);
}

/**
 * Take a text apart.
 * @param pieces  room; refer to the text. Those of ENVIRONMENT have the name
 * @param count   out: pieces
 * @param wrong   out, with MK_E_NOENT: what is no variable
 * @return 0, MK_E_NOENT, or MK_E_LIMIT: more than MK_TEMPLATE_MAX pieces.
 */
static inline int mk_template_read(struct mk_template_piece pieces[MK_TEMPLATE_MAX], size_t *count,
                                   struct mk_str text, unsigned flags, struct mk_str *wrong)
{
    *count = 0;
    while (text.len > 0) {
        struct mk_template_piece piece;
        bool is_price;

        mk_variable_next(&text, &piece);
        is_price = piece.which == MK_VARIABLE_GROUP || (piece.which < 0 && piece.text.len == 1);
        if (is_price && (flags & MK_TEMPLATE_PRICES))
            piece.which = MK_VARIABLE_TEXT;
        if (piece.which < 0 ||
            (piece.which == MK_VARIABLE_GROUP && !(flags & MK_TEMPLATE_GROUPS))) {
            *wrong = piece.text;
            return MK_E_NOENT;
        }
        if (*count == MK_TEMPLATE_MAX)
            return MK_E_LIMIT;
        pieces[(*count)++] = piece;
    }
    return 0;
}

#ifdef __cplusplus
}
#endif

#endif
