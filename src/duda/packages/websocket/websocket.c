/* SPDX-License-Identifier: Apache-2.0 */
#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3 /* all calls of the object */
#include "packages/websocket/websocket.h"

#include "backplane.h"
#include "duda_host.h"
#include "duda_package.h"
#include "rooms.h"

#include <monkey/request.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The calls, on libmonkey-websocket. Channels are rooms with names of their own. */

#define EVERYBODY "\1"

enum { TYPES = WS_ON_TIMEOUT + 1, BUCKETS = 1024, CHANNEL_TEXT = 16 };

struct socket {
    ws_request_t wr; /* first: what the service has */
    struct mk_ws *ws;
    const struct mk_ws_spec *spec;
    struct socket *next; /* of its bucket */
    pthread_t thread;    /* of its worker */
    struct room_seat *seats;
    void *data;
    unsigned code;           /* of its end */
    struct mk_ws_spec own[]; /* of accept(): one, and its texts behind it */
};

typedef void (*callback)(duda_request_t *, ws_request_t *);

static callback callbacks[TYPES];
static int has_broadcaster;

/*
 * Those of all workers: services keep pointers to connections that have ended. No variable of threads: a library that is
 * opened late has those in memory that LeakSanitizer cannot follow, and nobody would free what they point to.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct socket *alive[BUCKETS];

/* ---- the table ---- */

static struct socket **bucket_of(const ws_request_t *wr)
{
    uintptr_t n = (uintptr_t)wr / 64;

    return &alive[(n ^ (n >> 10)) % BUCKETS];
}

/* Alive, and of the thread that asks. */
static struct socket *find(const ws_request_t *wr)
{
    struct socket *s;

    if (!wr)
        return NULL;
    (void)pthread_mutex_lock(&lock);
    s = *bucket_of(wr);
    while (s && &s->wr != wr)
        s = s->next;
    if (s && !pthread_equal(s->thread, pthread_self()))
        s = NULL;
    (void)pthread_mutex_unlock(&lock);
    return s;
}

static void add(struct socket *s)
{
    struct socket **bucket = bucket_of(&s->wr);

    s->thread = pthread_self();
    (void)pthread_mutex_lock(&lock);
    s->next = *bucket;
    *bucket = s;
    (void)pthread_mutex_unlock(&lock);
}

static void take_out(struct socket *s)
{
    struct socket **at = bucket_of(&s->wr);

    (void)pthread_mutex_lock(&lock);
    while (*at && *at != s)
        at = &(*at)->next;
    if (*at)
        *at = s->next;
    (void)pthread_mutex_unlock(&lock);
}

/* ---- channels ---- */

static const char *channel_name(char text[CHANNEL_TEXT], int channel)
{
    if (channel == -1)
        return EVERYBODY;
    (void)snprintf(text, CHANNEL_TEXT, "%c%d", ROOM_CHANNEL, channel);
    return text;
}

static int is_room(const char *name)
{
    return name && name[0] != '\0' && name[0] != ROOM_CHANNEL;
}

static int join_channels(struct socket *s)
{
    char text[CHANNEL_TEXT];

    return room_join(&s->seats, s->ws, EVERYBODY) < 0 ||
                   room_join(&s->seats, s->ws, channel_name(text, s->wr.channel)) < 0
               ? -1
               : 0;
}

/* ---- events ---- */

struct event {
    struct socket *socket;
    callback callback;
};

static void call_service(void *arg)
{
    const struct event *told = arg;

    told->callback(told->socket->wr.dr, &told->socket->wr);
}

static void tell(struct socket *s, int type)
{
    struct event told = {s, callbacks[type]};

    if (told.callback)
        duda_objects_given->host->run(s->wr.dr, call_service, &told);
}

static void on_open(struct mk_ws *ws)
{
    struct socket *s = mk_ws_data(ws);

    if (join_channels(s) < 0)
        mk_ws_close(ws, MK_WS_INTERNAL, MK_STR(""));
    tell(s, WS_ON_OPEN);
}

static void on_message(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message)
{
    struct socket *s = mk_ws_data(ws);

    s->wr.opcode = kind;
    s->wr.payload = (unsigned char *)(uintptr_t)message.p;
    s->wr.payload_len = message.len;
    tell(s, WS_ON_MESSAGE);
    s->wr.payload = NULL;
    s->wr.payload_len = 0;
}

