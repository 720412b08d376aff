/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/exchange.h"
#include "exchange/head.h"
#include "exchange/protocol.h"
#include "kit/pure/hex.h"

#include <stdlib.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum {
    HEAD_MAX = 1 << 20, /* the largest that MaxRequestSize could bring about */
    CHUNK_HEAD = 6,     /* four digits and a line end */
    CHUNK_MAX = 0xffff,
    CHUNK_TAIL = 2 + 5, /* a line end, and perhaps the last chunk */
    ROOM_MIN = 512,     /* less of the client's body is not asked for */
};

/* Chunks are HTTP/1's; a call has an end of its own. */
static bool is_chunked(const struct proxy_exchange *x)
{
    return x->length < 0 && proxy_link_is_framed(&x->link);
}

static bool is_drained(const struct proxy_buffer *b)
{
    return !b || b->at == b->end;
}

/* What up does not have any more is read again. */
static void rewind_intake(struct proxy_exchange *x)
{
    x->up->end = 0;
    x->taken = 0;
    if (x->reading == PROXY_READ)
        proxy_reading_turn(x, PROXY_OPEN);
    x->is_kept = true;
    intake_rewind(&x->intake);
}

void proxy_upload_rewind(struct proxy_exchange *x)
{
    proxy_buffer_put(&x->home->buffers, x->head);
    x->head = NULL;
    if (x->sending != PROXY_NEW)
        proxy_sending_turn(x, PROXY_NEW);
    if (x->expects && x->taken == 0 && x->reading == PROXY_OPEN)
        proxy_reading_turn(x, PROXY_HELD);
    if (x->up)
        x->up->at = 0;
    if (x->up && !x->is_kept)
        rewind_intake(x);
}

/* ---- the head ---- */

bool proxy_next_field(const void *of, uint32_t *at, struct mk_str *name, struct mk_str *value)
{
    return mk_request_next_header(of, at, name, value);
}

static bool next_unnoted(const void *of, uint32_t *at, struct mk_str *name, struct mk_str *value)
{
    return mk_request_next_unnoted(of, at, name, value);
}

static bool next_passed(const void *of, uint32_t *at, struct mk_str *name, struct mk_str *value)
{
    return mk_request_next_passed(of, at, name, value);
}

/* Our own end of a client's connection. @return whether it has an address. */
static bool find_local(const struct mk_conn *conn, struct proxy_ends *ends)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    union {
        struct sockaddr sa;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_storage any;
    } addr = {.any = {.ss_family = AF_UNSPEC}};
    socklen_t len = sizeof(addr);

    if (getsockname(mk_conn_link(conn)->fd, &addr.sa, &len) < 0)
        return false;
    if (addr.sa.sa_family == AF_INET) {
        memcpy(ends->local_ip, mapped, sizeof(mapped));
        memcpy(ends->local_ip + sizeof(mapped), &addr.in.sin_addr, 4);
        ends->local_port = ntohs(addr.in.sin_port);
    } else if (addr.sa.sa_family == AF_INET6) {
        memcpy(ends->local_ip, &addr.in6.sin6_addr, 16);
        ends->local_port = ntohs(addr.in6.sin6_port);
    }
    return addr.sa.sa_family == AF_INET || addr.sa.sa_family == AF_INET6;
}

static void put_upload_protocol(struct proxy_buffer *b, const struct proxy_exchange *x,
                                const struct mk_conn *conn)
{
    struct mk_conn_facts c = {.size = sizeof(c)};
    struct proxy_ends ends = {.is_known = false};
    char header[PROXY_PROTOCOL_MAX];
    size_t n;

    mk_conn_facts(conn, &c);
    ends.is_known = !c.peer_is_unix && find_local(conn, &ends);
    memcpy(ends.source_ip, c.peer_ip, sizeof(ends.source_ip));
    ends.source_port = c.peer_port;
    n = proxy_protocol_write(header, x->set->protocol, &ends);
    memcpy(b->bytes, header, n);
    b->end = n;
}

static bool next_trailer(const void *of, uint32_t *at, struct mk_str *name, struct mk_str *value)
{
    return mk_request_next_trailer(of, at, name, value);
}

static struct mk_str variable(const void *of, int which, char room[MK_VARIABLE_ROOM])
{
    return mk_request_variable(of, which, room);
}

/* The port behind the last colon of "[::1]:443"; 0 for unix sockets. */
static unsigned port_of(const struct mk_conn *conn)
{
    struct mk_conn_facts c = {.size = sizeof(c)};
    const char *colon;

    mk_conn_facts(conn, &c);
    colon = c.listen && strncmp(c.listen, "unix:", 5) != 0 ? strrchr(c.listen, ':') : NULL;
    return colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
}

