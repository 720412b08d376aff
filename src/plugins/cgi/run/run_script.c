/* SPDX-License-Identifier: Apache-2.0 */
#include "run/order.h"
#include "run/run_int.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The script of a run: its descriptors, its line to the spawner, its bytes. */

/* ---- what it complains of ---- */

static void log_line(void *arg, const char *text)
{
    const struct run *run = arg;

    if (run->r)
        mk_request_log(run->r, MK_LOG_WARN, "cgi script=\"%s\" stderr=\"%s\"", run->label, text);
    else
        mk_server_log(mk_worker_server(run->worker), MK_LOG_WARN, "cgi script=\"%s\" stderr=\"%s\"",
                      run->label, text);
}

/* @return > 0: bytes were read; 0: none are there now; MK_E_EOF: nor will be. */
static int read_errors(struct run *run)
{
    char bytes[4096];
    ssize_t n = read(mk_io_fd(run->errors), bytes, sizeof(bytes));

    if (n > 0)
        gateway_complaint_add(&run->complaint, bytes, (size_t)n, log_line, run);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return n > 0 ? 1 : MK_E_EOF;
}

static void close_errors(struct run *run)
{
    gateway_complaint_end(&run->complaint, log_line, run);
    mk_io_close(run->errors);
    run->errors = NULL;
}

static void on_errors(struct mk_io *io, unsigned events, void *arg)
{
    struct run *run = arg;

    (void)io;
    (void)events;
    if (read_errors(run) == MK_E_EOF) /* what is left comes in the next turn */
        close_errors(run);
}

void cgi_run_hear_last_errors(struct run *run)
{
    for (int i = 0; run->errors && i < RUN_LAST_ERRORS; i++) {
        if (read_errors(run) <= 0)
            break;
    }
    if (run->errors)
        close_errors(run);
}

/* ---- its input ---- */

static void close_input(struct run *run)
{
    mk_io_close(run->input);
    run->input = NULL;
}

/* The client sends nonsense or too much, or has left. */
static void break_input(struct run *run, ssize_t err)
{
    close_input(run);
    cgi_run_spoil(run);
    gateway_answer_fail(&run->answer, err == MK_E_BAD ? 400 : err == MK_E_LIMIT ? 413 : 500, NULL);
    cgi_run_end_script(run);
}

/* @return whether there is something to write. */
static bool refill(struct run *run)
{
    ssize_t n;

    if (run->piece_len > 0)
        return true;
    n = intake_read(&run->body, run->r, run->piece, RUN_PIECE);
    if (n > 0) {
        run->is_starved = false;
        run->has_fed = true;
        run->piece_at = 0;
        run->piece_len = (size_t)n;
        return true;
    }
    if (n == 0)
        close_input(run);
    else if (n != MK_E_AGAIN)
        break_input(run, n);
    run->is_starved = n == MK_E_AGAIN;
    return false;
}

void cgi_run_feed(struct run *run)
{
    size_t done = 0;

    while (run->input && done < RUN_TURN && refill(run)) {
        ssize_t n = write(mk_io_fd(run->input), run->piece + run->piece_at, run->piece_len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) { /* it does not want the rest */
            close_input(run);
            return;
        }
        run->piece_at += (size_t)n;
        run->piece_len -= (size_t)n;
        run->moved_ms = mk_worker_now_ms(run->worker);
        done += (size_t)n;
    }
    if (run->input && done >= RUN_TURN && mk_io_want(run->input, MK_IO_WRITE | MK_IO_EDGE) < 0)
        break_input(run, MK_E_NOMEM);
}

static void on_input(struct mk_io *io, unsigned events, void *arg)
{
    struct run *run = arg;

    (void)io;
    if (events & MK_IO_ERROR)
        close_input(run); /* nobody reads it any more */
    else
        cgi_run_feed(run);
}

/* ---- its output ---- */

static void turn_out(struct run *run, enum out_state to)
{
    if (run->out != to)
        run_turn(run, &cgi_out_states, &run->out, to);
}

