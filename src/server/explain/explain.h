/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_EXPLAIN_EXPLAIN_H
#define MK_SERVER_EXPLAIN_EXPLAIN_H

#include "base/arena.h"
#include "core/addr.h"
#include "setup/snapshot.h"

#include <monkey/explain.h>

/*
 * Who would answer a request, and why: the request is asked in a server that neither listens nor has threads, in which
 * stand-ins take the place of plugins and note what each of them says.
 *
 *     steps.c      the notes, and what plugins call to make some
 *     stand_in.c   what the server sees in place of a plugin
 *     tell.c       what the server itself decided, as the finished request shows it
 *     ask.c        the server, the request and its client
 */

struct mk_request;
struct mk_stand_in;

/** A note. Its texts are printable ASCII, in the explanation's arena. */
struct mk_explain_step {
    struct mk_explain_step *next;
    const char *what;    /* "site", or a plugin's name */
    const char *verdict; /* NULL: none */
    const char *text;    /* may be empty */
    const char *file;    /* of the setting that decides; NULL: none */
    unsigned line;       /* 0: the file is a phrase, such as "command line" */
};

/** A field of the answer, and the setting that adds it. */
struct mk_explain_field {
    struct mk_explain_field *next;
    const char *name, *value;
    const char *file; /* NULL: no setting does */
    unsigned line;
};

struct mk_explain {
    /* the question: the caller's */
    struct mk_arena arena; /* initialised, and freed, by the caller */
    struct mk_snapshot *snapshot;
    const struct mk_snapshot_source *source;
    const struct mk_host *host;     /* may be NULL */
    const struct mk_listen *listen; /* NULL: none */
    struct mk_peer from;
    struct mk_str head;          /* HTTP/1.1 text */
    void (*on_ready)(void *arg); /* NULL: nothing */
    void *arg;

    /* the answer */
    struct mk_explain_step *first, *last;
    struct mk_explain_field *fields;
    unsigned status;  /* 0: none */
    bool is_open;     /* only the handler knows the status */
    bool is_closed;   /* the connection would be closed */
    bool is_answered; /* by a plugin */
    bool no_memory;   /* there was none for some note */

    /* while the request is asked */
    struct mk_stand_in *stand_ins; /* by the plugin's index */
    struct mk_site *sites;         /* those of the snapshot, as they are without stand-ins */
    struct mk_hooks on_accept;     /* likewise */
    const struct mk_loaded *asked; /* whose hook runs; NULL: none's */
    enum mk_explain_stage stage;   /* of it */
    void *data;
    struct mk_explain_step *said; /* the last note of its plugin; NULL: none in this call */
    const struct mk_site *site;   /* where the request is now; NULL: none was chosen */
    struct mk_str path;           /* likewise */
};

/**
 * Ask the request. The snapshot has stand-ins meanwhile.
 * @return 0; MK_E_NOMEM; MK_E_INVALID: a plugin cannot start, which a step says.
 */
int mk_explain_ask(struct mk_explain *e) MK_MUST_USE;

/** Add a step. @param at  NULL: no setting. @param fmt  text, which is escaped and clipped */
void mk_explain_step(struct mk_explain *e, const char *what, const char *verdict,
                     const struct mk_origin *at, const char *fmt, ...) MK_PRINTF(5, 6);

/** Printable ASCII: other bytes as \xHH. @return a copy in the arena; "" without memory, which is noted. */
const char *mk_explain_clean(struct mk_explain *e, struct mk_str text);

#endif
