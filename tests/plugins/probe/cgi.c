/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A child for each request, as CGI has it: the body of the request is its input, its output is the body of the
 * answer. The input is kept first, so that neither side can wait for the other one for ever. `?SCRIPT` is
 * given to the shell as it stands: for a test only.
 */

enum { PIECE = 16384 };

struct script {
    struct visit visit;
    struct mk_spool *body;
    uint64_t fed;
    struct mk_io *input;
    pid_t pid; /* 0: none */
};

/* Who left wants nothing more done; who was answered has read the end of the output. */
static void cgi_end(struct visit *v)
{
    struct script *s = (struct script *)v;

    mk_io_close(s->input);
    mk_spool_free(s->body);
    if (s->pid > 0) {
        (void)kill(-s->pid, SIGKILL);
        (void)waitpid(s->pid, NULL, 0); /* what was killed is gone at once */
    }
}

static void on_input(struct mk_io *io, unsigned events, void *arg)
{
    struct script *s = arg;
    char piece[PIECE];

    while (!(events & MK_IO_ERROR)) {
        ssize_t n = mk_spool_read(s->body, s->fed, piece, sizeof(piece));

        if (n <= 0)
            break;
        n = write(mk_io_fd(io), piece, (size_t)n);
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0)
            break; /* the script does not read it all */
        s->fed += (uint64_t)n;
    }
    mk_io_close(io);
    s->input = NULL;
}

/* In a group of its own, so that its children can be ended with it; a worker blocks signals, its child must not. */
static int spawn(struct script *s, char *text, int in, int out)
{
    char sh[] = "sh", c[] = "-c", path[] = "PATH=/usr/bin:/bin";
    char *const words[] = {sh, c, text, NULL}, *const environment[] = {path, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, pipes;
    int err;

    if (posix_spawn_file_actions_init(&files) != 0)
        return MK_E_NOMEM;
    if (posix_spawnattr_init(&how) != 0) {
        (void)posix_spawn_file_actions_destroy(&files);
        return MK_E_NOMEM;
    }
    (void)sigemptyset(&none);
    (void)sigemptyset(&pipes);
    (void)sigaddset(&pipes, SIGPIPE);
    (void)posix_spawnattr_setsigmask(&how, &none);
    (void)posix_spawnattr_setsigdefault(&how, &pipes);
    (void)posix_spawnattr_setpgroup(&how, 0);
    (void)posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                             POSIX_SPAWN_SETSIGDEF);
    err = posix_spawn_file_actions_adddup2(&files, in, 0);
    if (err == 0)
        err = posix_spawn_file_actions_adddup2(&files, out, 1);
    if (err == 0)
        err = posix_spawn(&s->pid, "/bin/sh", &files, &how, words, environment);
    if (err != 0)
        s->pid = 0;
    (void)posix_spawnattr_destroy(&how);
    (void)posix_spawn_file_actions_destroy(&files);
    return mk_error_from_errno(err);
}

/* @return the script's output, the caller's; or an error. */
static int run(struct script *s, struct mk_worker *w, char *text)
{
    int in[2], out[2], err;

    if (pipe2(in, O_CLOEXEC) < 0)
        return MK_E_NOFD;
    if (pipe2(out, O_CLOEXEC) < 0) {
        (void)close(in[0]);
        (void)close(in[1]);
        return MK_E_NOFD;
    }
    err = spawn(s, text, in[0], out[1]);
    (void)close(in[0]);
    (void)close(out[1]);
    if (err == 0 && fcntl(in[1], F_SETFL, O_NONBLOCK) < 0)
        err = MK_E_SYS;
    if (err == 0)
        err = mk_io_open(&s->input, w, in[1], MK_IO_WRITE, on_input, s);
    if (err == 0)
        return out[0];
    (void)close(in[1]);
    (void)close(out[0]);
    return err;
}

/* The query with its `+` as blanks, and the rest as it stands. */
static char *script_text(struct mk_request *r)
{
    struct mk_request_facts f = {.size = sizeof(f)};
    char *text;

    mk_request_facts(r, &f);
    text = mk_request_printf(r, "%.*s", (int)f.query.len, f.query.p ? f.query.p : "");
    for (char *c = text; c && *c; c++)
        *c = *c == '+' ? ' ' : *c;
    return text;
}

enum mk_verdict cgi_handle(struct mk_request *r, const struct mk_context *ctx,
                           const struct probe_route *route)
{
    struct script *s = visit_of(r, ctx, sizeof(*s), cgi_end);
    enum mk_verdict verdict;
    struct mk_reply p;
    char *text;
    int out;

    (void)route;
    if (!s)
        return mk_reply_error(r, 503, NULL);
    verdict = body_keep(r, &s->body);
    if (verdict != MK_VERDICT_PASS)
        return verdict;
    text = script_text(r);
    out = text ? run(s, ctx->worker, text) : MK_E_NOMEM;
    if (out < 0)
        return mk_reply_error(r, 503, NULL);
    mk_request_ends_on_hangup(r, true);
    mk_request_timeout(r, 0);
    if (mk_reply_begin(&p, r, 200) < 0 || mk_reply_end(&p, -1) < 0)
        (void)close(out);
    else
        (void)!mk_reply_pipe(r, out, UINT64_MAX);
    return MK_VERDICT_DONE;
}
