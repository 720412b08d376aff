/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A WebSocket client for load: messages that come back, and one that comes to many.
 *
 *   sockets [-c CONNS] [-s SIZE] PORT PATH      echo: one message at a time on each connection
 *   sockets -b [-c CONNS] [-s SIZE] PORT PATH   broadcast: the first one sends when all have the message before
 *
 * Prints "ready" when all connections are open. Then each line of its input is a number of seconds, for which it talks, and
 * is answered with one JSON object. Each message that comes must be the one that was sent, whole and in one frame; anything else
 * ends the connection and counts as an error.
 */
#include "histogram.h"

#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READ_SIZE = 256 << 10,
    MAX_HEAD = 4096,
    MAX_FRAME_HEAD = 10,
    BINARY_WHOLE = 0x82,
    MASKED = 0x80,
    PATIENCE_S = 20
};

static const unsigned char mask[4] = {0x21, 0x43, 0x65, 0x87};

struct peer {
    int fd;
    unsigned char head[MAX_FRAME_HEAD]; /* of the frame that comes */
    size_t head_len;
    size_t body_at; /* bytes of its message so far */
    size_t sent;    /* bytes of the frame that it sends; frame_len: all */
    double asked_at;
};

static struct {
    int port, conns, is_broadcast;
    size_t size;
    const char *path;
} opt = {.conns = 1, .size = 64};

static char *message, *frame, *rx; /* the bytes, the same masked in a frame, what was read */
static size_t frame_len;
static struct peer *peers;
static struct histogram latency;
static long errors, bytes, missing; /* missing: messages that are still to come */
static int ep, is_over;             /* over: nobody asks again */

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static size_t put_head(unsigned char *to)
{
    const size_t size = opt.size;

    to[0] = BINARY_WHOLE;
    if (size < 126) {
        to[1] = (unsigned char)(MASKED | size);
        return 2;
    }
    if (size < 65536) {
        to[1] = MASKED | 126;
        to[2] = (unsigned char)(size >> 8);
        to[3] = (unsigned char)size;
        return 4;
    }
    to[1] = MASKED | 127;
    for (int i = 0; i < 8; i++)
        to[2 + i] = (unsigned char)((unsigned long long)size >> (56 - 8 * i));
    return 10;
}

static void prepare(void)
{
    size_t at;

    message = malloc(opt.size);
    frame = malloc(opt.size + MAX_FRAME_HEAD + sizeof(mask));
    rx = malloc(READ_SIZE);
    peers = calloc((size_t)opt.conns, sizeof(*peers));
    if (!message || !frame || !rx || !peers)
        die("memory");
    at = put_head((unsigned char *)frame);
    memcpy(frame + at, mask, sizeof(mask));
    at += sizeof(mask);
    for (size_t i = 0; i < opt.size; i++) {
        message[i] = (char)('a' + i % 26);
        frame[at + i] = (char)(message[i] ^ mask[i % 4]);
    }
    frame_len = at + opt.size;
}

/* ---- opening ---- */

static int open_link(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)opt.port)};
    struct timeval patience = {.tv_sec = PATIENCE_S};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0)
        die("socket");
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
        die("connect");
    return fd;
}

/* The key is the one of RFC 6455 section 1.3; what is measured comes after the handshake. */
static void shake_hands(int fd)
{
    static const char accepted[] = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
    char text[MAX_HEAD];
    int len = snprintf(text, sizeof(text),
                       "GET /%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: Upgrade\r\n"
                       "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                       opt.path, opt.port);
    size_t got = 0;

    if (send(fd, text, (size_t)len, MSG_NOSIGNAL) != len)
        die("opening handshake");
    do {
        if (got == sizeof(text) - 1 || recv(fd, text + got, 1, 0) != 1)
            die("opening handshake");
        text[++got] = '\0';
    } while (got < 4 || memcmp(text + got - 4, "\r\n\r\n", 4) != 0);
    if (strncmp(text, "HTTP/1.1 101 ", 13) != 0 || !strstr(text, accepted)) {
        fprintf(stderr, "sockets: refused: %s", text);
        exit(1);
    }
}

static void open_peer(struct peer *p)
{
    struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = p};

    p->fd = open_link();
    shake_hands(p->fd);
    p->sent = frame_len;
    if (epoll_ctl(ep, EPOLL_CTL_ADD, p->fd, &ev) < 0)
        die("epoll_ctl");
}

/* ---- talking ---- */

static void lose(struct peer *p)
{
    errors++;
    close(p->fd);
    p->fd = -1;
}