static ssize_t write_upload_head(struct proxy_exchange *x, struct proxy_buffer *b)
{
    struct mk_request_facts f = {.size = sizeof(f)};
    struct mk_str no = {NULL, 0};
    char peer[MK_PEER_TEXT];
    struct proxy_request q;
    const bool has_passed = mk_request_has_passed(x->r);

    mk_request_facts(x->r, &f);
    q = (struct proxy_request){
        .method = f.method,
        .target = f.target,
        .path = f.path,
        .query = f.query,
        .host = f.host,
        .scheme = f.scheme,
        .peer = {peer, mk_conn_peer(f.conn, peer)},
        .port = x->set->forwarded_port ? port_of(f.conn) : 0,
        .minor = f.minor,
        .content_length = x->length,
        .upgrade = x->wants_upgrade ? mk_request_header(x->r, MK_STR("Upgrade")) : no,
        .hops = x->hops,
        .trusted = x->set->forwarded == PROXY_FORWARDED_AUTO && mk_conn_is_trusted(f.conn),
        .expects = x->reading == PROXY_HELD,
        .trailers = x->wants_trailers,
        .keeps = proxy_exchange_keeps(x),
        .next = has_passed ? next_unnoted : proxy_next_field,
        .next_passed = has_passed ? next_passed : NULL,
        .variable = variable,
        .of = x->r,
    };
    if (q.peer.len >= 5 && memcmp(peer, "unix:", 5) == 0)
        q.peer.len = 0;
    if (x->set->protocol != PROXY_PROTOCOL_OFF)
        put_upload_protocol(b, x, f.conn);
    return proxy_head_write(b->bytes + b->end, b->size - b->end, &q, x->set, x->attempt.authority);
}

static int make_head(struct proxy_exchange *x)
{
    for (size_t size = PROXY_BUFFER; size <= HEAD_MAX; size *= 4) {
        struct proxy_buffer *b = proxy_buffer_get(&x->home->buffers, size);
        ssize_t n;

        if (!b)
            return MK_E_NOMEM;
        n = write_upload_head(x, b);
        if (n > 0) {
            b->end += (size_t)n;
            x->head = b;
            proxy_sending_turn(x, PROXY_READY);
            return 0;
        }
        proxy_buffer_put(&x->home->buffers, b);
        if (n != MK_E_NOMEM)
            break;
    }
    return MK_E_INVALID;
}

/* ---- the body ---- */

/* How much more of the client's body there is room for. */
static size_t room_for_body(const struct proxy_exchange *x)
{
    const struct proxy_buffer *b = x->up;
    size_t room = b->size - b->end;

    if (!is_chunked(x))
        return room;
    room = room > CHUNK_HEAD + CHUNK_TAIL ? room - CHUNK_HEAD - CHUNK_TAIL : 0;
    return room < CHUNK_MAX ? room : CHUNK_MAX;
}

/* All of it was sent: what follows takes its place, and it cannot be sent again. */
static void make_upload_room(struct proxy_exchange *x)
{
    if (x->up->end == 0 || !is_drained(x->up) || room_for_body(x) >= ROOM_MIN)
        return;
    x->up->at = x->up->end = 0;
    x->is_kept = false;
}

static void frame_chunk(struct proxy_buffer *b, size_t n)
{
    const unsigned char size[] = {(unsigned char)(n >> 8), (unsigned char)n};
    char head[CHUNK_HEAD] = {[4] = '\r', '\n'};

    hex_write(head, size, sizeof(size));
    memcpy(b->bytes + b->end, head, sizeof(head));
    b->end += sizeof(head) + n;
    memcpy(b->bytes + b->end, "\r\n", 2);
    b->end += 2;
}

static bool has_trailers(const struct proxy_exchange *x)
{
    struct mk_str name, value;
    uint32_t at = 0;

    return mk_request_next_trailer(x->r, &at, &name, &value);
}

/* A body that is nearly as long as its buffer moves to a larger one. */
static int make_room_for_trailers(struct proxy_exchange *x)
{
    struct proxy_buffer *b = x->up, *larger;

    if (b->size - b->end >= PROXY_TRAILERS_MAX)
        return 0;
    larger = proxy_buffer_get(&x->home->buffers, b->end + PROXY_TRAILERS_MAX);
    if (!larger)
        return MK_E_NOMEM;
    larger->at = b->at;
    larger->end = b->end;
    memcpy(larger->bytes, b->bytes, b->end);
    proxy_buffer_put(&x->home->buffers, b);
    x->up = larger;
    return 0;
}

static int end_chunks(struct proxy_exchange *x)
{
    const struct proxy_request q = {
        .next = proxy_next_field, .next_trailer = next_trailer, .of = x->r};

    if (has_trailers(x)) {
        if (make_room_for_trailers(x) < 0)
            return MK_E_NOMEM;
        x->up->end += proxy_trailers_write(x->up->bytes + x->up->end, &q, x->set);
    } else {
        memcpy(x->up->bytes + x->up->end, "0\r\n\r\n", 5);
        x->up->end += 5;
    }
    return 0;
}

