/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASTCGI_RECORDS_H
#define FASTCGI_RECORDS_H

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/types.h>

/*
 * The records of FastCGI (specification 1.0, section 3.3 and 5), as a web server writes and reads them: one request
 * a connection at a time, whose id is 1. Pure: bytes in, values out; nothing is allocated.
 */

enum fcgi_type {
    FCGI_BEGIN_REQUEST = 1,
    FCGI_END_REQUEST = 3,
    FCGI_PARAMS = 4,
    FCGI_STDIN = 5,
    FCGI_STDOUT = 6,
    FCGI_STDERR = 7,
};

/* protocolStatus of END_REQUEST, section 5.5 */
enum fcgi_protocol_status {
    FCGI_REQUEST_COMPLETE = 0,
    FCGI_CANT_MPX_CONN = 1,
    FCGI_OVERLOADED = 2,
    FCGI_UNKNOWN_ROLE = 3,
};

enum {
    FCGI_HEADER = 8,          /* bytes before each content */
    FCGI_CONTENT_MAX = 65535, /* of one record */
};

/* ---- writing ---- */

/** The header of a record without padding. @param len  of its content, at most FCGI_CONTENT_MAX */
void fastcgi_put_header(char dst[FCGI_HEADER], enum fcgi_type type, size_t len);

/** BEGIN_REQUEST and PARAMS on their way into a buffer. */
struct fcgi_writer {
    char *buf; /* the caller's */
    size_t len, cap;
    size_t record; /* where the header of the open PARAMS record stands */
    bool full;     /* something did not fit */
};

/** BEGIN_REQUEST of a responder. @param keep  FCGI_KEEP_CONN: it is to leave the connection open */
void fastcgi_writer_begin(struct fcgi_writer *w, char *buf, size_t cap, bool keep);
/** One name-value pair (section 3.4); it may go over the edge of a record. @return 0 or MK_E_LIMIT: no room. */
int fastcgi_writer_param(struct fcgi_writer *w, struct mk_str name,
                         struct mk_str value) MK_MUST_USE;
/** The end of PARAMS, and of STDIN too where there is no body. @return all bytes written, or MK_E_LIMIT. */
ssize_t fastcgi_writer_end(struct fcgi_writer *w, bool has_body) MK_MUST_USE;

/* ---- reading ---- */

enum fcgi_piece {
    FCGI_PIECE_MORE,    /* all is used: feed more */
    FCGI_PIECE_OUT,     /* bytes of STDOUT */
    FCGI_PIECE_OUT_END, /* the end of STDOUT was said */
    FCGI_PIECE_ERR,     /* bytes of STDERR */
    FCGI_PIECE_END,     /* END_REQUEST, whole: protocol_status and app_status are known */
};

/** What an application answers. Zeroed before the first piece. */
struct fcgi_reader {
    unsigned char header[FCGI_HEADER];
    unsigned char end[8]; /* content of END_REQUEST */
    uint16_t content, left;
    uint8_t have, padding; /* of the header; still to come */
    bool out_ended, ended;
    uint8_t protocol_status;
    uint32_t app_status;
    const char *why; /* after MK_E_BAD: a sentence */
};

/**
 * Cut the next piece off the bytes just received.
 * @param used   out: bytes consumed; call again with what follows
 * @param piece  out: borrows from buf; of OUT and ERR never empty
 * @return enum fcgi_piece, or MK_E_BAD: another version or request, a type that no application sends, STDOUT behind
 *         its end, a malformed END_REQUEST, anything behind END_REQUEST. It stays so.
 * However the bytes are cut, the same bytes are given, and the same verdict.
 */
int fastcgi_read(struct fcgi_reader *f, const char *buf, size_t len, size_t *used,
                 struct mk_str *piece) MK_MUST_USE;

#endif
