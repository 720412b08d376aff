/* SPDX-License-Identifier: Apache-2.0 */
#include "configure.h"
#include "crash_note.h"
#include "daemon.h"
#include "keeper.h"
#include "keeper_client.h"
#include "make_cert.h"
#include "options.h"
#include "paths.h"
#include "pidfile.h"
#include "privileges.h"
#include "report.h"
#include "service.h"
#include "signals.h"
#include "systemd.h"
#include "verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * monkey: the server as a program. Its life is the function run() below; each step has a file.
 */

enum { FIRST_ERROR = 400 }; /* of the statuses of HTTP: RFC 9110 section 15.5 */

struct program {
    struct mk_options options;
    struct mk_systemd_sockets sockets;
    struct mk_keeper keeper;        /* when there is one; a server has what it was at its fork */
    struct mk_keeper_client client; /* of it */
    struct mk_host host;
    struct mk_config *config;
    struct mk_config_facts facts; /* borrowed from config */
    struct mk_identity identity;
    bool becomes_other; /* root, and not to stay it */
    struct mk_daemon daemon;
    struct mk_pidfile pidfile;
};

static struct program program;

/* A file opened as descriptor 0, 1 or 2 would get what was meant for the terminal. */
static int open_standard_descriptors(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= 2);
    return fd < 0 ? -1 : close(fd);
}

static void write_stdout(void *arg, const char *text, size_t len)
{
    (void)arg;
    (void)mk_print("%.*s", (int)len, text);
}

static int finish_stdout(void)
{
    if (!mk_print_has_failed())
        return 0;
    mk_report("standard output: %s", mk_errno_text());
    return 1;
}

/* A plugin asks: as if somebody had sent the signal. */
static int ask_reload(void *arg)
{
    (void)arg;
    return kill(getpid(), SIGHUP) == 0 ? 0 : MK_E_SYS;
}

static void init(struct program *p)
{
    p->client = (struct mk_keeper_client)MK_KEEPER_CLIENT_INIT;
    p->daemon.ready = -1;
    p->pidfile.fd = -1;
    p->facts.size = sizeof(p->facts);
    p->host = (struct mk_host){
        .size = sizeof(p->host),
        .arg = &p->client,
        .open_file = mk_keeper_open_file,
        .bind = mk_keeper_bind,
        .inherited = p->sockets.fds,
        .ninherited = p->sockets.count,
        .reload = ask_reload,
        .start_helper = mk_keeper_start_helper,
        .bind_socket = mk_keeper_bind_socket,
    };
}

/* Whom to become, and what of it cannot work. @return 0 or -1. */
static int judge_user(struct program *p)
{
    const char *user = p->facts.user;
    bool is_root = geteuid() == 0;

    if (!user)
        mk_identity_nobody(&p->identity);
    else if (mk_identity_find(&p->identity, user) < 0) {
        char text[128];

        (void)snprintf(text, sizeof(text), "User: there is no account \"%.64s\"", user);
        mk_verdict_of_key(p->config, "User", text);
        return -1;
    }
    p->becomes_other = is_root && p->identity.uid != 0;
    if (p->options.action != MK_ACTION_RUN)
        return 0;
    if (!user && is_root)
        mk_report("the server becomes nobody, because no User is set; \"User root\" keeps the "
                  "rights of root");
    else if (user && !is_root && p->identity.uid != 0 && p->identity.uid != geteuid())
        mk_report("User %s has no effect, because only root can become another user", user);
    return 0;
}

/* Read and check everything; every problem is told. @return 0 or -1. */
static int load(struct program *p)
{
    int err = mk_files_settle(&p->options.files);

    p->options.plugin_dir = mk_path_built_plugins();
    if (err == 0)
        err = mk_configure(&p->options, &p->host, NULL, &p->config);
    if (err < 0) {
        mk_verdict_error(mk_error_text(err));
        return -1;
    }
    mk_verdict_faults(p->config);
    if (err > 0 || mk_config_facts(p->config, &p->facts) < 0)
        return -1;
    return judge_user(p);
}

static bool has_error_log(const struct program *p, const char *target)
{
    return p->facts.error_log && strcmp(p->facts.error_log, target) == 0;
}

