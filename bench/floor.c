/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor: what the kernel alone costs.  An epoll loop that parses nothing and sends one canned
 * answer for every blank line received: from memory in one send, or (-s) head by MSG_MORE and body
 * by sendfile.  No server that reads its requests can be cheaper, so a figure near it is done.
 *
 *   floor -p PORT -f FILE [-s] [-1] [-w WORKERS]
 *     -s  body by sendfile   -1  close after one answer   -w  processes, each with its own listener
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_FD = 32768, COPIES = 64, SEND_STEP = 1 << 20 };

struct peer {
    off_t left; /* bytes of the file still to go to this peer */
    int owed;   /* answers not begun yet */
};

static struct peer peers[MAX_FD];
static char *canned; /* COPIES answers in a row (memory) or one head (sendfile) */
static size_t canned_len;
static int file_fd = -1;
static off_t file_len;
static int by_sendfile, once;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* Answers are small or the peer reads: a short send ends the connection, which the client counts. */
static int send_memory(int fd, int answers)
{
    while (answers > 0) {
        int now = answers < COPIES ? answers : COPIES;
        size_t len = canned_len * (size_t)now;

        if (send(fd, canned, len, MSG_NOSIGNAL) != (ssize_t)len)
            return -1;
        answers -= now;
    }
    return 0;
}

static int send_file(int fd, struct peer *p)
{
    for (;;) {
        if (p->left == 0) {
            if (p->owed == 0)
                return 0;
            p->owed--;
            p->left = file_len;
            if (send(fd, canned, canned_len, MSG_MORE | MSG_NOSIGNAL) != (ssize_t)canned_len)
                return -1;
        }
        off_t at = file_len - p->left;
        size_t step = p->left < SEND_STEP ? (size_t)p->left : SEND_STEP;
        ssize_t n = sendfile(fd, file_fd, &at, step);

        if (n < 0)
            return errno == EAGAIN ? 1 : -1;
        p->left -= n;
    }
}

/* Returns 0 when the connection lives on, -1 when it is to be closed. */
static int serve(int fd)
{
    struct peer *p = &peers[fd];
    char in[16384];
    ssize_t n;
    int r;

    if (p->left > 0) {
        r = send_file(fd, p);
        if (r != 0)
            return r < 0 ? -1 : 0;
        if (once)
            return -1;
    }
    n = recv(fd, in, sizeof(in), 0);
    if (n <= 0)
        return n < 0 && errno == EAGAIN ? 0 : -1;

    int answers = 0;
    for (const char *at = in; (at = memmem(at, (size_t)(in + n - at), "\r\n\r\n", 4)); at += 4)
        answers++;
    if (!by_sendfile) {
        r = send_memory(fd, answers);
    } else {
        p->owed += answers;
        r = send_file(fd, p);
    }
    return r < 0 || (once && r == 0) ? -1 : 0;
}

static int listen_on(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &on,
               sizeof(on)); /* accept when bytes are there */
    if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 4096) < 0)
        die("listen");
    return fd;
}

static void greet(int ep, int listener)
{
    for (int i = 0; i < 64; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0)
            return;
        if (fd >= MAX_FD) {
            close(fd);
            continue;
        }
        peers[fd] = (struct peer){0, 0};
        if (serve(fd) < 0) {
            close(fd);
            continue;
        }
        struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT | EPOLLET | EPOLLRDHUP,
                                 .data.fd = fd};
        epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
    }
}

static void loop(int port)
{
    int listener = listen_on(port);
    int ep = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = listener};
    struct epoll_event got[256];

    epoll_ctl(ep, EPOLL_CTL_ADD, listener, &ev);
    for (;;) {
        int n = epoll_wait(ep, got, 256, -1);

        for (int i = 0; i < n; i++) {
            int fd = got[i].data.fd;

            if (fd == listener)
                greet(ep, listener);
            else if ((got[i].events & EPOLLIN || peers[fd].left > 0) && serve(fd) < 0)
                close(fd);
        }
    }
}

static void prepare(const char *path)
{
    char head[256];
    struct stat st;

    file_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (file_fd < 0 || fstat(file_fd, &st) < 0)
        die(path);
    file_len = st.st_size;
    int head_len = snprintf(head, sizeof(head),
                            "HTTP/1.1 200 OK\r\nServer: floor\r\nContent-Type: text/plain\r\n"
                            "Content-Length: %lld\r\nConnection: %s\r\n\r\n",
                            (long long)file_len, once ? "close" : "keep-alive");
    canned_len = (size_t)head_len;
    if (by_sendfile) {
        canned = strdup(head);
        return;
    }
    canned_len += (size_t)file_len;
    canned = malloc(canned_len * COPIES);
    if (!canned)
        die("memory");
    for (size_t i = 0; i < COPIES; i++) {
        memcpy(canned + i * canned_len, head, (size_t)head_len);
        if (pread(file_fd, canned + i * canned_len + head_len, (size_t)file_len, 0) != file_len)
            die(path);
    }
}

int main(int argc, char **argv)
{
    const char *path = NULL;
    int port = 0, workers = 1, opt;

    while ((opt = getopt(argc, argv, "p:f:w:s1")) != -1) {
        switch (opt) {
        case 'p':
            port = atoi(optarg);
            break;
        case 'f':
            path = optarg;
            break;
        case 'w':
            workers = atoi(optarg);
            break;
        case 's':
            by_sendfile = 1;
            break;
        case '1':
            once = 1;
            break;
        default:
            return 2;
        }
    }
    if (!port || !path) {
        fprintf(stderr, "usage: floor -p PORT -f FILE [-s] [-1] [-w WORKERS]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    prepare(path);
    for (int i = 1; i < workers; i++) {
        if (fork() == 0)
            break;
    }
    loop(port);
    return 0;
}
