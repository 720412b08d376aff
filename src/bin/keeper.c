/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper.h"

#include "binding.h"
#include "configure.h"
#include "error_log.h"
#include "report.h"
#include "signals.h"
#include "systemd.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ANSWER_S =
        20, /* how long the server waits for an answer. A keeper that is alive takes milliseconds */
    UNFORKED = 1 << 8, /* as the status of a server that exited with 1 */
    LAST_WORDS = 4096, /* requests that a dead server left: more than a socket has room for */
};

/* ---- configurations ---- */

/* Only the names. */
static void allow(struct mk_allowed *allowed, const struct mk_config *config)
{
    mk_allowed_fini(allowed);
    mk_config_resources(config, mk_keeper_desk_allow, allowed);
    if (allowed->incomplete)
        mk_report("keeper: the configuration names too many files; some cannot be opened after the "
                  "start");
}

static void free_config(struct mk_config **config)
{
    if (!*config)
        return;
    mk_config_free(*config);
    *config = NULL;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

static const char *error_log_of(const struct mk_keeper *k)
{
    struct mk_config_facts facts = {.size = sizeof(facts)};

    return mk_config_facts(k->config, &facts) < 0 ? NULL : facts.error_log;
}

/* The server finds the same faults and shows them, so here they only count. */
static int reload(void *arg, struct mk_allowed *allowed)
{
    struct mk_keeper *k = arg;
    struct mk_config *config;
    int err;

    k->owes_reload = false;
    mk_systemd_reloading();
    free_config(&k->coming);
    err = mk_configure(k->options, k->host, k->config, &config);
    if (err < 0)
        return err;
    if (err == 0) {
        allow(allowed, config);
        k->coming = config;
        return 0;
    }
    free_config(&config);
    return MK_E_INVALID;
}

static void drop_coming(struct mk_keeper *k)
{
    if (!k->coming)
        return;
    free_config(&k->coming);
    allow(&k->desk.allowed, k->config);
}

static void take_coming(struct mk_keeper *k)
{
    if (!k->coming)
        return;
    free_config(&k->config);
    k->config = k->coming;
    k->coming = NULL;
}

/* ---- what the server says ---- */

static void ready(void *arg, const char *failed)
{
    struct mk_keeper *k = arg;

    if (failed[0]) {
        drop_coming(k);
        mk_systemd_status("reload failed: ", failed);
    } else {
        take_coming(k);
        mk_systemd_status(k->is_new ? "started again after " : "", k->is_new ? k->reason : "");
    }
    k->is_new = false;
    k->has_served = true;
    k->on_ready(k->arg);
}

/* Clients that come from now on are refused, and not left waiting for nobody. */
static void stops(void *arg)
{
    struct mk_keeper *k = arg;

    if (!k->stopping)
        k->on_stop(k->arg);
    k->stopping = true;
    mk_kept_close(&k->desk.kept);
}

/* ---- signals ---- */

/* Ending gets firmer each time: with grace, at once, by force. */
static int stop_signal(struct mk_keeper *k)
{
    static const int firmer[] = {SIGTERM, MK_SIGNAL_END_NOW, SIGKILL};
    int number = firmer[k->stops];

    if (k->stops == 0)
        mk_systemd_notify("STOPPING=1");
    stops(k);
    if (k->stops < 2)
        k->stops++;
    return number;
}

static bool is_stop(int number)
{
    return number == SIGTERM || number == SIGINT || number == SIGQUIT;
}

static void on_signal(struct mk_keeper *k, int number)
{
    if (number == SIGCHLD)
        return;
    if (is_stop(number))
        number = stop_signal(k);
    if (number == SIGHUP)
        k->owes_reload = true;
    (void)kill(k->server, number);
}

/* ---- a server's life ---- */

/* Has the server ended? Other children are orphans that a first process of a container inherits. */
static bool has_ended(const struct mk_keeper *k, int *status)
{
    pid_t pid;

    while ((pid = waitpid(-1, status, WNOHANG)) > 0) {
        if (pid == k->server)
            return true;
    }
    return false;
}

/*
 * What the server said before it ended, such as that it is ready. All of it, since the kernel would close what came along with the rest;
 * and none that a child of the server adds.
 */
static void hear_last_words(struct mk_keeper *k)
{
    (void)shutdown(k->desk.sock, SHUT_RD);
    for (int i = 0; i < LAST_WORDS && mk_keeper_desk_answer(&k->desk); i++)
        ;
    close(k->desk.sock);
    k->desk.sock = -1;
}

/* @return how it ended: a status of waitpid. */
static int watch(struct mk_keeper *k)
{
    struct pollfd watched[] = {{.fd = k->signals, .events = POLLIN},
                               {.fd = k->desk.sock, .events = POLLIN}};
    int status, number;

    while (!has_ended(k, &status)) {
        if (poll(watched, 2, -1) < 0)
            continue;
        while ((number = mk_signals_next(k->signals, NULL)) > 0)
            on_signal(k, number);
        if (watched[1].revents && !mk_keeper_desk_answer(&k->desk))
            watched[1].fd = -1; /* what is left is to wait for its end */
    }
    hear_last_words(k);
    return status;
}

/* In the child: what is the keeper's goes. */
static __attribute__((noreturn)) void be_server(struct mk_keeper *k, int sock)
{
    sigset_t children;

    close(k->signals);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_UNBLOCK, &children, NULL);
    (void)prctl(PR_SET_NAME, "monkey");
    mk_crash_note_watch(k->note);
    exit(k->serve(k->arg, sock));
}

