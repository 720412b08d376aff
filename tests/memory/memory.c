/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/plugin.h>

#include "base/invariant.h"
#include "base/list.h"
#include "server/h1/conn.h"
#include "server/run/server_int.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

/*
 * A server without sockets: monkey-memory --configdir DIR. Its transport is a plugin like any other, chosen by
 * `TransportLayer memory`; its connections are in memory, and what clients send and get comes as frames on the
 * standard input and output of this process, which harness/carriers.py speaks. Nothing listens.
 *
 * The loop wants a descriptor for each connection: they get one on which nothing ever happens.
 *
 * MEMORY_PIECE=n in the environment: n bytes of input arrive at a time (more of what is very long), and output
 * leaves in small pieces.
 */

/** Frames have this head, in the byte order of the machine; DATA is followed by len bytes. */
struct frame {
    char kind;
    uint32_t client, len;
};

enum { OPEN = 'O', DATA = 'D', END = 'E', GONE = 'G' };

enum {
    OUT_PIECE = 1000, /* taken at a time when input comes in pieces */
    LONG = 32 << 10,  /* what waits beyond this comes in larger pieces */
    LONG_PIECE = 4099,
    TICK_MS = 20,       /* how late a timer may be */
    FRAME_MAX = 1 << 20 /* of one DATA */
};

struct bytes {
    char *p;
    size_t at, len, cap;
};

struct client {
    struct mk_list link;
    struct mk_endpoint *endpoint;
    struct mk_conn *conn; /* NULL once it is closed */
    uint32_t id;
    struct bytes in;
    size_t arrived; /* of in: what the server may read already */
    size_t room;    /* what it may send in this turn */
    bool ended, end_arrived, told, blocked, said_end;
};

static struct {
    struct mk_server *server;
    struct mk_worker *worker;
    struct mk_list clients;
    struct mk_endpoint endpoint;
    struct client *opening; /* whose connection is being made */
    struct bytes in, out;   /* of the process */
    size_t piece;           /* 0: all at once */
    bool input_ended;
} all;

static void die(const char *why)
{
    (void)fprintf(stderr, "monkey-memory: %s\n", why);
    exit(1);
}

static void append(struct bytes *b, const void *p, size_t len)
{
    if (b->at > 0) {
        memmove(b->p, b->p + b->at, b->len - b->at);
        b->len -= b->at;
        b->at = 0;
    }
    if (b->len + len > b->cap) {
        b->cap = (b->len + len) * 2;
        b->p = realloc(b->p, b->cap);
        if (!b->p)
            die("no memory");
    }
    memcpy(b->p + b->len, p, len);
    b->len += len;
}

static void tell(const struct client *c, char kind, const void *p, size_t len)
{
    const struct frame frame = {.kind = kind, .client = c->id, .len = (uint32_t)len};

    append(&all.out, &frame, sizeof(frame));
    append(&all.out, p, len);
}

static void tell_end(struct client *c)
{
    if (!c->said_end)
        tell(c, END, "", 0);
    c->said_end = true;
}

/* ---- the transport ---- */

static int memory_open(struct mk_link *l, const struct mk_context *ctx, const char *name)
{
    (void)ctx;
    (void)name;
    l->state = all.opening;
    all.opening->conn = MK_CONTAINER_OF(l, struct mk_conn, link);
    return 0;
}

static ssize_t memory_recv(struct mk_link *l, void *buf, size_t len)
{
    struct client *c = l->state;
    size_t n = c->arrived < len ? c->arrived : len;

    l->is_drained = n < len;
    if (n == 0)
        return c->end_arrived ? 0 : MK_E_AGAIN;
    memcpy(buf, c->in.p + c->in.at, n);
    c->in.at += n;
    c->arrived -= n;
    return (ssize_t)n;
}

