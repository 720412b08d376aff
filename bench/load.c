/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small HTTP/1.1 load client, for what the usual ones do not do: an exact number of requests, a
 * connection each where the server closes first (so that no client port is left waiting), deep
 * pipelines, thousands of idle connections, and the time from exec to the first byte.
 *
 *   load [-c CONNS] [-d SECONDS | -n REQUESTS] [-p DEPTH] [-1 | -k ROUNDS] [-e] [-t | -r] [-w PROCESSES] [-H LINE] PORT PATH...
 *   load -i CONNS PORT PATH            idle: one request on each, wait for a line on stdin, once more
 *   load -s TIMES PORT PATH -- ARGV... start-up: milliseconds from exec to the first byte, each time
 *
 * -t: over TLS, with a full handshake for each connection; -r: each resumes a session, the first ones that of a
 * connection before, which does not count.
 *
 * -k: the client closes a connection after so many rounds of requests, and opens another.
 *
 * -e: exits with 1 after an error.
 *
 * Prints one JSON object.  Every answer is parsed and must be a 200 with Content-Length and as many
 * bytes as it says; anything else counts as an error.
 */
#include "histogram.h"
#include "load_tls.h"

#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PATHS = 64, MAX_DEPTH = 64, MAX_HEAD = 4096, READ_SIZE = 256 << 10, STALL_MS = 20000 };

struct conn {
    int fd;
    struct channel *tls; /* NULL: plain */
    int sending;         /* the request has not left: the handshake is still going on */
    int open_answers;    /* requests of this round without an answer yet */
    int rounds;          /* since it was opened */
    long body_left;      /* -1 while in a head */
    size_t head_len;     /* bytes of a head cut by the end of a read */
    unsigned path;       /* which path is asked next */
    double asked_at;
    char *head;
};

struct totals {
    long requests, errors, bytes;
    long handshakes, resumed; /* TLS */
    double seconds;
    struct histogram latency;
};

static struct {
    int port, conns, depth, close_each, rounds, processes, tls, resume, fails_on_error;
    double seconds;
    long requests;
    const char *extra;
    int npaths;
} opt = {.conns = 1, .depth = 1, .processes = 1, .extra = ""};

static char *round_text[MAX_PATHS]; /* what is sent in one go when it is this path's turn */
static size_t round_len[MAX_PATHS];
static struct sockaddr_in server;
static struct totals *total;
static char *rx;
static int ep;
static long to_ask; /* requests not asked yet, with -n */
static int over;    /* the time is up, or everything was asked and answered */
static long in_flight;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void prepare_requests(char **paths)
{
    for (int i = 0; i < opt.npaths; i++) {
        char *one = NULL;
        int len = asprintf(&one, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s%s\r\n", paths[i],
                           opt.port, opt.extra, opt.close_each ? "Connection: close\r\n" : "");

        if (len < 0)
            die("memory");
        round_len[i] = (size_t)len * (size_t)opt.depth;
        round_text[i] = malloc(round_len[i]);
        for (int k = 0; k < opt.depth; k++)
            memcpy(round_text[i] + k * len, one, (size_t)len);
        free(one);
    }
}

static ssize_t io_send(struct conn *c, const void *p, size_t len)
{
    return c->tls ? channel_send(c->tls, p, len) : send(c->fd, p, len, MSG_NOSIGNAL);
}

static ssize_t io_recv(struct conn *c, void *p, size_t len)
{
    return c->tls ? channel_recv(c->tls, p, len) : recv(c->fd, p, len, 0);
}

static void conn_open(struct conn *c)
{
    struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    int on = 1;

    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        die("socket");
    if (!opt.close_each || opt.tls) /* one send, then FIN: nothing can wait */
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    c->body_left = -1;
    c->head_len = 0;
    c->rounds = 0;
    c->sending = 1;
    if (connect(c->fd, (struct sockaddr *)&server, sizeof(server)) < 0 && errno != EINPROGRESS)
        die("connect");
    if (epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &ev) < 0)
        die("epoll_ctl");
    if (opt.tls)
        c->tls = channel_new(c->fd);
}