/* @return 0, or -1 after a report. */
static int start(struct mk_keeper *k)
{
    const struct timeval patience = {.tv_sec = ANSWER_S};
    int ends[2];

    mk_crash_note_clear(k->note);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        goto failed;
    (void)setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    k->server = fork();
    if (k->server == 0) {
        close(ends[0]);
        be_server(k, ends[1]);
    }
    close(ends[1]);
    k->desk.sock = ends[0];
    if (k->server > 0)
        return 0;
    close(ends[0]);

failed:
    mk_report("cannot fork: %s", mk_errno_text());
    return -1;
}

/* ---- a server's death ---- */

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A server that could not start has said why, and one that stops has not died. */
static bool has_died(const struct mk_keeper *k, int status)
{
    return WIFSIGNALED(status) || (WEXITSTATUS(status) != 0 && k->has_served && !k->stopping);
}

/* In the error log, and where the keeper's own lines go. */
static void tell_death(struct mk_keeper *k, const char *what_next)
{
    const char *log = error_log_of(k);
    char line[MK_KEEPER_REASON + 256];

    (void)snprintf(line, sizeof(line), "server died: %s pid=%d next=\"%s\"", k->reason,
                   (int)k->server, what_next);
    mk_error_log(log, line);
    if ((log && log[0] == '/') || k->options->daemon) /* its stderr is nobody's */
        mk_report("%s", line);
}

static void find_reason(struct mk_keeper *k, int status)
{
    char doing[MK_CRASH_TEXT];

    if (WIFSIGNALED(status)) {
        mk_crash_note_read(k->note, doing);
        (void)snprintf(k->reason, sizeof(k->reason), "signal %d (%.64s)%.400s", WTERMSIG(status),
                       strsignal(WTERMSIG(status)), doing);
    } else {
        (void)snprintf(k->reason, sizeof(k->reason), "exit code %d", WEXITSTATUS(status));
    }
}

/* @return why none is to start; NULL: one is, after delay_ms. */
static const char *find_end(struct mk_keeper *k, int *delay_ms)
{
    if (k->stopping)
        return "none: it was stopping";
    if (!k->restarts)
        return "none: Restart is off";
    if (!k->has_served)
        return "none: it had not served yet";
    *delay_ms = mk_restarts_delay(&k->deaths, now_ms());
    return *delay_ms < 0 ? "none: 11 deaths in a minute" : NULL;
}

