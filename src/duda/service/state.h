/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_STATE_H
#define MK_DUDA_SERVICE_STATE_H

#include "kit/states/states.h"

/* How far a request of a service is, from its head to the end call-back. It is over at any time when its client leaves. */

#define MK_DUDA_REQUEST_TO(upper) (1U << MK_DUDA_REQUEST_##upper)
#define MK_DUDA_REQUEST_STATES(X)                                                                  \
    X(GATHER, "gather",                                                                            \
      MK_DUDA_REQUEST_TO(FETCH) | MK_DUDA_REQUEST_TO(CALLED) | MK_DUDA_REQUEST_TO(ENDED) |         \
          MK_DUDA_REQUEST_TO(OVER),                                                                \
      "its body arrives")                                                                          \
    X(FETCH, "fetch",                                                                              \
      MK_DUDA_REQUEST_TO(CALLED) | MK_DUDA_REQUEST_TO(ENDED) | MK_DUDA_REQUEST_TO(OVER),           \
      "its session comes from another machine")                                                    \
    X(CALLED, "called",                                                                            \
      MK_DUDA_REQUEST_TO(GATHER) | MK_DUDA_REQUEST_TO(OPEN) | MK_DUDA_REQUEST_TO(HELD) |           \
          MK_DUDA_REQUEST_TO(ENDED) | MK_DUDA_REQUEST_TO(OVER),                                    \
      "guards or the service have it; nothing of its answer was sent")                             \
    X(OPEN, "open",                                                                                \
      MK_DUDA_REQUEST_TO(HELD) | MK_DUDA_REQUEST_TO(ENDED) | MK_DUDA_REQUEST_TO(OVER),             \
      "send_headers() or flush() has begun the answer")                                            \
    X(HELD, "held", MK_DUDA_REQUEST_TO(ENDED) | MK_DUDA_REQUEST_TO(OVER),                          \
      "end() was called; changes of its session are not confirmed yet")                            \
    X(ENDED, "ended", MK_DUDA_REQUEST_TO(TAKEN) | MK_DUDA_REQUEST_TO(OVER),                        \
      "end() was called, or a package answers; its answer is being sent")                          \
    X(TAKEN, "taken", MK_DUDA_REQUEST_TO(OVER),                                                    \
      "a package has its connection, and says when that ends")                                     \
    X(OVER, "over", 0, "answered or broken off; only its end call-back still sees it")

enum mk_duda_request_state {
#define MK_DUDA_REQUEST_ENUM(upper, name, next, meaning) MK_DUDA_REQUEST_##upper,
    MK_DUDA_REQUEST_STATES(MK_DUDA_REQUEST_ENUM)
#undef MK_DUDA_REQUEST_ENUM
        MK_DUDA_REQUEST_STATE_COUNT
};

extern const struct states mk_duda_request_states;

#endif