static int end_body(struct proxy_exchange *x)
{
    proxy_reading_turn(x, PROXY_READ);
    return is_chunked(x) ? end_chunks(x) : 0;
}

/* @return 0: there may be more; MK_E_AGAIN: not now, or not before room is made; an error of the client's. */
static int read_upload(struct proxy_exchange *x)
{
    struct proxy_buffer *b = x->up;
    size_t at = is_chunked(x) ? CHUNK_HEAD : 0;
    ssize_t n;

    if (room_for_body(x) < (is_drained(b) ? 1 : ROOM_MIN))
        return MK_E_AGAIN;
    n = intake_read(&x->intake, x->r, b->bytes + b->end + at, room_for_body(x));
    if (n == MK_E_PEER)
        return MK_E_EOF;
    if (n < 0)
        return (int)n;
    x->taken += (uint64_t)n;
    x->report.sent += (uint64_t)n;
    if (n > 0 && is_chunked(x))
        frame_chunk(b, (size_t)n);
    else
        b->end += (size_t)n;
    return n == 0 || x->taken == (uint64_t)x->length ? end_body(x) : 0;
}

/* @return 0: as much as there is and fits; an error. */
static int read_upload_body(struct proxy_exchange *x)
{
    int err = 0;

    if (x->reading != PROXY_OPEN)
        return 0;
    if (!x->up)
        x->up = proxy_buffer_get(&x->home->buffers, PROXY_BUFFER);
    if (!x->up)
        return MK_E_NOMEM;
    make_upload_room(x);
    while (err == 0 && x->reading == PROXY_OPEN)
        err = read_upload(x);
    return err == MK_E_AGAIN ? 0 : err;
}

/* ---- sending ---- */

static void advance(struct proxy_buffer *b, size_t *n)
{
    size_t part;

    if (!b)
        return;
    part = b->end - b->at < *n ? b->end - b->at : *n;
    b->at += part;
    *n -= part;
}

/* @return 0 or an error of the stream. */
static int write_some(struct proxy_exchange *x)
{
    struct iovec parts[2];
    ssize_t n;
    size_t len;
    int count = 0;

    if (!is_drained(x->head))
        parts[count++] = (struct iovec){x->head->bytes + x->head->at, x->head->end - x->head->at};
    if (!is_drained(x->up))
        parts[count++] = (struct iovec){x->up->bytes + x->up->at, x->up->end - x->up->at};
    n = proxy_link_write(&x->link, parts, count);
    if (n == MK_E_PEER)
        proxy_sending_turn(x, x->sending == PROXY_PART ? PROXY_CUT : PROXY_DEAF);
    if (n < 0)
        return (int)n;
    if (x->sending == PROXY_READY)
        proxy_sending_turn(x, PROXY_PART);
    len = (size_t)n;
    advance(x->head, &len);
    advance(x->up, &len);
    if (x->head && is_drained(x->head)) {
        proxy_buffer_put(&x->home->buffers, x->head);
        x->head = NULL;
    }
    return 0;
}

/* The end of a body without a length, with the client's trailers. */
static int end_call_body(struct proxy_exchange *x)
{
    const struct proxy_request q = {
        .next = proxy_next_field, .next_trailer = next_trailer, .of = x->r};
    struct proxy_buffer *b;
    size_t len;
    int err;

    if (!has_trailers(x))
        return proxy_call_end_body(x->link.call, (struct mk_str){NULL, 0});
    b = proxy_buffer_get(&x->home->buffers, PROXY_TRAILERS_MAX);
    if (!b)
        return MK_E_NOMEM;
    len = proxy_trailers_write(b->bytes, &q, x->set);
    err = proxy_call_end_body(x->link.call, /* without the last chunk and the empty line */
                              (struct mk_str){b->bytes + 3, len - 5});
    proxy_buffer_put(&x->home->buffers, b);
    return err;
}

static int end_request(struct proxy_exchange *x)
{
    int err = x->length < 0 && !is_chunked(x) ? end_call_body(x) : 0;

    if (err == MK_E_PEER)
        proxy_sending_turn(x, PROXY_CUT);
    else if (err == 0)
        proxy_sending_turn(x, PROXY_WHOLE);
    return err;
}

int proxy_upload_send(struct proxy_exchange *x)
{
    int err = x->sending == PROXY_NEW ? make_head(x) : 0;

    if (x->sending > PROXY_WHOLE)
        return MK_E_PEER;
    while (err == 0 && x->sending != PROXY_WHOLE) {
        err = read_upload_body(x);
        if (err < 0)
            break;
        if (is_drained(x->head) && is_drained(x->up)) {
            if (x->reading == PROXY_READ)
                err = end_request(x);
            break;
        }
        err = write_some(x);
    }
    return err;
}