static void send_rest(struct peer *p)
{
    ssize_t n;

    while (p->fd >= 0 && p->sent < frame_len) {
        n = send(p->fd, frame + p->sent, frame_len - p->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
            p->sent += (size_t)n;
        else if (errno == EAGAIN)
            return;
        else
            lose(p);
    }
}

static void ask(struct peer *p)
{
    if (is_over)
        return;
    p->asked_at = now();
    p->sent = 0;
    missing += opt.is_broadcast ? opt.conns : 1;
    send_rest(p);
}

static void has_message(struct peer *p)
{
    p->head_len = p->body_at = 0;
    bytes += (long)opt.size;
    missing--;
    histogram_add(&latency, now() - (opt.is_broadcast ? &peers[0] : p)->asked_at);
    if (!opt.is_broadcast)
        ask(p);
    else if (missing == 0)
        ask(&peers[0]);
}

/* @return bytes of the head that the wanted message has; what comes must be the same but for the mask. */
static size_t head_size(void)
{
    return frame_len - opt.size - sizeof(mask);
}

static int is_head_right(const struct peer *p)
{
    unsigned char wanted[MAX_FRAME_HEAD];

    put_head(wanted);
    wanted[1] &= (unsigned char)~MASKED;
    return memcmp(p->head, wanted, p->head_len) == 0;
}

/* @return bytes used; 0: they are wrong */
static size_t eat(struct peer *p, const char *data, size_t len)
{
    size_t part;

    if (p->head_len < head_size()) {
        part = head_size() - p->head_len < len ? head_size() - p->head_len : len;
        memcpy(p->head + p->head_len, data, part);
        p->head_len += part;
        return is_head_right(p) ? part : 0;
    }
    part = opt.size - p->body_at < len ? opt.size - p->body_at : len;
    if (memcmp(data, message + p->body_at, part) != 0)
        return 0;
    p->body_at += part;
    if (p->body_at == opt.size)
        has_message(p);
    return part;
}

static void take(struct peer *p)
{
    ssize_t n;

    while (p->fd >= 0 && (n = recv(p->fd, rx, READ_SIZE, MSG_DONTWAIT)) != 0) {
        if (n < 0 && errno == EAGAIN)
            return;
        for (ssize_t at = 0; p->fd >= 0 && at < n;) {
            size_t used = eat(p, rx + at, (size_t)(n - at));

            if (used == 0)
                lose(p);
            at += (ssize_t)used;
        }
        if (n < 0)
            lose(p);
        if (n < READ_SIZE)
            return;
    }
    if (p->fd >= 0)
        lose(p);
}

static void turn(void)
{
    struct epoll_event got[512];
    int n = epoll_wait(ep, got, 512, 10);

    for (int i = 0; i < n; i++) {
        send_rest(got[i].data.ptr);
        if (got[i].events & ~(unsigned)EPOLLOUT)
            take(got[i].data.ptr);
    }
}

/* @return the seconds until the last message had come */
static double talk(double seconds)
{
    const double began = now();

    latency = (struct histogram){0};
    bytes = 0;
    is_over = 0;
    for (int i = 0; i < (opt.is_broadcast ? 1 : opt.conns); i++)
        ask(&peers[i]);
    while (missing > 0 && errors == 0) {
        turn();
        is_over = now() > began + seconds;
        errors += now() > began + seconds + PATIENCE_S;
    }
    return now() - began;
}

static void tell(double seconds)
{
    printf(
        "{\"requests\": %ld, \"errors\": %ld, \"bytes\": %ld, \"seconds\": %.4f, \"p50_us\": %.0f, "
        "\"p99_us\": %.0f}\n",
        latency.total, errors, bytes, seconds, histogram_share(&latency, 0.5),
        histogram_share(&latency, 0.99));
    fflush(stdout);
}

static int parse(int argc, char **argv)
{
    int option;

    while ((option = getopt(argc, argv, "bc:s:")) >= 0) {
        if (option == 'b')
            opt.is_broadcast = 1;
        else if (option == 'c')
            opt.conns = atoi(optarg);
        else if (option == 's')
            opt.size = (size_t)atol(optarg);
        else
            return -1;
    }
    if (argc - optind != 2 || opt.conns < 1 || opt.size < 1)
        return -1;
    opt.port = atoi(argv[optind]);
    opt.path = argv[optind + 1];
    return 0;
}

int main(int argc, char **argv)
{
    char line[32];

    if (parse(argc, argv) < 0) {
        fprintf(stderr, "usage: sockets [options] PORT PATH  (see the top of sockets.c)\n");
        return 2;
    }
    prepare();
    ep = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < opt.conns; i++)
        open_peer(&peers[i]);
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin))
        tell(talk(atof(line)));
    return 0;
}
