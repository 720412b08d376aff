/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_H1_WIRE_H
#define MK_SERVER_H1_H1_WIRE_H

#include "server/request/wire.h"

/* HTTP/1's side of the seam between a request and its protocol: server/request/wire.h has the contracts. */

extern const struct mk_wire mk_h1_wire;

/* h1_read.c */
ssize_t mk_h1_read(struct mk_request *r, char *dst, size_t len);
size_t mk_h1_buffered(const struct mk_request *r);

/* h1_head.c */
int mk_h1_begin_head(struct mk_reply *p);
bool mk_h1_has_head(const struct mk_reply *p);
int mk_h1_end_interim(struct mk_reply *p);
int mk_h1_end_head(struct mk_reply *p, int64_t length, bool has_content);

/* h1_body.c */
enum mk_pump mk_h1_may_send(const struct mk_request *r);
enum mk_pump mk_h1_send_part(struct mk_request *r, struct mk_source *s, size_t *budget);
enum mk_pump mk_h1_send_piece(struct mk_request *r, const char *bytes, size_t len);
bool mk_h1_can_splice(const struct mk_request *r);
enum mk_pump mk_h1_splice(struct mk_request *r, int fd, size_t len, size_t *moved);
enum mk_pump mk_h1_flush(struct mk_request *r, bool more);
enum mk_pump mk_h1_end_body(struct mk_request *r);

/* take.c */
int mk_h1_take(struct mk_request *r, struct mk_stream **stream, mk_stream_fn fn, void *arg);
int mk_h1_watch_taken(const struct mk_request *r, mk_taken_fn fn, void *arg);

#endif