/* @return milliseconds until another server is to start; -1: none is. */
static int judge(struct mk_keeper *k, int status)
{
    char wait[32];
    int delay_ms = -1;
    const char *next;

    if (!has_died(k, status))
        return -1;
    find_reason(k, status);
    next = find_end(k, &delay_ms);
    if (!next) {
        (void)snprintf(wait, sizeof(wait), "in %d ms", delay_ms);
        next = delay_ms > 0 ? wait : "at once";
    }
    tell_death(k, next);
    return delay_ms;
}

/* Nobody serves: what a reload finds is told here, and the next server begins with it. */
static void reload_alone(struct mk_keeper *k)
{
    struct mk_config *config = NULL;
    int err = mk_configure(k->options, k->host, k->config, &config);

    k->owes_reload = false;
    if (err == 0) {
        k->coming = config;
        take_coming(k);
        allow(&k->desk.allowed, k->config);
        return;
    }
    if (config)
        mk_config_faults(config, mk_report_text, NULL);
    mk_report("reload: the configuration cannot be used; the old configuration stays in force");
    free_config(&config);
}

/* @return false: a signal says that no other server is to start. */
static bool wait_for_turn(struct mk_keeper *k, int delay_ms)
{
    struct pollfd signals = {.fd = k->signals, .events = POLLIN};
    int64_t until_ms = now_ms() + delay_ms, left_ms = delay_ms;
    int number;

    if (k->owes_reload) /* it died before it took the signal */
        reload_alone(k);
    do {
        if (left_ms > 0)
            (void)poll(&signals, 1, (int)left_ms);
        while ((number = mk_signals_next(k->signals, NULL)) > 0) {
            if (is_stop(number)) {
                stops(k);
                return false;
            }
            if (number == SIGHUP)
                reload_alone(k);
        }
        left_ms = until_ms - now_ms();
    } while (left_ms > 0);
    return true;
}

/* @return the exit code. */
static int keep(struct mk_keeper *k)
{
    for (;;) {
        int status = start(k) == 0 ? watch(k) : UNFORKED, delay_ms;

        drop_coming(k);
        if (!k->has_served && k->desk.kept.count > 0) { /* it did, and had no time to say so */
            mk_kept_settle(&k->desk.kept);
            k->has_served = true;
        }
        mk_kept_forget(&k->desk.kept);
        delay_ms = judge(k, status);
        if (delay_ms < 0)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (!wait_for_turn(k, delay_ms))
            return 0;
        k->restarted++;
        k->is_new = true;
    }
}

int mk_keeper_run(struct mk_keeper *k)
{
    struct mk_config_facts facts = {.size = sizeof(facts)};
    char *user = NULL;
    int code = 1;

    k->note = mk_crash_note_new();
    k->signals = mk_signals_open(true);
    if (mk_config_facts(k->config, &facts) == 0 && facts.user)
        user = strdup(facts.user);
    k->desk = (struct mk_keeper_desk){.sock = -1,
                                      .arg = k,
                                      .reload = reload,
                                      .ready = ready,
                                      .stops = stops,
                                      .kept = {.closed = !k->restarts},
                                      .uid = k->identity ? k->identity->uid : (uid_t)-1,
                                      .gid = k->identity ? k->identity->gid : (gid_t)-1,
                                      .user = user ? user : "nobody"};
    allow(&k->desk.allowed, k->config);
    (void)prctl(PR_SET_NAME, "monkey-keeper");
    if (k->signals < 0)
        mk_report("cannot wait for signals: %s", mk_errno_text());
    else
        code = keep(k);
    stops(k);
    mk_allowed_each(&k->desk.allowed, MK_RESOURCE_LISTEN, mk_binding_remove_stale);
    mk_allowed_each(&k->desk.allowed, MK_RESOURCE_SOCKET, mk_binding_remove_stale_socket);
    mk_allowed_fini(&k->desk.allowed);
    free_config(&k->config);
    close(k->signals);
    free(user);
    return code;
}
