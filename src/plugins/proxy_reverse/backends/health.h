/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_HEALTH_H
#define PROXY_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether a backend gets requests: a machine whose time is an argument. Times are monotonic, in ms. A row is a state, the
 * states that may follow it, and what it means.
 */
#define HEALTH_TO(upper) (1U << HEALTH_##upper)

#define HEALTH_STATES(X)                                                                           \
    X(UP, up, HEALTH_TO(OFFLINE),                                                                  \
      "gets requests; failures are counted, within a window, and each success takes one back")     \
    X(OFFLINE, offline,                                                                            \
      HEALTH_TO(OFFLINE) | HEALTH_TO(PROBING) | HEALTH_TO(RETURNING) | HEALTH_TO(UP),              \
      "had too many: gets none until its time is over, or until a check finds it well")            \
    X(PROBING, probing,                                                                            \
      HEALTH_TO(OFFLINE) | HEALTH_TO(PROBING) | HEALTH_TO(RETURNING) | HEALTH_TO(UP),              \
      "its time is over and one request is there to find out; the others go elsewhere, but when "  \
      "it has not decided within that time again, the next one is asked as well")                  \
    X(RETURNING, returning, HEALTH_TO(UP) | HEALTH_TO(OFFLINE),                                    \
      "it answered: its share grows, within SlowStart, to that of the others; otherwise as up")

enum health_state {
#define HEALTH_ENUM(upper, lower, next, text) HEALTH_##upper,
    HEALTH_STATES(HEALTH_ENUM)
#undef HEALTH_ENUM
        HEALTH_STATE_COUNT
};

struct health_rules {
    unsigned attempts;   /* failures that put it offline, at least 1 */
    unsigned window_ms;  /* within which they count together */
    unsigned offline_ms; /* for how long; 0: never offline */
    unsigned slow_ms;    /* to its whole share after it came back; 0: at once */
    bool is_checked;     /* only a check brings it back, no request is risked */
    bool is_alone;       /* there is no other: requests never put it offline */
};

/** Zeroed: up. */
struct health {
    enum health_state state;
    unsigned failures; /* of the present window */
    unsigned checks;   /* of those: what checks found, and no request takes back */
    int64_t
        since_ms; /* UP: the window began; OFFLINE: when that began; RETURNING: when it came back */
    int64_t until_ms; /* OFFLINE, PROBING: when it may be tried again */
};

/** How a request was let in. */
enum health_pass {
    HEALTH_REFUSED,
    HEALTH_NORMAL,
    HEALTH_PROBE, /* it decides: tell how it ended, whatever happens */
    HEALTH_LAST,  /* though it is offline, since all others are too; a good end brings it back */
};

/** Does a backend in this state get no requests but those that find out? */
static inline bool health_is_out(enum health_state state)
{
    return state == HEALTH_OFFLINE || state == HEALTH_PROBING;
}

/** How it went there. */
enum health_end {
    HEALTH_GOOD,    /* the head of an answer came */
    HEALTH_BAD,     /* no connection, or it broke or fell silent before that */
    HEALTH_UNKNOWN, /* the client left or was at fault, or nothing was tried */
};

/** Would a request be let in? */
bool proxy_health_may(const struct health *h, const struct health_rules *rules, int64_t now_ms);
/** Let one in that has nowhere else to go. */
enum health_pass proxy_health_admit_last(const struct health *h, const struct health_rules *rules);
/** Let one in, if it may. */
enum health_pass proxy_health_admit(struct health *h, const struct health_rules *rules,
                                    int64_t now_ms);
/** How it ended: once for each request that was let in. */
void proxy_health_tell(struct health *h, const struct health_rules *rules, enum health_pass pass,
                       enum health_end end, int64_t now_ms);
/** A check found it well, or not: counted like a request; offline it is brought back by the first that does. */
void proxy_health_tell_check(struct health *h, const struct health_rules *rules, bool is_good,
                             int64_t now_ms);
/** How much of its load it should get, in thousandths: less than 1000 while it returns, and never 0. */
unsigned proxy_health_share(const struct health *h, const struct health_rules *rules,
                            int64_t now_ms);
/** ms until it is tried again; 0: now, or it is not offline. */
int64_t proxy_health_wait(const struct health *h, int64_t now_ms);
const char *proxy_health_name(enum health_state state);
/** May this state follow that one? In debug builds the machine stops at one that may not. */
bool proxy_health_may_turn(enum health_state from, enum health_state to);

#endif