void cgi_run_end_output(struct run *run)
{
    mk_io_close(run->output);
    run->output = NULL;
    if (run->out < OUT_ENDED)
        turn_out(run, OUT_ENDED);
}

/*
 * The end of the output alone does not tell whether that was all: of a script that was killed it was not. Its end comes by
 * the line at about the same time; one that lives on has closed its output on purpose.
 */
static ssize_t last_word(struct run *run)
{
    if (run->fails_with) {
        gateway_answer_fail(&run->answer, run->fails_with, NULL);
        return MK_E_PEER;
    }
    if (run->fate == FATE_SPOILT || run->fate == FATE_LOST)
        return MK_E_PEER;
    if (run->fate == FATE_ENDED || run->out == OUT_SILENT || run->state != RUN_GOES)
        return 0;
    mk_alarm_set(run->alarm, RUN_LAST_WORD_MS);
    return MK_E_AGAIN;
}

ssize_t cgi_run_output(void *arg, char *dst, size_t len)
{
    struct run *run = arg;
    ssize_t n = 0;

    cgi_run_feed(run); /* whoever asks may have heard of more of the body */
    if (run->output) {
        do {
            n = read(mk_io_fd(run->output), dst, len);
        } while (n < 0 && errno == EINTR);
        turn_out(run, n < 0 && errno == EAGAIN ? OUT_AWAITED : OUT_TAKEN);
        if (n > 0)
            run->moved_ms = mk_worker_now_ms(run->worker);
        if (n > 0 || run->out == OUT_AWAITED)
            return n > 0 ? n : MK_E_AGAIN;
        cgi_run_end_output(run);
    }
    return last_word(run);
}

/* It gave something, or ended: until the client has room for that, nothing is owed. */
static void on_output(struct mk_io *io, unsigned events, void *arg)
{
    struct run *run = arg;

    (void)io;
    (void)events;
    turn_out(run, OUT_TAKEN);
    run->moved_ms = mk_worker_now_ms(run->worker);
    cgi_run_advance(run);
}

bool cgi_run_is_our_turn(const struct run *run)
{
    struct pollfd ends[] = {{.fd = run->output ? mk_io_fd(run->output) : -1, .events = POLLIN},
                            {.fd = run->input ? mk_io_fd(run->input) : -1, .events = POLLOUT}};

    return poll(ends, 2, 0) > 0;
}

/* ---- its line ---- */

void cgi_run_spoil(struct run *run)
{
    if (run->fate == FATE_LIVES || run->fate == FATE_ENDED)
        run_turn(run, &cgi_fate_states, &run->fate,
                 run->fate == FATE_LIVES ? FATE_SPOILT : FATE_LOST);
}

void cgi_run_note_end(struct run *run, bool is_lost)
{
    run_turn(run, &cgi_fate_states, &run->fate,
             is_lost || run->fate == FATE_SPOILT ? FATE_LOST : FATE_ENDED);
    upload_leave(&run->upload);
    (void)cgi_pool_leave(&run->place); /* it is held: nobody is to be told */
}

static void close_line(struct run *run)
{
    mk_io_close(run->line);
    run->line = NULL;
    run_go(run, RUN_OVER);
}

static const char *why_not(int error)
{
    switch (error) {
    case EACCES:
        return "the user of scripts may not execute it";
    case ENOENT:
        return "its interpreter does not exist";
    case ENOEXEC:
        return "it is not a program and has no line #!";
    default:
        return mk_error_text(mk_error_from_errno(error));
    }
}

static unsigned status_of(int error)
{
    if (error == EACCES)
        return 403;
    return error == EAGAIN || error == EMFILE ? 503 : 502;
}

static void log_failure(const struct run *run, int error)
{
    if (run->r)
        mk_request_log(run->r, MK_LOG_ERROR, "cgi script=\"%s\" cannot be run why=\"%s\" errno=%d",
                       run->label, why_not(error), error);
}