static ssize_t memory_send(struct mk_link *l, const struct iovec *iov, int niov, bool more)
{
    struct client *c = l->state;
    size_t sent = 0;

    (void)more;
    for (int i = 0; i < niov && !c->blocked; i++) {
        size_t n = iov[i].iov_len < c->room ? iov[i].iov_len : c->room;

        if (n > 0)
            tell(c, DATA, iov[i].iov_base, n);
        c->room -= n;
        sent += n;
        c->blocked = n < iov[i].iov_len;
    }
    return sent > 0 ? (ssize_t)sent : MK_E_AGAIN;
}

static void memory_shutdown(struct mk_link *l)
{
    tell_end(l->state);
}

static void memory_close(struct mk_link *l)
{
    struct client *c = l->state;

    c->conn = NULL;
    tell_end(c);
}

static const struct mk_transport transport = {
    .size = sizeof(struct mk_transport),
    .name = "memory",
    .open = memory_open,
    .recv = memory_recv,
    .send = memory_send,
    .shutdown = memory_shutdown,
    .close = memory_close,
};

static const struct mk_plugin plugin = {
    MK_PLUGIN("memory", "for tests without sockets"),
    .transport = &transport,
};
MK_PLUGIN_EXPORT(plugin);

/* ---- clients ---- */

static struct client *find(uint32_t id)
{
    MK_LIST_EACH (&all.clients, link) {
        struct client *c = MK_CONTAINER_OF(link, struct client, link);

        if (c->id == id)
            return c;
    }
    return NULL;
}

static void set_room(struct client *c)
{
    c->room = all.piece ? OUT_PIECE : FRAME_MAX;
    c->blocked = false;
}

static void open_client(uint32_t id)
{
    static const struct mk_peer peer = {
        .is_unix = true}; /* silent from its first byte, not in the kernel before */
    struct client *c = calloc(1, sizeof(*c));
    int nothing = epoll_create1(EPOLL_CLOEXEC);

    if (!c || nothing < 0)
        die("no memory or descriptor");
    c->id = id;
    set_room(c);
    mk_list_add_tail(&all.clients, &c->link);
    all.opening = c;
    atomic_fetch_add(&all.server->shared.connections, 1);
    mk_conn_open(all.worker, &all.endpoint, nothing, &peer, false);
}

static void free_client(struct client *c)
{
    if (c->conn)
        mk_conn_close(c->conn, MK_CLOSE_PEER_CUT);
    mk_list_remove(&c->link);
    free(c->in.p);
    free(c);
}

static void on_frame(const struct frame *frame, const char *payload)
{
    struct client *c = frame->kind == OPEN ? NULL : find(frame->client);

    if (frame->kind == OPEN)
        open_client(frame->client);
    else if (!c)
        die("a frame for nobody");
    else if (frame->kind == DATA)
        append(&c->in, payload, frame->len);
    else if (frame->kind == END)
        c->ended = true;
    else
        free_client(c);
}

/* Whole frames of what has come. */
static void read_frames(void)
{
    for (;;) {
        struct frame frame;
        size_t left = all.in.len - all.in.at;

        if (left < sizeof(frame))
            return;
        memcpy(&frame, all.in.p + all.in.at, sizeof(frame));
        if (frame.len > FRAME_MAX)
            die("a frame is too long");
        if (left < sizeof(frame) + frame.len)
            return;
        all.in.at += sizeof(frame) + frame.len;
        on_frame(&frame, all.in.p + all.in.at - frame.len);
    }
}

/* Let the next piece arrive, as an edge-triggered epoll would tell. @return the events of that. */
static uint32_t arrive(struct client *c)
{
    size_t left = c->in.len - c->in.at - c->arrived;
    size_t asked = left > LONG ? LONG_PIECE : all.piece;
    size_t piece = all.piece && asked < left ? asked : left;
    uint32_t events = c->blocked ? EPOLLOUT : 0;

    c->arrived += piece;
    set_room(c);
    if (piece > 0)
        events |= EPOLLIN;
    if (c->ended && !c->end_arrived && piece == left) {
        c->end_arrived = true;
        events |= EPOLLIN | EPOLLRDHUP;
    }
    return events;
}