static int is_fault(unsigned code)
{
    return code == MK_WS_ABNORMAL || code == MK_WS_PROTOCOL_ERROR || code == MK_WS_INVALID_TEXT ||
           code == MK_WS_TOO_LARGE || code == MK_WS_INTERNAL || code == MK_WS_TRY_LATER;
}

static void on_close(struct mk_ws *ws, unsigned code, struct mk_str reason)
{
    struct socket *s = mk_ws_data(ws);

    (void)reason;
    s->code = code;
    if (is_fault(code))
        tell(s, WS_ON_ERROR);
    tell(s, WS_ON_CLOSE);
    room_leave_all(&s->seats, ws);
    take_out(s);
    duda_objects_given->host->release(s->wr.dr);
    free(s);
}

/* ---- the handshake ---- */

static const struct mk_ws_spec plain = {
    .size = sizeof(plain), .on_open = on_open, .on_message = on_message, .on_close = on_close};

/* @return a copy of text at *room, NULL: it is */
static const char *copy_text(char **room, const char *text)
{
    char *copy = *room;

    if (!text)
        return NULL;
    *room += strlen(text) + 1;
    return memcpy(copy, text, strlen(text) + 1);
}

static size_t size_of(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static struct socket *new_socket_with(const struct ws_options *options)
{
    struct socket *s = calloc(1, sizeof(*s) + sizeof(s->own[0]) + size_of(options->protocols) +
                                     size_of(options->origins));
    char *room;

    if (!s)
        return NULL;
    room = (char *)(s->own + 1);
    s->own[0] = plain;
    s->own[0].protocols = copy_text(&room, options->protocols);
    s->own[0].origins = copy_text(&room, options->origins);
    s->own[0].max_message = s->own[0].max_frame = options->max_message;
    s->own[0].max_queue = options->max_queue;
    s->own[0].deflate = options->deflate == 1   ? MK_WS_DEFLATE
                        : options->deflate == 2 ? MK_WS_DEFLATE_KEEP
                                                : MK_WS_PLAIN;
    s->data = options->data;
    s->spec = s->own;
    return s;
}

static struct socket *new_socket(duda_request_t *dr, int channel, const struct ws_options *options)
{
    struct socket *s = options ? new_socket_with(options) : calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    if (!options)
        s->spec = &plain;
    s->wr.dr = dr;
    s->wr.socket = dr->socket;
    s->wr.channel = channel;
    return s;
}

static int accept_request(struct mk_request *r, void *arg)
{
    struct socket *s = arg;
    enum mk_verdict verdict = mk_ws_accept(r, s->spec, s, &s->ws);

    if (verdict == MK_VERDICT_CLOSE)
        mk_reply_abort(r);
    return s->ws ? 1 : 0;
}

static int open_socket(duda_request_t *dr, int channel, const struct ws_options *options)
{
    struct socket *s = dr ? new_socket(dr, channel, options) : NULL;

    if (!s)
        return -1;
    add(s);
    if (duda_objects_given->host->upgrade(dr, accept_request, s) == 0)
        return 0;
    take_out(s);
    free(s);
    return -1;
}

static int handshake_in(duda_request_t *dr, int channel)
{
    return open_socket(dr, channel, NULL);
}

static int accept_with(duda_request_t *dr, const struct ws_options *options)
{
    return open_socket(dr, -1, options);
}

/* ---- messages ---- */

static int is_message(int opcode, const void *bytes, uint64_t len)
{
    return (opcode == WS_OPCODE_TEXT || opcode == WS_OPCODE_BINARY) && (bytes || len == 0) &&
           len <= SIZE_MAX / 2;
}

static struct mk_str bytes_of(const void *bytes, uint64_t len)
{
    return (struct mk_str){len > 0 ? bytes : "", (size_t)len};
}

/* A Close of the service's own: a code of two bytes and a reason, or nothing. */
static int write_close(struct socket *s, const unsigned char *bytes, uint64_t len)
{
    unsigned code = MK_WS_NORMAL;

    if (len >= 2)
        code = (unsigned)bytes[0] << 8 | bytes[1];
    mk_ws_close(s->ws, code, len > 2 ? bytes_of(bytes + 2, len - 2) : MK_STR(""));
    return 0;
}

static int write_frame(ws_request_t *wr, unsigned int opcode, unsigned char *bytes, uint64_t len)
{
    struct socket *s = find(wr);

    if (!s || (len > 0 && !bytes))
        return -1;
    if (opcode == WS_OPCODE_CLOSE)
        return write_close(s, bytes, len);
    if (opcode == WS_OPCODE_PING)
        return len > 125 || mk_ws_ping(s->ws, bytes_of(bytes, len)) < 0 ? -1 : 0;
    if (!is_message((int)opcode, bytes, len))
        return -1;
    return mk_ws_send(s->ws, (enum mk_ws_kind)opcode, bytes_of(bytes, len)) < 0 ? -1 : 0;
}

static int send_everywhere(const char *room, struct mk_ws *except, enum mk_ws_kind kind,
                           struct mk_str message)
{
    const int result = room_send(room, except, kind, message);

    if (result == 0)
        backplane_send(room, kind, message);
    return result;
}

static int send_to_channel(int channel, struct mk_ws *except, int opcode, const void *bytes,
                           uint64_t len)
{
    char text[CHANNEL_TEXT];

    if (!has_broadcaster || !is_message(opcode, bytes, len))
        return -1;
    return send_everywhere(channel_name(text, channel), except, (enum mk_ws_kind)opcode,
                           bytes_of(bytes, len));
}

static int broadcast_from(ws_request_t *wr, unsigned char *bytes, uint64_t len, int opcode,
                          int channel)
{
    struct socket *s = find(wr);

    return wr && !s ? -1 : send_to_channel(channel, s ? s->ws : NULL, opcode, bytes, len);
}

static int broadcast_to_all(unsigned char *bytes, uint64_t len, int opcode, int channel)
{
    return send_to_channel(channel, NULL, opcode, bytes, len);
}

static int allow_broadcasts(void)
{
    has_broadcaster = 1;
    return 0;
}

static int set_callback(int type, callback function)
{
    if (type < 0 || type >= TYPES)
        return -1;
    callbacks[type] = function;
    return 0;
}

/* ---- level 3 ---- */

static void *data_of(ws_request_t *wr)
{
    struct socket *s = find(wr);

    return s ? s->data : NULL;
}

static unsigned int protocol_of(ws_request_t *wr)
{
    struct socket *s = find(wr);

    return s ? mk_ws_protocol(s->ws) : 0;
}

static int close_with(ws_request_t *wr, unsigned int code, const char *reason)
{
    struct socket *s = find(wr);

    if (!s)
        return -1;
    mk_ws_close(s->ws, code, mk_str_from(reason ? reason : ""));
    return 0;
}

static unsigned int close_code(ws_request_t *wr)
{
    struct socket *s = find(wr);

    return s ? s->code : 0;
}

static int join(ws_request_t *wr, const char *room)
{
    struct socket *s = find(wr);

    return s && is_room(room) ? room_join(&s->seats, s->ws, room) : -1;
}

static int leave(ws_request_t *wr, const char *room)
{
    struct socket *s = find(wr);

    return s && is_room(room) ? room_leave(&s->seats, s->ws, room) : -1;
}

static int to_room(const char *room, ws_request_t *wr, int opcode, const void *bytes, uint64_t len)
{
    struct socket *s = find(wr);

    if ((wr && !s) || !is_room(room) || !is_message(opcode, bytes, len))
        return -1;
    return send_everywhere(room, s ? s->ws : NULL, (enum mk_ws_kind)opcode, bytes_of(bytes, len));
}

static int set_gap_function(void (*fn)(int missed, unsigned int unsent))
{
    backplane_on_gap(fn);
    return 0;
}

static struct duda_api_websockets calls = {
    .handshake = handshake_in,
    .write = write_frame,
    .broadcast = broadcast_from,
    .broadcast_all = broadcast_to_all,
    .broadcaster = allow_broadcasts,
    .set_callback = set_callback,
    .accept = accept_with,
    .data = data_of,
    .protocol = protocol_of,
    .close = close_with,
    .close_code = close_code,
    .join = join,
    .leave = leave,
    .to_room = to_room,
    .on_gap = set_gap_function,
};

duda_package_t *duda_package_main()
{
    static char name[] = "websocket", version[] = "2.0";
    static duda_package_t package = {.name = name, .version = version, .api = &calls};

    return backplane_init() == 0 ? &package : NULL;
}