static int start_server(struct program *p, struct mk_server **server)
{
    int err = mk_server_new(server, p->config, &p->host);

    if (err > 0)
        mk_config_faults(p->config, mk_report_text, NULL);
    else
        p->config = NULL;
    if (err != 0) {
        mk_report("cannot create the server: %s",
                  err < 0 ? mk_error_text(err) : "its configuration has errors");
        return -1;
    }
    err = mk_server_listen(*server);
    mk_kept_close(&p->keeper.desk.kept); /* the server has copies */
    p->host.nkept = 0;
    if (err == 0 && mk_server_start(*server) == 0)
        return 0;
    if (!has_error_log(p, "stderr")) /* where it has just been said */
        mk_report("%s", mk_server_why(*server));
    return -1;
}

/* Unless Restart says so, somebody who looks at the terminal decides alone whether a server that died is started again. */
static bool wants_restarts(const struct program *p)
{
    return p->facts.restart < 0 ? p->becomes_other || p->options.daemon : p->facts.restart > 0;
}

static void announce(void *arg)
{
    struct program *p = arg;

    mk_systemd_notify("READY=1");
    if (p->daemon.ready < 0)
        return;
    mk_daemon_detach(&p->daemon);
    mk_daemon_ready(&p->daemon);
}

static int start_and_run(struct program *p, struct mk_service *service)
{
    if (start_server(p, &service->server) < 0)
        return 1;
    if (has_error_log(p, "syslog"))
        mk_report_to_syslog();
    if (p->client.sock >= 0)
        mk_daemon_detach(&p->daemon);
    else
        announce(p);
    mk_keeper_keep(&p->client, service->server);
    mk_keeper_ready(&p->client, "");
    return mk_service_run(service);
}

/* The process that serves: the only one, or the one without rights. */
static int serve(struct program *p)
{
    struct mk_service service = {.options = &p->options,
                                 .host = &p->host,
                                 .keeper = &p->client,
                                 .signals = mk_signals_open(false),
                                 .grace_ms = p->facts.graceful_ms};
    int code = 1;

    if (service.signals < 0)
        mk_report("cannot wait for signals: %s", mk_errno_text());
    else
        code = start_and_run(p, &service);
    close(service.signals);
    mk_server_free(service.server);
    mk_config_free(p->config);
    return code;
}

/* The child of the keeper: what is the keeper's is left to it. The configuration may be a later one than at the start. */
static int serve_below(void *arg, int sock)
{
    struct program *p = arg;

    p->client.sock = sock;
    p->client.has_rights = p->becomes_other;
    p->client.restarts = p->keeper.restarts;
    p->config = p->keeper.config;
    p->host.kept = p->keeper.desk.kept.fds;
    p->host.nkept = p->keeper.desk.kept.settled;
    p->host.restarts = p->keeper.restarted;
    p->host.restart_reason = p->keeper.restarted ? p->keeper.reason : NULL;
    mk_systemd_forget();
    mk_daemon_leave(&p->daemon);
    mk_pidfile_leave(&p->pidfile);
    if (mk_config_facts(p->config, &p->facts) < 0 ||
        (p->becomes_other && mk_privileges_drop(&p->identity, p->facts.core_dumps) < 0)) {
        mk_config_free(p->config);
        return 1;
    }
    return serve(p);
}

/* A keeper must not hold what the server may want to close, but for another server. */
static void close_inherited(void *arg)
{
    struct program *p = arg;

    for (size_t i = 0; i < p->sockets.count; i++)
        close(p->sockets.fds[i]);
    p->sockets.count = 0;
}

static int serve_with_keeper(struct program *p)
{
    int code;

    p->keeper = (struct mk_keeper){.options = &p->options,
                                   .identity = p->becomes_other ? &p->identity : NULL,
                                   .host = &p->host,
                                   .restarts = wants_restarts(p),
                                   .config = p->config,
                                   .serve = serve_below,
                                   .on_ready = announce,
                                   .on_stop = close_inherited,
                                   .arg = p};
    p->config = NULL;
    code = mk_keeper_run(&p->keeper);
    mk_pidfile_remove(&p->pidfile);
    return code;
}