static void conn_close(struct conn *c)
{
    channel_free(c->tls);
    c->tls = NULL;
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

static void conn_send(struct conn *c)
{
    ssize_t n = io_send(c, round_text[c->path], round_len[c->path]);

    if (n == (ssize_t)round_len[c->path]) {
        c->sending = 0;
    } else if (n < 0 && (errno == EAGAIN || errno == ENOTCONN)) {
        c->sending = 1;
    } else {
        total->errors += c->open_answers;
        in_flight -= c->open_answers;
        c->open_answers = 0;
        conn_close(c);
    }
}

static void conn_ask(struct conn *c)
{
    for (int tries = 0; tries < 3; tries++) {
        if (over || (opt.requests && to_ask <= 0)) {
            conn_close(c);
            return;
        }
        to_ask -= opt.depth;
        c->path = (c->path + 1) % (unsigned)opt.npaths;
        c->open_answers = opt.depth;
        in_flight += opt.depth;
        c->asked_at = now();
        if (c->fd < 0) {
            conn_open(c); /* and send when epoll says that it is connected, as clients do */
            return;
        }
        conn_send(c);
        if (c->fd >= 0)
            return;
    }
}

static void answer_done(struct conn *c)
{
    c->body_left = -1;
    c->head_len = 0;
    c->open_answers--;
    in_flight--;
    total->requests++;
    histogram_add(&total->latency, now() - c->asked_at);
}

/* Content-Length of a whole head, or -1 when it is not the 200 that was asked for. */
static long parse_head(const char *p, size_t len)
{
    static const char name[] = "\r\nContent-Length:";

    if (len < 12 || memcmp(p, "HTTP/1.", 7) != 0 || memcmp(p + 8, " 200", 4) != 0)
        return -1;
    for (const char *at = p; (at = memmem(at, len - (size_t)(at - p), "\r\n", 2)); at += 2) {
        if (len - (size_t)(at - p) > sizeof(name) && strncasecmp(at, name, sizeof(name) - 1) == 0)
            return atol(at + sizeof(name) - 1);
    }
    return -1;
}

/* Returns bytes used, or -1 for an answer that is wrong. */
static long eat_head(struct conn *c, const char *p, size_t len)
{
    size_t had = c->head_len;
    const char *head = p, *end;
    size_t head_len = len;

    if (had > 0) {
        size_t more = len < MAX_HEAD - had ? len : MAX_HEAD - had;

        memcpy(c->head + had, p, more);
        head = c->head;
        head_len = had + more;
    }
    end = memmem(head, head_len, "\r\n\r\n", 4);
    if (!end) {
        if (head_len >= MAX_HEAD)
            return -1;
        if (had == 0)
            memcpy(c->head, p, len);
        c->head_len = head_len;
        return (long)len;
    }
    size_t whole = (size_t)(end - head) + 4;
    c->body_left = parse_head(head, whole);
    c->head_len = 0;
    return c->body_left < 0 ? -1 : (long)(whole - had);
}

static int eat(struct conn *c, const char *p, size_t len)
{
    while (len > 0) {
        if (c->open_answers == 0)
            return -1; /* more than was asked for */
        if (c->body_left < 0) {
            long used = eat_head(c, p, len);

            if (used < 0)
                return -1;
            p += used;
            len -= (size_t)used;
            if (c->body_left < 0)
                continue;
        }
        size_t take = len < (size_t)c->body_left ? len : (size_t)c->body_left;
        c->body_left -= (long)take;
        p += take;
        len -= take;
        if (c->body_left == 0)
            answer_done(c);
    }
    return 0;
}

/* The connection is over: what was asked and not answered is an error. */
static void conn_lost(struct conn *c)
{
    total->errors += c->open_answers;
    in_flight -= c->open_answers;
    c->open_answers = 0;
    conn_close(c);
    conn_ask(c);
}

static void conn_read(struct conn *c, unsigned events)
{
    for (;;) {
        ssize_t n = io_recv(c, rx, READ_SIZE);

        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            conn_lost(c);
            return;
        }
        total->bytes += n;
        if (eat(c, rx, (size_t)n) < 0) {
            total->errors++;
            conn_lost(c);
            return;
        }
        /* With a connection each, wait for the server's FIN: it closes first. */
        if (c->open_answers == 0 && !opt.close_each) {
            if (++c->rounds == opt.rounds)
                conn_close(c);
            conn_ask(c);
            return;
        }
        if (c->tls)
            continue; /* a short read is the end of a record, not of what has come */
        if (n < READ_SIZE && events & EPOLLRDHUP) {
            conn_lost(c); /* drained, and the FIN is known to be there */
            return;
        }
        if (n < READ_SIZE)
            return;
    }
}

