/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CGI_STATES_H
#define CGI_STATES_H

#include "kit/states/states.h"

/*
 * How far a run is, in three tables: the run itself, the script's output, and the script's fate, each of which may end
 * before the others. A row is a name, the states that may follow it, and what it means. Order matters: `<` is asked.
 */

/* Between STARTS and the end of GOES the alarm of a run says what is next. */
#define RUN_TO(upper) (1U << RUN_##upper)
#define RUN_STATES(X)                                                                              \
    X(GATHERS, "gathers", RUN_TO(WAITS) | RUN_TO(OVER), "the request's body is gathered")          \
    X(WAITS, "waits", RUN_TO(STARTS) | RUN_TO(GOES) | RUN_TO(OVER), "for a place")                 \
    X(STARTS, "starts", RUN_TO(STARTS) | RUN_TO(GOES) | RUN_TO(OVER),                              \
      "the spawner was not reached, and is tried again soon")                                      \
    X(GOES, "goes", RUN_TO(STARTS) | RUN_TO(ENDS) | RUN_TO(OVER),                                  \
      "the script runs; or the spawner closed its line with the order unread, and gets another")   \
    X(ENDS, "ends", RUN_TO(OVER), "its process group is being ended")                              \
    X(OVER, "over", 0, "its group has ended, or never was")

#define OUT_TO(upper) (1U << OUT_##upper)
#define OUT_STATES(X)                                                                              \
    X(TAKEN, "taken", OUT_TO(AWAITED) | OUT_TO(ENDED), "the client is waited for, not the script") \
    X(AWAITED, "awaited", OUT_TO(TAKEN) | OUT_TO(ENDED), "the script is waited for")               \
    X(ENDED, "ended", OUT_TO(TAKEN) | OUT_TO(SILENT),                                              \
      "it is closed, and the script may end; or it never got its order, and gets another")         \
    X(SILENT, "silent", 0, "the script closed it, and lives on")

#define FATE_TO(upper) (1U << FATE_##upper)
#define FATE_STATES(X)                                                                             \
    X(LIVES, "lives", FATE_TO(SPOILT) | FATE_TO(ENDED) | FATE_TO(LOST),                            \
      "its first process runs, or is still to be started")                                         \
    X(SPOILT, "spoilt", FATE_TO(LOST), "so it does, but what it writes is not all")                \
    X(ENDED, "ended", FATE_TO(LOST), "its first process has ended")                                \
    X(LOST, "lost", 0, "killed, lost or never started: what it wrote is not all")

#define CGI_STATE_RUN(upper, name, next, text) RUN_##upper,
#define CGI_STATE_OUT(upper, name, next, text) OUT_##upper,
#define CGI_STATE_FATE(upper, name, next, text) FATE_##upper,
enum run_state { RUN_STATES(CGI_STATE_RUN) RUN_STATE_COUNT };
enum out_state { OUT_STATES(CGI_STATE_OUT) OUT_STATE_COUNT };
enum fate_state { FATE_STATES(CGI_STATE_FATE) FATE_STATE_COUNT };

extern const struct states cgi_run_states, cgi_out_states, cgi_fate_states;

#endif