static void hear(struct run *run, const struct palm_report *report)
{
    if (run_has_ended(run))
        return;
    switch (report->kind) {
    case PALM_FAILED:
        run->fails_with = status_of(report->value);
        log_failure(run, report->value);
        cgi_run_note_end(run, true);
        break;
    case PALM_KILLED:
        if (run->r && run->state == RUN_GOES)
            mk_request_log(run->r, MK_LOG_WARN, "cgi script=\"%s\" was killed signal=%d",
                           run->label, (int)report->value);
        cgi_run_note_end(run, true);
        break;
    default:
        if (run->r && report->value != 0)
            mk_request_log(run->r, MK_LOG_INFO, "cgi script=\"%s\" ended code=%d", run->label,
                           (int)report->value);
        cgi_run_note_end(run, false);
    }
}

/* The line is closed: the group is gone, or the spawner is. */
static void on_hangup(struct run *run)
{
    close_line(run);
    if (run_has_ended(run))
        return;
    if (run->r)
        mk_request_log(run->r, MK_LOG_ERROR, "cgi script=\"%s\" was lost with its spawner",
                       run->label);
    run->fails_with = 502;
    cgi_run_note_end(run, true);
    cgi_run_end_output(
        run); /* what is left of its group may hold it open, and nobody can end that */
    cgi_spawner_look(run->spawner, run->worker);
}

static void try_later(struct run *run);

/* The kernel tells a line that was closed with the order unread: nothing was started, and it may be ordered again. */
static bool is_unheard(const struct run *run, int error)
{
    return error == ECONNRESET && run->r && run->state == RUN_GOES && !run_has_ended(run) &&
           !run->has_fed && run->out != OUT_SILENT;
}

static void order_again(struct run *run)
{
    turn_out(run, OUT_TAKEN);
    try_later(run);
}

static void on_line(struct mk_io *io, unsigned events, void *arg)
{
    struct run *run = arg;
    struct palm_report report;
    ssize_t n;

    (void)events;
    while ((n = recv(mk_io_fd(io), &report, sizeof(report), MSG_DONTWAIT)) == sizeof(report))
        hear(run, &report);
    if (n < 0 && is_unheard(run, errno))
        order_again(run);
    else if (n >= 0 || (errno != EAGAIN && errno != EINTR))
        on_hangup(run);
    cgi_run_advance(run);
}

void cgi_run_end_script(struct run *run)
{
    if (run->state != RUN_GOES || !run->line)
        return;
    run_go(run, RUN_ENDS);
    (void)shutdown(mk_io_fd(run->line), SHUT_WR);
    mk_alarm_set(run->alarm, RUN_END_MS);
}

/* ---- its start ---- */

/* The ends that the script gets. */
struct ends {
    int line, files[3];
};

static void close_ends(struct ends *ends, int null_fd)
{
    if (ends->line >= 0)
        (void)close(ends->line);
    for (int i = 0; i < 3; i++) {
        if (ends->files[i] >= 0 && ends->files[i] != null_fd)
            (void)close(ends->files[i]);
    }
}

/* A pipe with its end theirs for the script, and ours watched. @return 0 or an error. */
static int open_pipe(struct run *run, int *theirs, bool we_read, struct mk_io **ours, mk_io_fn fn,
                     unsigned events)
{
    int fds[2], own, err;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return mk_error_from_errno(errno);
    *theirs = fds[we_read ? 1 : 0];
    own = fds[we_read ? 0 : 1];
    err = fcntl(own, F_SETFL, O_NONBLOCK) < 0 ? MK_E_SYS
                                              : mk_io_open(ours, run->worker, own, events, fn, run);
    if (err < 0)
        (void)close(own);
    return err;
}

static int open_line(struct run *run, int *theirs)
{
    int fds[2], err;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
        return mk_error_from_errno(errno);
    *theirs = fds[1];
    err = mk_io_open(&run->line, run->worker, fds[0], MK_IO_READ, on_line, run);
    if (err < 0)
        (void)close(fds[0]);
    return err;
}

