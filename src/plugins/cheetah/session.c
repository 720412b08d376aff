/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"
#include "command.h"
#include "gather.h"
#include "reload.h"

#include <monkey/events.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct session {
    struct session *next, *before;
    struct session_list *list;
    struct mk_worker *worker;
    struct mk_io *in;
    struct mk_io *out; /* watches out_fd, once writing had to wait */
    int out_fd;        /* -1: in is for both */
    struct mk_alarm *step;
    struct gather *gather; /* while a reply waits for the workers */
    int64_t gather_until_ms;
    struct reload reload;
    int64_t reload_until_ms; /* 0: the reply waits for none */
    struct reply reply;      /* what is to be sent, from sent on */
    size_t sent;
    size_t have;
    bool is_skipping; /* the line that comes is longer than its room */
    bool has_ended;   /* no more lines will come */
    bool is_quitting;
    char line[LINE_MAX_BYTES + 1];
};

static void end(struct session *s)
{
    if (s->before)
        s->before->next = s->next;
    else
        s->list->first = s->next;
    if (s->next)
        s->next->before = s->before;
    s->list->count--;
    if (s->gather)
        cheetah_gather_leave(s->gather);
    mk_io_close(s->in);
    if (s->out)
        mk_io_close(s->out);
    else if (s->out_fd >= 0)
        close(s->out_fd);
    mk_alarm_free(s->step);
    cheetah_reply_free(&s->reply);
    free(s);
}

void cheetah_session_end_all(struct session_list *list)
{
    while (list->first)
        end(list->first);
}

/* ---- lines ---- */

/* @return 1: bytes came; 0: none now, or the end; an error otherwise. */
static int fill(struct session *s)
{
    ssize_t n = read(mk_io_fd(s->in), s->line + s->have, sizeof(s->line) - s->have);

    if (n > 0) {
        s->have += (size_t)n;
        if (s->out_fd < 0)
            mk_io_timeout(s->in, SESSION_IDLE_MS);
        return 1;
    }
    s->has_ended = n == 0;
    return n == 0 || errno == EAGAIN || errno == EINTR ? 0 : MK_E_PEER;
}

static void drop_bytes(struct session *s, size_t count)
{
    memmove(s->line, s->line + count, s->have - count);
    s->have -= count;
}

static void wake(void *arg)
{
    struct session *s = arg;

    mk_alarm_soon(s->step);
}

static void begin_gather(struct session *s)
{
    s->gather = cheetah_gather_begin(s->worker, wake, s);
    s->gather_until_ms = mk_worker_now_ms(s->worker) + SESSION_GATHER_MS;
    if (s->gather)
        mk_alarm_set(s->step, SESSION_GATHER_LOOK_MS);
    else
        cheetah_reply_error(&s->reply, s->reply.json, "out of memory");
}

static void begin_reload(struct session *s)
{
    s->reload_until_ms = mk_worker_now_ms(s->worker) + SESSION_RELOAD_MS;
    mk_alarm_set(s->step, SESSION_RELOAD_LOOK_MS);
}

/* Is there a reply that is not complete? */
static bool is_waiting(const struct session *s)
{
    return s->gather || s->reload_until_ms;
}

static void put_prompt(struct session *s)
{
    if (s->out_fd >= 0 && !s->is_quitting && !s->has_ended)
        cheetah_reply_add(&s->reply, "monkey> ");
}

static void run(struct session *s, struct mk_str text)
{
    struct line line;
    enum command_end what;

    cheetah_line_parse(&line, text);
    cheetah_reload_note(&s->reload, s->worker);
    what = cheetah_command_run(s->worker, &line, &s->reply);
    s->is_quitting = what == COMMAND_QUIT;
    if (what == COMMAND_GATHER)
        begin_gather(s);
    if (what == COMMAND_RELOAD)
        begin_reload(s);
    if (!is_waiting(s))
        put_prompt(s);
}

/* The end of a line that was too long. */
static void refuse(struct session *s)
{
    s->is_skipping = false;
    cheetah_reply_error(&s->reply, false, "a line has at most %d bytes", LINE_MAX_BYTES);
    put_prompt(s);
}

/* Carry out the first line that is here whole. @return false: there is none. */
static bool run_line(struct session *s)
{
    char *newline = memchr(s->line, '\n', s->have);
    size_t len = newline ? (size_t)(newline - s->line) : s->have;

    if (!newline && s->have == sizeof(s->line)) {
        s->is_skipping = true;
        s->have = 0;
        return false;
    }
    if (!newline && !(s->has_ended && (s->have > 0 || s->is_skipping)))
        return false;
    if (s->is_skipping)
        refuse(s);
    else
        run(s, (struct mk_str){s->line, len});
    drop_bytes(s, newline ? len + 1 : len);
    return true;
}

/* ---- replies ---- */

static bool has_output(const struct session *s)
{
    return s->sent < s->reply.len;
}

static ssize_t write_some(const struct session *s, const char *p, size_t len)
{
    if (s->out_fd >= 0)
        return write(s->out_fd, p, len);
    return send(mk_io_fd(s->in), p, len, MSG_NOSIGNAL);
}

