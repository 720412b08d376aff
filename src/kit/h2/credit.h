/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_CREDIT_H
#define KIT_H2_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Frames that are cheap to send and make work cost credit: a peer that sends nothing else is told to calm down (RFC 9113
 * section 10.5). Credit grows with time, and with what the peer truly exchanges. X(NAME, price, sentence)
 */
#define H2_PRICES(X)                                                                               \
    X(RESET, 20, "a stream that its client resets: work that nobody wants")                        \
    X(FAULT, 20, "a stream that we reset because of its peer")                                     \
    X(REFUSAL, 20, "a request for which there is no memory: the next may come at once")            \
    X(SETTINGS, 20, "each has an answer")                                                          \
    X(PING, 10, "each has an answer")                                                              \
    X(WINDOW, 1, "WINDOW_UPDATE, and eight streams whose windows SETTINGS changes")                \
    X(EMPTY, 10, "DATA without bytes or end, padding or not")                                      \
    X(CRUMB, 1, "of a cookie, without a byte: it makes no head larger")                            \
    X(FIELD, 1, "a field of a head that is too large already")                                     \
    X(INTERIM, 4, "a head of a response before the final one: there may be any number")            \
    X(IDLE, 4,                                                                                     \
      "PRIORITY, PRIORITY_UPDATE, CONTINUATION, GOAWAY, frames of no known type, "                 \
      "an acknowledgement of SETTINGS, and a head that nobody reads")

enum h2_price {
#define H2_PRICE_ENUM(name, price, sentence) H2_PRICE_##name,
    H2_PRICES(H2_PRICE_ENUM)
#undef H2_PRICE_ENUM
        H2_PRICE_COUNT
};

enum {
    H2_CREDIT_MAX = 4000, /* also at first */
    H2_CREDIT_A_SECOND = 400,
    H2_CREDIT_A_REQUEST = 4, /* one that was answered */
    H2_CREDIT_A_PIECE =
        2, /* sent by a handler that took the stream: both windows may be given back */
    H2_CREDIT_A_SENT =
        12, /* a piece of a body that we sent: its peer may give both windows back, and
                              measure the link by PING, as clients and servers of gRPC do */
    H2_CREDIT_BYTES = 1024, /* so many of a body, either way, earn 1 */
};

struct h2_credit {
    int32_t left;
    uint32_t bytes; /* that have not earned yet */
    int64_t at_ms;
};

void h2_credit_init(struct h2_credit *credit, int64_t now_ms);
/** Pay for a frame. @return false: the credit is used up. */
bool h2_credit_pay(struct h2_credit *credit, enum h2_price what, int64_t now_ms);
/** A request was answered. */
void h2_credit_earn(struct h2_credit *credit, int32_t points);
/** Bytes of bodies have moved. */
void h2_credit_move(struct h2_credit *credit, uint64_t bytes);

#endif