static int open_ends(struct run *run, struct ends *ends)
{
    int err = open_line(run, &ends->line);

    ends->files[0] = cgi_yard_null(run->yard);
    if (err == 0 && !run->body.ended) {
        if (!run->piece)
            run->piece = mk_request_alloc(run->r, RUN_PIECE);
        err = run->piece ? open_pipe(run, &ends->files[0], false, &run->input, on_input,
                                     MK_IO_WRITE | MK_IO_EDGE)
                         : MK_E_NOMEM;
    }
    if (err == 0)
        err =
            open_pipe(run, &ends->files[1], true, &run->output, on_output, MK_IO_READ | MK_IO_EDGE);
    if (err == 0)
        err = open_pipe(run, &ends->files[2], true, &run->errors, on_errors, MK_IO_READ);
    return err;
}

static int send_order(const struct run *run, const struct ends *ends)
{
    struct iovec piece = {run->order, run->order_len};
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(ends->files))] = {0};
    struct msghdr msg = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
    struct cmsghdr *part = CMSG_FIRSTHDR(&msg);

    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(ends->files));
    memcpy(CMSG_DATA(part), ends->files, sizeof(ends->files));
    return sendmsg(mk_io_fd(run->line), &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0
               ? mk_error_from_errno(errno)
               : 0;
}

/* Once for all tries: the request's memory has a bound. */
static int write_order(struct run *run)
{
    ssize_t len;

    if (run->order)
        return 0;
    len = cgi_order_write(&run->order, run->r, run->site, run->route, &run->script,
                          run->body.announced, run->body.length);
    run->order_len = len < 0 ? 0 : (size_t)len;
    return len < 0 ? (int)len : 0;
}

static void drop_order(struct run *run)
{
    free(run->order);
    run->order = NULL;
}

static int prepare(struct run *run, struct ends *ends)
{
    int err = write_order(run);

    if (err == 0)
        err = open_ends(run, ends);
    if (err == 0)
        err = send_order(run, ends);
    return err;
}

static void close_ours(struct run *run)
{
    struct mk_io **const all[] = {&run->line, &run->input, &run->output, &run->errors};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        mk_io_close(*all[i]);
        *all[i] = NULL;
    }
}

static void give_up(struct run *run, unsigned status, const char *lines, const char *why)
{
    mk_request_log(run->r, MK_LOG_ERROR, "cgi script=\"%s\" cannot be run why=\"%s\"", run->label,
                   why);
    close_ours(run);
    drop_order(run);
    run_go(run, RUN_OVER);
    cgi_run_note_end(run, true);
    gateway_answer_fail(&run->answer, status, lines);
}

/* The spawner may be on its way back. Time counts, not tries: alarms are coarse, and late on a busy machine. */
static void try_later(struct run *run)
{
    int64_t now = mk_worker_now_ms(run->worker);

    close_ours(run);
    if (run->start_by_ms == 0)
        run->start_by_ms = now + RUN_START_MS;
    run_go(run, RUN_STARTS);
    if (now >= run->start_by_ms)
        give_up(run, 503, "Retry-After: 5\r\n", "monkey-palm does not answer, or does not run");
    else
        mk_alarm_set(run->alarm, RUN_RETRY_MS);
}

void cgi_run_start(struct run *run)
{
    struct ends ends = {-1, {-1, -1, -1}};
    int err = prepare(run, &ends), sent = 0;

    if (err == 0)
        sent = cgi_spawner_send(run->spawner, run->worker, ends.line);
    close_ends(&ends, cgi_yard_null(run->yard));
    if (err == MK_E_LIMIT) {
        give_up(run, 431, NULL, "the request's head is too large for an environment");
    } else if (err < 0) {
        give_up(run, 503, "Retry-After: 1\r\n", mk_error_text(err));
    } else if (sent < 0) {
        try_later(run);
    } else {
        drop_order(run);
        run_go(run, RUN_GOES);
        turn_out(run, OUT_AWAITED);
        run->moved_ms = mk_worker_now_ms(run->worker);
        mk_alarm_set(run->alarm, run->timeout_ms);
        cgi_run_feed(run);
    }
}
