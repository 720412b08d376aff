/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_ANSWER_OUT_H
#define MK_SERVER_ANSWER_OUT_H

#include "base/limits.h"
#include "server/request/pump.h"
#include "server/h1/conn.h"
#include "server/request/request.h"

#include <sys/uio.h>

/*
 * What leaves a connection. Heads and small bodies of one connection's turn gather in the worker's
 * buffer and leave in one call, all answers to pipelined requests together; what the kernel does not
 * take is copied and kept with the connection. A plugin may answer one connection's request in the turn of
 * another: then what the other gathered leaves first.
 */

enum { MK_GATHER_PARTS = 32 };

struct mk_gather {
    struct mk_conn *owner;         /* whose answers these are; meaningless while bytes is 0 */
    const struct mk_request *head; /* whose head is being written behind used; NULL: none is */
    size_t bytes;                  /* in all parts */
    size_t used;                   /* of buf */
    int nparts, nfiles;
    struct iovec parts[MK_GATHER_PARTS];
    struct mk_file *files[MK_GATHER_PARTS]; /* references that parts point into */
    char buf[MK_LIMIT_GATHER_BYTES];
};

/**
 * Contiguous room in the gather buffer for the connection that has its turn; what was gathered is
 * sent first if it must be.
 * @return where to write (then mk_out_commit), or NULL: the kernel takes no more now, or the connection broke.
 */
char *mk_out_reserve(struct mk_conn *c, size_t len);
void mk_out_commit(struct mk_conn *c, size_t len);

/** Send bytes behind what is gathered; those that the kernel does not take are copied. @return as mk_out_flush. */
enum mk_pump mk_out_send(struct mk_conn *c, char *bytes, size_t len) MK_MUST_USE;

/** Gather bytes of a cached file without copying; takes over the reference. @return false: no part free, use mk_out_flush first. */
bool mk_out_add_file_bytes(struct mk_conn *c, struct mk_file *file, const char *bytes, size_t len);

/**
 * Send what was gathered.
 * @param more  a body follows at once
 * @return DONE: all left; READER: the rest waits with the connection; CUT, NO_MEMORY, BROKEN.
 */
enum mk_pump mk_out_flush(struct mk_conn *c, bool more) MK_MUST_USE;

/** Is anything gathered or left over? */
bool mk_out_is_pending(const struct mk_conn *c);

/** Read part of a file behind what is gathered, so that it leaves with it. @return DONE, TRUNCATED, CUT, BROKEN. */
enum mk_pump mk_out_read_file(struct mk_conn *c, int fd, uint64_t *at, size_t len) MK_MUST_USE;

/**
 * Send part of a file behind what is gathered, straight to the socket where the transport can.
 * @param at      where it begins; moves on
 * @param budget  bytes that may still be sent; lowered
 */
enum mk_pump mk_out_send_file(struct mk_conn *c, int fd, uint64_t *at, uint64_t end,
                              size_t *budget) MK_MUST_USE;

/**
 * Send leftovers, the connection's file tail and the request's sources until all is out, the kernel takes no
 * more, or the turn's budget is used up.
 * @param budget  bytes this turn may still send; lowered
 */
enum mk_pump mk_out_pump(struct mk_conn *c, size_t *budget) MK_MUST_USE;

/** Drop everything that has not left. */
void mk_out_drop(struct mk_conn *c);

#endif