static int serve_alone(struct program *p)
{
    int code;

    if (mk_privileges_freeze(p->facts.core_dumps) < 0)
        code = 1;
    else if (wants_restarts(p))
        return serve_with_keeper(p);
    else
        code = serve(p);
    mk_pidfile_remove(&p->pidfile);
    return code;
}

static int run(struct program *p)
{
    mk_privileges_set_fd_limit(p->facts.fd_limit);
    if (p->options.daemon && mk_daemon_start(&p->daemon) < 0) {
        mk_report("cannot go into the background: %s", mk_errno_text());
        return 1;
    }
    mk_signals_block();
    if (mk_pidfile_take(&p->pidfile, p->facts.pid_file) < 0)
        return 1;
    return p->becomes_other ? serve_with_keeper(p) : serve_alone(p);
}

/* What the server could not reach is seen with its rights only. */
static void test_reach(struct program *p)
{
    pid_t pid = p->becomes_other ? fork() : -1;

    if (pid == 0) {
        if (mk_privileges_drop(&p->identity, false) == 0)
            mk_config_unreachable(p->config, mk_verdict_warning, NULL);
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* @return 0 or -1. */
static int dump(const struct program *p)
{
    const char *section = p->options.section;
    int err = p->options.is_changed ? mk_config_dump_changed(p->config, section, write_stdout, NULL)
              : section             ? mk_config_dump_section(p->config, section, write_stdout, NULL)
                                    : mk_config_dump(p->config, write_stdout, NULL);

    if (err == MK_E_NOENT)
        mk_report("there is no section [%s] in this configuration", section);
    return err < 0 ? -1 : 0;
}

/* Files are opened with the rights that the server has. */
static void become_user(void *arg)
{
    const struct program *p = arg;

    if (p->becomes_other && mk_privileges_drop(&p->identity, false) < 0)
        mk_report("the explanation is with the rights of root, which the server has not");
}

/* @return the exit code. */
static int explain(struct program *p)
{
    struct mk_explain_question *q = &p->options.question;
    const char *why = NULL;
    int result;

    q->as_json = p->options.is_json;
    q->on_ready = become_user;
    q->arg = p;
    result = mk_config_explain(p->config, q, write_stdout, NULL, &why);
    mk_config_free(p->config);
    if (why)
        mk_report("expected %s", why);
    else if (result == MK_E_NOMEM)
        mk_report("%s", mk_error_text(result));
    if (why)
        return MK_EXPLAIN_MISUSED;
    return finish_stdout() != 0 || result < 0 || result >= FIRST_ERROR;
}

static int act(struct program *p)
{
    switch (p->options.action) {
    case MK_ACTION_TEST:
        test_reach(p);
        mk_verdict_end(true, p->facts.warnings);
        /* those that load by themselves are in no list */
        if (!p->options.is_json &&
            mk_config_dump_section(p->config, "PLUGINS", write_stdout, NULL) == MK_E_NOMEM)
            return 1;
        break;
    case MK_ACTION_DUMP:
        if (dump(p) < 0)
            return 1;
        break;
    case MK_ACTION_EXPLAIN:
        return explain(p);
    case MK_ACTION_RUN:
        return run(p);
    case MK_ACTION_MAKE_CERT:
        break; /* was done */
    }
    mk_config_free(p->config);
    return finish_stdout();
}

int main(int argc, char **argv)
{
    int code;

    if (open_standard_descriptors() < 0)
        return 1;
    code = mk_options_parse(&program.options, argc, argv);
    if (code != MK_OPTIONS_GO)
        return code == 0 ? finish_stdout() : code;
    if (program.options.action == MK_ACTION_MAKE_CERT)
        return mk_make_cert(&program.options) < 0 ? 1 : finish_stdout();
    mk_crash_stack();
    mk_systemd_take(&program.sockets);
    init(&program);
    mk_verdict_begin(program.options.is_json && program.options.action == MK_ACTION_TEST);
    if (load(&program) < 0) {
        mk_verdict_end(false, 0);
        mk_config_free(program.config);
        return 1;
    }
    return act(&program);
}
