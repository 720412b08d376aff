/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/ask.h>
#include <monkey/server.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/*
 * A server that is asked from memory: monkey-asking --configdir DIR. Questions and answers are frames on the standard
 * input and output of this process, which harness/asking.py speaks. Each question has a thread, which waits for its
 * answer. There is one worker, since what tests say of connections to backends they say of one client's worker. HUP
 * reloads, TERM ends.
 */

enum {
    PARTS = 4,
    PART_MAX = 64 << 20,
    GRACE_MS = 2000,
};

/** Frames have this head, in the byte order of the machine; the parts follow. */
struct frame {
    uint32_t number;
    int32_t status; /* of an answer */
    int32_t error;  /* of an answer, or of the call */
    uint32_t len
        [PARTS]; /* method, target, fields, body; of an answer: fields, body, trailers, nothing */
};

struct asked {
    struct frame frame;
    struct mk_str part[PARTS];
    char bytes[];
};

static struct {
    struct mk_server *server;
    const char *dir;
    pthread_mutex_t lock; /* of output and count */
    pthread_cond_t is_less;
    unsigned asked; /* threads */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .is_less = PTHREAD_COND_INITIALIZER};

static void die(const char *why)
{
    (void)fprintf(stderr, "monkey-asking: %s\n", why);
    _exit(1);
}

static bool read_all(void *to, size_t len)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = read(STDIN_FILENO, (char *)to + done, len - done);

        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* The test may have gone. */
static void write_all(const char *p, size_t len)
{
    while (len > 0) {
        ssize_t n = write(STDOUT_FILENO, p, len);

        if (n < 0 && errno != EINTR)
            return;
        p += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
}

/* ---- questions ---- */

static void tell(uint32_t number, int err, const struct mk_answer *answer)
{
    const struct mk_answer none = {.error = err};
    const struct mk_answer *a = answer ? answer : &none;
    const struct mk_str parts[] = {a->fields, a->body, a->trailers};
    struct frame frame = {.number = number, .status = (int32_t)a->status, .error = a->error};

    for (unsigned i = 0; i < 3; i++)
        frame.len[i] = (uint32_t)parts[i].len;
    pthread_mutex_lock(&all.lock);
    write_all((const char *)&frame, sizeof(frame));
    for (unsigned i = 0; i < 3; i++)
        write_all(parts[i].p, parts[i].len);
    pthread_mutex_unlock(&all.lock);
}

static void *ask(void *arg)
{
    struct asked *asked = arg;
    const struct mk_question question = {
        .size = sizeof(question),
        .method = asked->part[0],
        .target = asked->part[1],
        .fields = asked->part[2],
        .body = asked->part[3],
        .max_answer = PART_MAX,
    };
    struct mk_answer *answer = NULL;
    int err = mk_server_ask_wait(all.server, &question, &answer);

    tell(asked->frame.number, err, answer);
    mk_answer_free(answer);
    free(asked);
    pthread_mutex_lock(&all.lock);
    all.asked--;
    pthread_cond_signal(&all.is_less);
    pthread_mutex_unlock(&all.lock);
    return NULL;
}

static struct asked *read_question(void)
{
    struct frame frame;
    struct asked *asked;
    size_t len = 0;
    char *at;

    if (!read_all(&frame, sizeof(frame)))
        return NULL;
    for (unsigned i = 0; i < PARTS; i++) {
        if (frame.len[i] > PART_MAX)
            die("a part of a question is too long");
        len += frame.len[i];
    }
    asked = malloc(sizeof(*asked) + len);
    if (!asked)
        die("no memory");
    if (!read_all(asked->bytes, len))
        die("a question breaks off");
    asked->frame = frame;
    at = asked->bytes;
    for (unsigned i = 0; i < PARTS; at += frame.len[i++])
        asked->part[i] = (struct mk_str){at, frame.len[i]};
    return asked;
}

static void begin(struct asked *asked)
{
    pthread_attr_t attr;
    pthread_t thread;

    pthread_mutex_lock(&all.lock);
    all.asked++;
    pthread_mutex_unlock(&all.lock);
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attr, ask, asked) != 0)
        die("no thread");
    (void)pthread_attr_destroy(&attr);
}

static void wait_for_threads(void)
{
    pthread_mutex_lock(&all.lock);
    while (all.asked > 0)
        pthread_cond_wait(&all.is_less, &all.lock);
    pthread_mutex_unlock(&all.lock);
}

/* ---- the server ---- */

static void print_fault(void *arg, const char *text, size_t len)
{
    (void)arg;
    (void)fprintf(stderr, "%.*s\n", (int)len, text);
}

static struct mk_config *configure(void)
{
    const struct mk_config_files files = {.size = sizeof(files), .dir = all.dir};
    struct mk_config *config;

    if (mk_config_new(&config, NULL) < 0 || mk_config_read(config, &files) < 0 ||
        mk_config_set(config, "SERVER", "Workers", "1", "asking") < 0)
        die("no memory");
    return config;
}

static void start(void)
{
    struct mk_config *config = configure();
    int faults = mk_config_check(config);

    mk_config_faults(config, print_fault, NULL); /* warnings too */
    if (faults != 0 || mk_server_new(&all.server, config, NULL) != 0)
        _exit(1);
    if (mk_server_listen(all.server) < 0 || mk_server_start(all.server) < 0)
        die(mk_server_why(all.server));
}

static void reload(void)
{
    struct mk_config *config = configure();

    if (mk_server_reload(all.server, config) != 0)
        mk_config_free(config);
}

static int signals(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGHUP);
    (void)sigaddset(&set, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

/* @return false: it shall end. */
static bool take_signal(int fd)
{
    struct signalfd_siginfo info;

    if (read(fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return true;
    if (info.ssi_signo == SIGHUP)
        reload();
    return info.ssi_signo != SIGTERM;
}

static void serve(int signal_fd)
{
    struct pollfd fds[] = {
        {.fd = signal_fd, .events = POLLIN},
        {.fd = STDIN_FILENO, .events = POLLIN},
    };

    for (;;) {
        struct asked *asked;

        if (poll(fds, 2, -1) < 0)
            continue;
        if (fds[0].revents && !take_signal(signal_fd))
            return;
        if (!fds[1].revents)
            continue;
        asked = read_question();
        if (asked)
            begin(asked);
        else
            fds[1].fd = -1;
    }
}

int main(int argc, char **argv)
{
    int signal_fd = signals();

    if (argc < 3 || strcmp(argv[1], "--configdir") != 0)
        die("usage: monkey-asking --configdir DIR");
    all.dir = argv[2];
    start();
    serve(signal_fd);
    mk_server_stop(all.server, GRACE_MS);
    (void)!mk_server_wait(all.server, -1);
    wait_for_threads();
    mk_server_free(all.server);
    (void)close(signal_fd);
    return 0;
}
