/* SPDX-License-Identifier: Apache-2.0 */
#include "service.h"

#include "configure.h"
#include "report.h"
#include "signals.h"
#include "systemd.h"

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of the linker: where the executable begins, and where src/layout.ld, if it was linked so, has laid its code for the start. */
extern const char program_begin[] __asm__("__ehdr_start"), mk_start_code_end[]
    __attribute__((weak));

/* How long after its grace a server that lost its keeper may still be there. */
enum { UNATTENDED_S = 10 };

enum { PAGE = 4096, WHY = 256 /* of a sentence */ };

/* Of a stack, below the frame that waits: deeper than anything at the start, and less than the gap that the kernel keeps free. */
enum { DEEPEST = 128 << 10, NEAR = PAGE };

static void stop(struct mk_service *s, unsigned grace_ms, const char *why)
{
    if (!s->stopping) {
        mk_systemd_notify("STOPPING=1");
        mk_keeper_stops(s->keeper);
    }
    s->stopping = true;
    mk_server_stop_because(s->server, grace_ms, why);
}

/*
 * A second signal ends at once. Below a keeper the same ^C or systemctl stop may reach both of
 * us, so there only the keeper counts, and it has a signal of its own for the second time.
 */
static void on_stop(struct mk_service *s, const char *why)
{
    if (!s->stopping)
        stop(s, s->grace_ms, why);
    else if (s->keeper->sock < 0)
        stop(s, 0, why);
}

static unsigned grace_of(const struct mk_config *config, unsigned before)
{
    struct mk_config_facts facts = {.size = sizeof(facts)};

    return mk_config_facts(config, &facts) < 0 ? before : facts.graceful_ms;
}

/* The error log has it already: where that is the terminal, twice would be too much. */
static bool is_log_elsewhere(const struct mk_service *s)
{
    struct mk_config_facts facts = {.size = sizeof(facts)};

    return mk_config_facts(mk_server_config(s->server), &facts) == 0 && facts.error_log &&
           strcmp(facts.error_log, "stderr") != 0;
}

/* Of several faults the first, and its first line, which has its place. */
static void take_first_line(void *arg, const char *text, size_t len)
{
    char *why = arg;
    const char *end = memchr(text, '\n', len);

    if (end)
        len = (size_t)(end - text);
    if (!why[0])
        (void)snprintf(why, WHY, "%.*s", (int)len, text);
}

/*
 * @param why  out: the reason of a failure
 * @return 0, a number of faults, or an enum mk_error; config is taken only in the first case.
 */
static int change_to(struct mk_service *s, struct mk_config *config, char why[WHY])
{
    unsigned grace_ms = grace_of(config, s->grace_ms);
    bool is_elsewhere = is_log_elsewhere(s);
    int err = mk_server_reload(s->server, config);

    if (err == 0) {
        s->grace_ms = grace_ms;
        return 0;
    }
    if (err < 0)
        (void)snprintf(why, WHY, "%s", mk_server_why(s->server));
    else
        mk_config_faults(config, take_first_line, why);
    if (is_elsewhere && err < 0)
        mk_report("reload: %s", why);
    else if (is_elsewhere)
        mk_config_faults(config, mk_report_text, NULL);
    mk_config_free(config);
    return err;
}

static void reload(struct mk_service *s)
{
    struct mk_config *config = NULL;
    char why[WHY] = "";
    int err;

    mk_systemd_reloading();
    err = mk_keeper_reload(s->keeper);
    if (err < 0 && err != MK_E_INVALID) /* MK_E_INVALID: faults, which we are about to find too */
        mk_report("reload: the keeper cannot read the configuration: %s", mk_error_text(err));
    err = mk_configure(s->options, s->host, mk_server_config(s->server), &config);
    if (config) {
        err = change_to(s, config, why);
    } else {
        (void)snprintf(why, sizeof(why), "%s", mk_error_text(err));
        mk_server_reload_failed(s->server, why);
    }
    if (err != 0 && is_log_elsewhere(s))
        mk_report("reload: %s; the old configuration stays in force",
                  err > 0 ? "the configuration has errors" : mk_error_text(err));
    if (err != 0)
        mk_systemd_status("reload failed: ", why);
    else
        mk_systemd_status("", ""); /* over what a failed one left there */
    mk_systemd_notify("READY=1");
    if (err == 0)
        mk_keeper_keep(s->keeper, s->server);
    mk_keeper_ready(s->keeper, err != 0 && !why[0] ? "its reason is in the error log" : why);
}

static void reopen(struct mk_service *s)
{
    int err = mk_server_reopen_logs(s->server);

    if (err < 0)
        mk_report("a log cannot be reopened: %s", mk_error_text(err));
}

static void on_signal(struct mk_service *s, int number, unsigned sender)
{
    char why[64];

    (void)snprintf(why, sizeof(why), "signal %s from process %u",
                   number == SIGTERM  ? "TERM"
                   : number == SIGINT ? "INT"
                                      : "QUIT",
                   sender);
    switch (number) {
    case SIGTERM:
    case SIGINT:
    case SIGQUIT:
        on_stop(s, why);
        break;
    case MK_SIGNAL_END_NOW:
        stop(s, 0, "the keeper got another signal");
        break;
    case SIGHUP:
        if (!s->stopping)
            reload(s);
        break;
    case SIGUSR1:
        reopen(s);
        break;
    }
}

/* Nobody is left who would end by force what does not end, but the kernel. */
static void on_keeper_gone(struct mk_service *s)
{
    mk_report("the keeper exited; the server stops");
    (void)alarm(s->grace_ms / 1000 + UNATTENDED_S);
    on_stop(s, "the keeper exited");
}

/* As the library does with its own: what is left to do is to wait. */
static void give_back_code(void)
{
    void *begin = (void *)(uintptr_t)program_begin;
    size_t len = (size_t)(mk_start_code_end - program_begin) & ~(size_t)(PAGE - 1);

    if (!mk_start_code_end)
        return;
    (void)madvise(begin, len, MADV_DONTDUMP);
    (void)madvise(begin, len, MADV_DONTNEED);
}

/* What starting and reloading left on the stack, below what waiting itself takes. */
static void give_back_stack(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    uintptr_t here = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)(PAGE - 1);

    (void)madvise((void *)(here - DEEPEST), DEEPEST - NEAR, MADV_DONTNEED);
#endif
}

__attribute__((noinline, hot)) static void wait_for_end(struct mk_service *s)
{
    struct pollfd watched[] = {
        {.fd = s->signals, .events = POLLIN},
        {.fd = mk_server_fd(s->server), .events = POLLIN},
        {.fd = s->keeper->sock}, /* only its end, which needs no asking */
    };
    unsigned sender = 0;
    int number;

    while (!watched[1].revents) {
        give_back_code();
        give_back_stack();
        if (poll(watched, 3, -1) < 0)
            continue;
        while ((number = mk_signals_next(s->signals, &sender)) > 0)
            on_signal(s, number, sender);
        if (watched[2].revents) {
            watched[2].fd = -1;
            on_keeper_gone(s);
        }
    }
}

int mk_service_run(struct mk_service *service)
{
    wait_for_end(service);
    return mk_server_wait(service->server, -1) < 0;
}