static void on_event(struct conn *c, unsigned events)
{
    if (c->fd < 0)
        return;
    if (c->sending && (c->tls || events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
        conn_send(c);
    if (c->fd < 0)
        conn_ask(c);
    else if (events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP))
        conn_read(c, events);
}

static int all_answered(void)
{
    return opt.requests && to_ask <= 0 && in_flight == 0;
}

static void run_load(void)
{
    struct conn *conns = calloc((size_t)opt.conns, sizeof(*conns));
    struct epoll_event got[512];
    double begin = now(), end = opt.seconds > 0 ? begin + opt.seconds : begin + 3600;
    double last_answer = begin;
    long seen = 0;

    ep = epoll_create1(EPOLL_CLOEXEC);
    rx = malloc(READ_SIZE);
    to_ask = opt.requests;
    for (int i = 0; i < opt.conns; i++) {
        conns[i].fd = -1;
        conns[i].path = (unsigned)i;
        conns[i].head = malloc(MAX_HEAD);
        conn_ask(&conns[i]);
    }
    while (!all_answered()) {
        double t = now();

        if (t >= end)
            break;
        if (total->requests != seen) {
            seen = total->requests;
            last_answer = t;
        } else if ((t - last_answer) * 1000 > STALL_MS) {
            total->errors += in_flight;
            break;
        }
        int n = epoll_wait(ep, got, 512, (int)((end - t) * 1000) < 1000 ? 10 : 1000);
        for (int i = 0; i < n; i++)
            on_event(got[i].data.ptr, got[i].events);
    }
    over = 1;
    channel_counts(&total->handshakes, &total->resumed);
    total->seconds = now() - begin;
}

static void print_totals(const struct totals *t)
{
    printf("{\"requests\": %ld, \"errors\": %ld, \"bytes\": %ld, \"seconds\": %.4f, "
           "\"p50_us\": %.0f, \"p99_us\": %.0f, \"handshakes\": %ld, \"resumed\": %ld}\n",
           t->requests, t->errors, t->bytes, t->seconds, histogram_share(&t->latency, 0.5),
           histogram_share(&t->latency, 0.99), t->handshakes, t->resumed);
}

/* One request and its whole answer on a blocking socket; 0 or -1. */
static int ask_once(int fd, struct channel *tls)
{
    struct conn c = {.fd = fd, .tls = tls, .body_left = -1, .open_answers = 1, .asked_at = now()};
    char head[MAX_HEAD], in[16384];

    c.head = head;
    if (io_send(&c, round_text[0], round_len[0]) != (ssize_t)round_len[0])
        return -1;
    while (c.open_answers > 0) {
        ssize_t n = io_recv(&c, in, sizeof(in));

        if (n <= 0 || eat(&c, in, (size_t)n) < 0)
            return -1;
    }
    return 0;
}

static int connect_blocking(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval patience = {.tv_sec = 10};

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(fd, (struct sockaddr *)&server, sizeof(server)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* The session that the first connections of every process resume; it is not counted. */
static void fetch_session(void)
{
    struct totals uncounted = {0};
    int fd = connect_blocking();
    struct channel *tls = fd < 0 ? NULL : channel_new(fd);

    total = &uncounted;
    in_flight = 1;
    if (!tls || ask_once(fd, tls) < 0) {
        fprintf(stderr, "load: no answer to the request that brings a session\n");
        exit(1);
    }
    channel_counts(&uncounted.handshakes, &uncounted.resumed);
    channel_free(tls);
    close(fd);
}

/* Each process has its own totals, in memory shared with the first. */
static void run_all(void)
{
    size_t size = sizeof(struct totals) * (size_t)opt.processes;
    struct totals *each =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (each == MAP_FAILED)
        die("mmap");
    opt.conns /= opt.processes;
    opt.requests /= opt.processes;
    if (opt.resume)
        fetch_session();
    total = &each[0];
    for (int i = 1; i < opt.processes; i++) {
        if (fork() == 0) {
            total = &each[i];
            run_load();
            _exit(0);
        }
    }
    run_load();
    while (wait(NULL) > 0)
        ;
    for (int i = 1; i < opt.processes; i++) {
        each[0].requests += each[i].requests;
        each[0].errors += each[i].errors;
        each[0].bytes += each[i].bytes;
        each[0].handshakes += each[i].handshakes;
        each[0].resumed += each[i].resumed;
        histogram_merge(&each[0].latency, &each[i].latency);
    }
    print_totals(&each[0]);
    if (opt.fails_on_error && each[0].errors > 0)
        exit(1);
}

static void run_idle(int n)
{
    int *fds = calloc((size_t)n, sizeof(*fds));
    struct channel **tls = calloc((size_t)n, sizeof(struct channel *));
    long first = 0, again = 0;
    char line[16];

    total = calloc(1, sizeof(*total));
    for (int i = 0; i < n; i++) {
        fds[i] = connect_blocking();
        if (opt.tls && fds[i] >= 0)
            tls[i] = channel_new(fds[i]);
        first += fds[i] >= 0 && ask_once(fds[i], tls[i]) == 0;
    }
    printf("ready\n");
    fflush(stdout);
    if (!fgets(line, sizeof(line), stdin))
        exit(1);
    for (int i = 0; i < n; i++)
        again += fds[i] >= 0 && ask_once(fds[i], tls[i]) == 0;
    printf("{\"asked\": %d, \"answered\": %ld, \"answered_again\": %ld}\n", n, first, again);
    if (opt.fails_on_error && first + again < 2 * n)
        exit(1);
}

static double start_once(char **argv)
{
    double begin = now(), took = -1;
    fflush(stdout); /* or the child writes it once more */
    pid_t pid = fork();

    if (pid < 0)
        die("fork");
    if (pid == 0) {
        cpu_set_t first;

        setsid(); /* some servers signal their whole group when they end */
        CPU_ZERO(&first);
        CPU_SET(0, &first);
        sched_setaffinity(0, sizeof(first), &first);
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(126);
        execvp(argv[0], argv);
        _exit(127);
    }
    while (took < 0 && now() - begin < 10) {
        int fd = connect_blocking();

        if (fd < 0) {
            usleep(50);
            continue;
        }
        if (ask_once(fd, NULL) == 0)
            took = (now() - begin) * 1000;
        close(fd);
    }
    kill(pid, SIGTERM);
    for (int i = 0; i < 5000 && waitpid(pid, NULL, WNOHANG) == 0; i++) {
        if (i == 4999)
            kill(pid, SIGKILL);
        usleep(1000);
    }
    return took;
}

static void run_start(int times, char **argv)
{
    total = calloc(1, sizeof(*total));
    printf("{\"ms\": [");
    for (int i = 0; i < times; i++)
        printf("%s%.3f", i ? ", " : "", start_once(argv));
    printf("]}\n");
}

int main(int argc, char **argv)
{
    int idle = 0, start = 0, o;

    while ((o = getopt(argc, argv, "+c:d:k:n:p:1etrw:H:i:s:")) != -1) {
        switch (o) {
        case 'c':
            opt.conns = atoi(optarg);
            break;
        case 'd':
            opt.seconds = atof(optarg);
            break;
        case 'k':
            opt.rounds = atoi(optarg);
            break;
        case 'n':
            opt.requests = atol(optarg);
            break;
        case 'p':
            opt.depth = atoi(optarg);
            break;
        case '1':
            opt.close_each = 1;
            break;
        case 'e':
            opt.fails_on_error = 1;
            break;
        case 't':
            opt.tls = 1;
            break;
        case 'r':
            opt.tls = opt.resume = 1;
            break;
        case 'w':
            opt.processes = atoi(optarg);
            break;
        case 'H': {
            char *all = NULL;

            if (asprintf(&all, "%s%s\r\n", opt.extra, optarg) < 0)
                die("memory");
            opt.extra = all;
            break;
        }
        case 'i':
            idle = atoi(optarg);
            break;
        case 's':
            start = atoi(optarg);
            break;
        default:
            return 2;
        }
    }
    if (argc - optind < 2 || opt.depth < 1 || opt.depth > MAX_DEPTH || opt.conns < opt.processes) {
        fprintf(stderr, "usage: load [options] PORT PATH...  (see the top of load.c)\n");
        return 2;
    }
    if (opt.tls && channel_init(opt.resume) < 0) {
        fprintf(stderr, "load: compiled without TLS\n");
        return 2;
    }
    opt.port = atoi(argv[optind]);
    server.sin_family = AF_INET;
    server.sin_port = htons((uint16_t)opt.port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    char **paths = argv + optind + 1;
    while (paths[opt.npaths] && strcmp(paths[opt.npaths], "--") != 0 && opt.npaths < MAX_PATHS)
        opt.npaths++;
    prepare_requests(paths);
    if (idle)
        run_idle(idle);
    else if (start)
        run_start(start, paths + opt.npaths + 1);
    else
        run_all();
    return 0;
}