static bool is_busy(void)
{
    MK_LIST_EACH (&all.clients, link) {
        const struct client *c = MK_CONTAINER_OF(link, struct client, link);

        if (c->conn && (c->blocked || c->in.len - c->in.at > c->arrived))
            return true;
    }
    return !mk_list_is_empty(&all.worker->loop.ready) || !mk_list_is_empty(&all.worker->loop.late);
}

static void turn(void)
{
    MK_LIST_EACH (&all.clients, link) {
        struct client *c = MK_CONTAINER_OF(link, struct client, link);
        uint32_t events = c->conn ? arrive(c) : 0;

        if (events)
            c->conn->watch.on_event(&c->conn->watch, events);
    }
    mk_loop_turn(&all.worker->loop, 0, NULL, NULL);
}

/* ---- the process ---- */

static void read_input(void)
{
    static char buf[1 << 16];
    ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));

    if (n > 0)
        append(&all.in, buf, (size_t)n);
    all.input_ended = n == 0;
}

static void write_output(void)
{
    ssize_t n = write(STDOUT_FILENO, all.out.p + all.out.at, all.out.len - all.out.at);

    if (n > 0)
        all.out.at += (size_t)n;
    else if (n < 0 && errno != EAGAIN)
        die("nobody reads");
}

static int signals(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

static void serve(void)
{
    struct pollfd fds[] = {
        {.fd = signals(), .events = POLLIN},
        {.fd = all.worker->loop.epfd, .events = POLLIN},
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = STDOUT_FILENO},
    };

    (void)fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
    while (!fds[0].revents) {
        if (all.input_ended)
            fds[2].fd = -1;
        fds[3].events = all.out.len > all.out.at ? POLLOUT : 0;
        (void)poll(fds, MK_ARRAY_LEN(fds), is_busy() ? 0 : TICK_MS);
        if (fds[2].revents)
            read_input();
        read_frames();
        turn();
        if (all.out.len > all.out.at)
            write_output();
    }
}

static void print_fault(void *arg, const char *text, size_t len)
{
    (void)arg;
    (void)fprintf(stderr, "%.*s\n", (int)len, text);
}

static struct mk_server *make(const char *dir)
{
    const struct mk_config_files files = {.size = sizeof(files), .dir = dir};
    struct mk_config *config;
    struct mk_server *server;

    if (mk_config_new(&config, NULL) < 0 || mk_config_read(config, &files) < 0 ||
        mk_config_set(config, "SERVER", "Workers", "1", "memory") < 0)
        die("no memory");
    if (mk_server_new(&server, config, NULL) != 0) {
        mk_config_faults(config, print_fault, NULL);
        mk_config_free(config);
        exit(1);
    }
    return server;
}

int main(int argc, char **argv)
{
    const char *piece = getenv("MEMORY_PIECE");
    struct mk_snapshot *snapshot;

    if (argc != 3 || strcmp(argv[1], "--configdir") != 0)
        die("usage: monkey-memory --configdir DIR");
    all.piece = piece ? strtoul(piece, NULL, 10) : 0;
    mk_list_init(&all.clients);
    all.server = make(argv[2]);
    all.worker = all.server->shared.workers[0];
    snapshot = all.server->snapshot;
    all.endpoint.via[0] = all.endpoint.via[1] = snapshot->set.listens[0].via;
    if (mk_server_open_log(all.server, snapshot->set.error_log) < 0)
        die(mk_server_why(all.server));
    (void)fprintf(stderr, "listening address=memory:1\n");
    serve();
    MK_LIST_EACH (&all.clients, link)
        free_client(MK_CONTAINER_OF(link, struct client, link));
    mk_loop_turn(&all.worker->loop, 0, NULL, NULL);
    mk_server_free(all.server);
    free(all.in.p);
    free(all.out.p);
    return 0;
}
