/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper.h"

#include "binding.h"
#include "configure.h"
#include "keeper_desk.h"
#include "report.h"
#include "signals.h"
#include "systemd.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long the server waits for an answer. A keeper that is alive takes milliseconds. */
enum { ANSWER_S = 20 };

pid_t mk_keeper_fork(struct mk_keeper *keeper, struct mk_keeper_client *client)
{
    const struct timeval patience = {.tv_sec = ANSWER_S};
    int ends[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    (void)setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    pid = fork();
    if (pid < 0) {
        int err = errno;

        close(ends[0]);
        close(ends[1]);
        errno = err;
        return -1;
    }
    close(ends[pid == 0 ? 0 : 1]);
    if (pid == 0)
        client->sock = ends[1];
    else
        *keeper = (struct mk_keeper){.options = keeper->options,
                                     .identity = keeper->identity,
                                     .server = pid,
                                     .sock = ends[0]};
    return pid;
}

/* Only the names stay in memory. */
static void allow(struct mk_allowed *allowed, struct mk_config *config)
{
    mk_allowed_fini(allowed);
    mk_config_resources(config, mk_keeper_desk_allow, allowed);
    if (allowed->incomplete)
        mk_report("keeper: the configuration names too many files; some cannot be opened after the "
                  "start");
}

static void free_config(struct mk_config *config)
{
    mk_config_free(config);
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/* The server finds the same faults and shows them, so here they only count. */
static int reload(void *arg, struct mk_allowed *allowed)
{
    const struct mk_keeper *keeper = arg;
    struct mk_config *config;
    int err;

    mk_systemd_reloading();
    err = mk_configure(keeper->options, NULL, NULL, &config);
    if (err < 0)
        return err;
    if (err == 0)
        allow(allowed, config);
    free_config(config);
    return err > 0 ? MK_E_INVALID : 0;
}

static void ready(void *arg)
{
    const struct mk_keeper *keeper = arg;

    keeper->on_ready(keeper->arg);
}

/* Ending gets firmer each time: with grace, at once, by force. */
static int stop_signal(struct mk_keeper *keeper)
{
    static const int firmer[] = {SIGTERM, MK_SIGNAL_END_NOW, SIGKILL};
    int number = firmer[keeper->stops];

    if (keeper->stops == 0)
        mk_systemd_notify("STOPPING=1");
    if (keeper->stops < 2)
        keeper->stops++;
    return number;
}

static void on_signal(struct mk_keeper *keeper, int number)
{
    if (number == SIGCHLD)
        return;
    if (number == SIGTERM || number == SIGINT || number == SIGQUIT)
        number = stop_signal(keeper);
    (void)kill(keeper->server, number);
}

static int exit_code(int status)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    mk_report("signal %d (%s) killed the server", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return 128 + WTERMSIG(status);
}

/* Has the server ended? Other children are orphans that a first process of a container inherits. */
static bool has_ended(const struct mk_keeper *keeper, int *code)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == keeper->server) {
            *code = exit_code(status);
            return true;
        }
    }
    return false;
}

static int serve(struct mk_keeper *keeper, struct mk_keeper_desk *desk, int signals)
{
    struct pollfd watched[] = {{.fd = signals, .events = POLLIN},
                               {.fd = desk->sock, .events = POLLIN}};
    int code, number;

    while (!has_ended(keeper, &code)) {
        if (poll(watched, 2, -1) < 0)
            continue;
        while ((number = mk_signals_next(signals, NULL)) > 0)
            on_signal(keeper, number);
        if (watched[1].revents && !mk_keeper_desk_answer(desk))
            watched[1].fd = -1; /* what is left is to wait for its end */
    }
    return code;
}

int mk_keeper_run(struct mk_keeper *keeper, struct mk_config *config)
{
    struct mk_config_facts facts = {.size = sizeof(facts)};
    char *user = NULL;
    struct mk_keeper_desk desk = {.sock = keeper->sock,
                                  .arg = keeper,
                                  .reload = reload,
                                  .ready = ready,
                                  .uid = keeper->identity->uid,
                                  .gid = keeper->identity->gid};
    int signals = mk_signals_open(true), code;

    (void)prctl(PR_SET_NAME, "monkey-keeper");
    allow(&desk.allowed, config);
    if (mk_config_facts(config, &facts) == 0 && facts.user)
        user = strdup(facts.user);
    desk.user = user ? user : "nobody"; /* without memory: at least nobody with rights */
    free_config(config);
    if (signals < 0) {
        mk_report("cannot wait for signals: %s", mk_errno_text());
        close(desk.sock); /* the server takes that as the end */
        free(user);
        return 1;
    }
    code = serve(keeper, &desk, signals);
    mk_allowed_each(&desk.allowed, MK_RESOURCE_LISTEN, mk_binding_remove_stale);
    mk_allowed_each(&desk.allowed, MK_RESOURCE_SOCKET, mk_binding_remove_stale_socket);
    mk_allowed_fini(&desk.allowed);
    close(desk.sock);
    close(signals);
    free(user);
    return code;
}
