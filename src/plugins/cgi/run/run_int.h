/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CGI_RUN_INT_H
#define CGI_RUN_INT_H

#include "run/run.h"
#include "run/states.h"

#include "kit/gateway/answer.h"
#include "kit/gateway/complaint.h"
#include "kit/intake/uploads.h"

struct run {
    struct run *next, **link; /* of the crew's bucket */
    struct mk_worker *worker;
    const struct yard *yard;
    const struct cgi_site *site;   /* while there is a request */
    const struct cgi_route *route; /* likewise */
    struct spawner *spawner;       /* a reference */
    struct place place;
    struct upload upload; /* while it holds a place */

    struct mk_request *r; /* NULL: it has ended, or went to another path */
    bool has_request;     /* it has not ended: on_end will be called */
    uint64_t ticket;
    struct gateway_script script;
    struct intake body;
    struct gateway_answer answer;

    uint8_t state, out, fate; /* of states.h */
    bool is_traced;           /* their changes are logged */
    struct mk_io *line, *input, *output, *errors;
    struct mk_alarm *alarm;
    unsigned timeout_ms;
    int64_t moved_ms;    /* when the script last took or gave bytes */
    bool is_starved;     /* the script waits for the client: no more of the body is there */
    unsigned fails_with; /* status when it never started; 0: it did */
    int64_t start_by_ms; /* when the spawner is given up */

    char *order; /* between tries to start it: owned */
    size_t order_len;
    char *piece; /* of the body, on its way; in the request's memory */
    size_t piece_at, piece_len;
    bool has_fed; /* some of the body is gone */
    struct gateway_complaint complaint;
    char label[160]; /* the script's name for the log */
};

enum {
    RUN_PIECE = 16 << 10,
    RUN_TURN = 256 << 10, /* of a body, before others have their turn */
    RUN_RETRY_MS = 100,   /* between two tries to reach the spawner */
    RUN_START_MS = 5000,  /* from the first to the last of them */
    RUN_LAST_WORD_MS =
        2000, /* from the end of the output to that of the script, before the answer ends without */
    RUN_LAST_ERRORS = 16, /* reads, when its group is gone */
    RUN_END_MS = 10000,   /* for a group to end, before we believe that the spawner hangs */
};

/** A states_log_fn. */
void cgi_run_trace(const void *of, const struct states *table, unsigned was, unsigned is);

/** The only place where a state changes. @param state  a member of run */
static inline void run_turn(const struct run *run, const struct states *table, uint8_t *state,
                            unsigned to)
{
    states_turn(table, state, to, run->is_traced ? cgi_run_trace : NULL, run);
}

static inline void run_go(struct run *run, enum run_state to)
{
    run_turn(run, &cgi_run_states, &run->state, to);
}

static inline bool run_has_ended(const struct run *run)
{
    return run->fate >= FATE_ENDED;
}

/* ---- run_script.c: the script ---- */

/** A place is held: start the script, or answer why not. */
void cgi_run_start(struct run *run);
/** Pass on what came of the body. */
void cgi_run_feed(struct run *run);
/** gateway_output_fn */
ssize_t cgi_run_output(void *arg, char *dst, size_t len);
/**
 * Has it given something that we did not take, or room for what we have not written? Events of that come late when we get
 * no processor.
 */
bool cgi_run_is_our_turn(const struct run *run);
/** End its process group, if there is one. */
void cgi_run_end_script(struct run *run);
/** Its group is gone: whoever else has its standard error is not waited for. */
void cgi_run_hear_last_errors(struct run *run);
/** The script's first process has ended, or none began. @param is_lost  what it wrote is not all */
void cgi_run_note_end(struct run *run, bool is_lost);
/** What the script wrote, or is going to write, is not all of its answer. */
void cgi_run_spoil(struct run *run);
/** Of its output no more is read. */
void cgi_run_end_output(struct run *run);

/* ---- run.c: the request ---- */

/** There may be more output, or an end. */
void cgi_run_advance(struct run *run);
/** Free it if nothing of it is left. It may be gone afterwards. */
void cgi_run_settle(struct run *run);

#endif