/* Send what can be sent now. @return 0, or an error: nobody will read. */
static int flush(struct session *s)
{
    while (has_output(s)) {
        ssize_t n = write_some(s, s->reply.p + s->sent, s->reply.len - s->sent);

        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n < 0 && errno != EINTR)
            return MK_E_PEER;
        if (n > 0) {
            s->sent += (size_t)n;
            if (s->out_fd < 0)
                mk_io_timeout(s->in, SESSION_IDLE_MS);
        }
    }
    cheetah_reply_free(&s->reply);
    s->sent = 0;
    return 0;
}

static void on_event(struct mk_io *io, unsigned events, void *arg);

/* Be told when more can be written, or no longer. */
static int want_write(struct session *s, bool wanted)
{
    unsigned events = wanted ? MK_IO_WRITE : 0;

    if (s->out_fd < 0)
        return mk_io_want(s->in, events);
    if (s->out)
        return mk_io_want(s->out, events);
    return wanted ? mk_io_open(&s->out, s->worker, s->out_fd, events, on_event, s) : 0;
}

/* @return whether the reply is complete. */
static bool take_gathered(struct session *s)
{
    bool is_done = cheetah_gather_is_done(s->gather);

    if (!is_done && mk_worker_now_ms(s->worker) < s->gather_until_ms) {
        mk_alarm_set(s->step, SESSION_GATHER_LOOK_MS);
        return false;
    }
    if (is_done) {
        cheetah_gather_tell(s->gather, &s->reply);
        cheetah_reply_end(&s->reply);
    } else {
        cheetah_reply_error(&s->reply, s->reply.json, "a worker did not answer within %d s",
                            SESSION_GATHER_MS / 1000);
    }
    cheetah_gather_leave(s->gather);
    s->gather = NULL;
    put_prompt(s);
    return true;
}

/* @return whether the reply is complete. */
static bool take_reload(struct session *s)
{
    if (!cheetah_reload_has_ended(&s->reload, s->worker) &&
        mk_worker_now_ms(s->worker) < s->reload_until_ms) {
        mk_alarm_set(s->step, SESSION_RELOAD_LOOK_MS);
        return false;
    }
    cheetah_reload_tell(&s->reload, s->worker, &s->reply);
    s->reload_until_ms = 0;
    put_prompt(s);
    return true;
}

/* ---- turns ---- */

/* What waits for its reader keeps everything behind it waiting. @return false: the session is over. */
static bool send_output(struct session *s)
{
    if (flush(s) < 0)
        return false;
    if (!has_output(s))
        return !s->is_quitting && want_write(s, false) == 0;
    if (s->out_fd >= 0 && mk_io_want(s->in, 0) < 0)
        return false;
    return want_write(s, true) == 0;
}

/* One command a turn of the loop: others are served on it too. @return false: the session is over. */
static bool advance(struct session *s)
{
    bool has_run;

    if ((s->gather && !take_gathered(s)) || (s->reload_until_ms && !take_reload(s)))
        return mk_io_want(s->in, 0) == 0;
    if (!send_output(s))
        return false;
    if (has_output(s))
        return true;
    has_run = run_line(s);
    if (!has_run && !s->has_ended && fill(s) < 0)
        return false;
    has_run = has_run || run_line(s);
    if (is_waiting(s))
        return mk_io_want(s->in, 0) == 0;
    if (has_run) {
        mk_alarm_soon(s->step);
        return send_output(s);
    }
    return !s->has_ended && mk_io_want(s->in, MK_IO_READ) == 0;
}

static void on_event(struct mk_io *io, unsigned events, void *arg)
{
    struct session *s = arg;

    (void)io;
    if ((events & (MK_IO_ERROR | MK_IO_TIMEOUT)) || !advance(s))
        end(s);
}

static void on_step(struct mk_alarm *alarm, void *arg)
{
    struct session *s = arg;

    (void)alarm;
    if (!advance(s))
        end(s);
}

/* ---- beginning ---- */

static int open_session(struct session *s, int in)
{
    int err;

    s->step = mk_alarm_new(s->worker, on_step, s);
    if (!s->step)
        return MK_E_NOMEM;
    err = mk_io_open(&s->in, s->worker, in, MK_IO_READ, on_event, s);
    if (err < 0)
        mk_alarm_free(s->step);
    return err;
}

int cheetah_session_begin(struct session_list *list, struct mk_worker *w, int in, int out)
{
    struct session *s = calloc(1, sizeof(*s));
    int err = MK_E_NOMEM;

    if (s) {
        s->list = list;
        s->worker = w;
        s->out_fd = out;
        err = open_session(s, in);
    }
    if (err < 0) {
        free(s);
        close(in);
        if (out >= 0)
            close(out);
        return err;
    }
    s->next = list->first;
    if (s->next)
        s->next->before = s;
    list->first = s;
    list->count++;
    if (out < 0)
        mk_io_timeout(s->in, SESSION_IDLE_MS);
    put_prompt(s);
    mk_alarm_soon(s->step);
    return 0;
}
