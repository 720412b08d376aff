/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_MESSAGE_H
#define KIT_H2_MESSAGE_H

#include "kit/h2/hpack.h"

/*
 * What the fields of a message must be in HTTP/2 (RFC 9113 section 8.2 and 8.3): names in lower case, pseudo-header fields
 * first and once each, none of HTTP/1's framing. What HTTP in general wants of a field is judged by who uses it.
 */

/** What a field is for HTTP/2. X(NAME, sentence) */
#define H2_FIELDS(X)                                                                               \
    X(MALFORMED, "its message is malformed: a stream error (RFC 9113 section 8.1.1)")              \
    X(METHOD, ":method")                                                                           \
    X(SCHEME, ":scheme")                                                                           \
    X(PATH, ":path")                                                                               \
    X(AUTHORITY, ":authority")                                                                     \
    X(PROTOCOL, ":protocol")                                                                       \
    X(STATUS, ":status")                                                                           \
    X(HOST, "may be there in place of :authority, or beside it with the same value")               \
    X(COOKIE, "crumbs, which HTTP/1 wants joined")                                                 \
    X(CONTENT_LENGTH, "digits, and there once")                                                    \
    X(TE, "trailers: nothing else may be in a request's")                                          \
    X(EXPECT, "of HTTP/1's ways")                                                                  \
    X(TRAILER, "of HTTP/1's ways")                                                                 \
    X(OTHER, "of the message")

enum h2_field {
#define H2_FIELD_ENUM(name, sentence) H2_FIELD_##name,
    H2_FIELDS(H2_FIELD_ENUM)
#undef H2_FIELD_ENUM
};

/** A message whose fields come. */
struct h2_message {
    int64_t content_length; /* -1: unknown */
    uint16_t seen;          /* a bit for each enum h2_field */
    bool is_trailer;        /* the fields come after a body */
    bool is_response, is_connect;
};

static inline void h2_message_init(struct h2_message *m, bool is_response)
{
    *m = (struct h2_message){.content_length = -1, .is_response = is_response};
}

/** Judge the next field. */
enum h2_field h2_message_field(struct h2_message *m, const struct hpack_field *f);
/** All fields of its head have come. @return false: one is missing, or there that may not be (RFC 9113 section 8.3.1, RFC 8441 section 4). */
bool h2_message_is_whole(const struct h2_message *m);

#endif
