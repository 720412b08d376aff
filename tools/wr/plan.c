/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "answer.h"
#include "table.h"
#include "watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_PATIENCE_MS = 15000, START_TURN_MS = 20, WORDS_MAX = 256, FAILED = 1, TAIL = 2000 };

struct plan {
    const struct options *o;
    struct result *r;
    double begin_ms;
    size_t total, done;
    int round, order;
};

/* What targets say of their versions, for as long as the results live. */
static char versions[TARGETS_MAX][sizeof(((struct place *)NULL)->server)];

static const char *keep_version(size_t target, const struct place *at)
{
    if (at->server[0])
        memcpy(versions[target], at->server, sizeof(at->server));
    return versions[target];
}

static int complain(const char *what, const char *why)
{
    (void)fprintf(stderr, "wr: %s: %s\n", what, why);
    return FAILED;
}

/* The end of what a program said explains why it failed. */
static void show_end(const struct child *c)
{
    if (c->text)
        (void)fprintf(stderr, "%s", c->text + (c->len > TAIL ? c->len - TAIL : 0));
}

/* ---- the words of the command ---- */

static char *replace(const char *word, const char *by)
{
    char *out = malloc(strlen(word) * strlen(by) + strlen(word) + 1), *to = out;

    if (!out)
        return NULL;
    for (; *word; word++) {
        if (word[0] == '%' && word[1] == 'c') {
            to = stpcpy(to, by);
            word++;
        } else {
            *to++ = *word;
        }
    }
    *to = '\0';
    return out;
}

static void free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

static char **words_for(char *const *command, int concurrency)
{
    char **words = calloc(WORDS_MAX + 1, sizeof(*words)), number[16];

    (void)snprintf(number, sizeof(number), "%d", concurrency);
    for (size_t i = 0; words && command[i]; i++)
        if (i == WORDS_MAX || !(words[i] = replace(command[i], concurrency ? number : "%c"))) {
            free_words(words);
            return NULL;
        }
    return words;
}

/* ---- one run ---- */

static void show_progress(const struct plan *p)
{
    double passed = watch_now_ms() - p->begin_ms;

    if (!isatty(2) || p->done == 0 || p->done == p->total)
        return;
    (void)fprintf(stderr, "\r%zu of %zu, about %.0f s left \r", p->done, p->total,
                  passed / (double)p->done * (double)(p->total - p->done) / 1e3);
}

static int keep(struct plan *p, struct run *runs, const struct target *targets, size_t count,
                int concurrency)
{
    for (size_t i = 0; i < count; i++) {
        runs[i].target = targets[i].name;
        runs[i].server = targets[i].server;
        runs[i].round = p->round;
        runs[i].order = p->order;
        runs[i].concurrency = concurrency;
        if (!runs_add(&p->r->runs, &runs[i]))
            return complain("results", strerror(ENOMEM));
        table_row(stdout, &runs[i]);
    }
    p->done++;
    show_progress(p);
    return 0;
}

/* Several targets are watched by one run of the command. */
static int run_once(struct plan *p, struct target *targets, size_t count, int concurrency,
                    uint32_t limit_ms, bool kept)
{
    struct run runs[TARGETS_MAX];
    struct child child = {.out = -1};
    char **words = p->o->command ? words_for(p->o->command, concurrency) : NULL;
    struct watched w = {.targets = targets,
                        .ntargets = count,
                        .argv = words,
                        .child = &child,
                        .limit_ms = limit_ms,
                        .options = p->o};
    int status = 0;

    if (p->o->command && !words)
        return complain(p->o->command[0], strerror(ENOMEM));
    for (size_t i = 0; i < count; i++)
        run_init(&runs[i]);
    if (watch_run(&w, runs) < 0)
        status = complain(words[0], strerror(errno));
    else if (kept && words && !watch_is_interrupted && (runs[0].flags & 1U << WR_FLAG_FAILED)) {
        show_end(&child);
        status = complain(words[0], "failed");
    }
    if (kept && keep(p, runs, targets, count, concurrency) != 0)
        status = FAILED;
    for (size_t i = 0; !kept && i < count; i++) {
        free(runs[i].samples);
        free(runs[i].calls);
    }
    child_fini(&child);
    free_words(words);
    return status;
}

static int run_steps(struct plan *p, struct target *targets, size_t count)
{
    int status = 0;

    if (p->o->nsteps == 0)
        return run_once(p, targets, count, 0, p->o->seconds_ms, true);
    for (size_t i = 0; i < p->o->nsteps && !watch_is_interrupted; i++)
        if (run_once(p, targets, count, p->o->steps[i], p->o->seconds_ms, true) != 0)
            status = FAILED;
    return status;
}

/* ---- servers that are started ---- */

static bool place_of_server(const struct options *o, struct place *at)
{
    bool has_url = place_of_words(o->command, at);

    if (!has_url)
        *at = (struct place){.host = "127.0.0.1", .path = "/"};
    if (o->port)
        (void)snprintf(at->port, sizeof(at->port), "%.7s", o->port);
    return has_url || o->port;
}

/* The first process of a daemon ends well; what it left has become our child. */
static bool waits_for_answer(struct child *server, struct place *at)
{
    double end = watch_now_ms() + START_PATIENCE_MS;

    while (watch_now_ms() < end && !watch_is_interrupted) {
        child_turn(server, false);
        if (server->is_over && server->status != 0)
            return false;
        if (place_answers(at))
            return true;
        watch_pause(START_TURN_MS);
    }
    return false;
}

static void stop_server(struct child *server, struct tree *t)
{
    child_stop(server, SIGTERM);
    for (int turn = 0; turn < 100; turn++) {
        tree_scan(t, TREE_QUICK);
        if (tree_living(t) == 0)
            break;
        for (size_t i = 0; i < t->count; i++)
            (void)kill(t->members[i].pid, turn < 50 ? SIGTERM : SIGKILL);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        watch_pause(START_TURN_MS);
    }
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
}

/* The shell is not to stay as a process of the server, unless it has more to do. @return owned, or NULL */
static char *script_of(const char *command)
{
    bool is_simple = command[strcspn(command, ";|&(){}\n")] == '\0';
    char *script;

    return asprintf(&script, "%s%s", is_simple ? "exec " : "", command) < 0 ? NULL : script;
}

static int measure_server(struct plan *p, const struct wanted *server)
{
    char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, script_of(server->command), NULL};
    struct target target = {.name = server->name, .tree = {.has_own_children = true}};
    struct child child = {.out = -1};
    struct place at;
    int status = 0;

    if (!place_of_server(p->o, &at))
        status = complain(server->name, "where does it answer? -P PORT, or a URL in the COMMAND");
    else if (place_answers(&at))
        status = complain(server->name, "another server answers there already");
    else if (child_start(&child, argv) < 0)
        status = complain(server->name, strerror(errno));
    else if (!waits_for_answer(&child, &at)) {
        show_end(&child);
        status = complain(server->name, "does not answer");
    }
    target.server = keep_version((size_t)(server - p->o->targets), &at);
    if (status == 0 && p->o->warm_up_ms > 0 && !watch_is_interrupted)
        (void)run_once(p, &target, 1, p->o->nsteps ? p->o->steps[0] : 0, p->o->warm_up_ms, false);
    if (status == 0 && !watch_is_interrupted)
        status = run_steps(p, &target, 1);
    if (child.pid > 0)
        stop_server(&child, &target.tree);
    tree_fini(&target.tree);
    child_fini(&child);
    free(argv[2]);
    return status;
}

static int round_of_servers(struct plan *p)
{
    int status = 0;

    for (size_t i = 0; i < p->o->ntargets && !watch_is_interrupted; i++) {
        p->order = (int)i + 1;
        if (measure_server(p, &p->o->targets[((size_t)p->round - 1 + i) % p->o->ntargets]) != 0)
            status = FAILED;
    }
    return status;
}

/* ---- servers that are there ---- */

/* Of several targets nobody knows whose words they are. */
static void ask_found(const struct plan *p, struct target *targets, size_t count)
{
    struct place at = {.server = ""};

    if (count == 1 && p->o->command && place_of_words(p->o->command, &at))
        (void)place_answers(&at);
    targets[0].server = keep_version(0, &at);
}

static int round_of_found(struct plan *p)
{
    struct target targets[TARGETS_MAX] = {0};
    size_t count = p->o->ntargets;
    int status = 0;

    p->order = 1;
    for (size_t i = 0; i < count; i++) {
        const struct wanted *wanted = &p->o->targets[i];

        targets[i].name = wanted->name;
        if (find_processes(&targets[i].tree, wanted->by, wanted->value) == 0)
            status = complain(wanted->name, "there is no such process, or only root may see it");
    }
    if (status == 0) {
        ask_found(p, targets, count);
        status = run_steps(p, targets, count);
    }
    for (size_t i = 0; i < count; i++)
        tree_fini(&targets[i].tree);
    return status;
}

int plan_execute(const struct options *o, struct result *r)
{
    struct plan p = {.o = o, .r = r, .begin_ms = watch_now_ms()};
    int status = 0;

    p.total = o->rounds * (o->nsteps ? o->nsteps : 1) * (o->has_servers ? o->ntargets : 1);
    if (o->has_servers)
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* daemons stay ours */
    if (o->command)
        machine_ask_client(&r->machine, o->command);
    table_head(stdout);
    for (unsigned i = 1; i <= o->rounds && !watch_is_interrupted; i++) {
        p.round = (int)i;
        if ((o->has_servers ? round_of_servers(&p) : round_of_found(&p)) != 0)
            status = FAILED;
    }
    if (r->runs.count == 1)
        table_all(stdout, &r->runs.items[0]);
    if (r->runs.count > 0)
        table_foot(stdout, &r->runs, o->asks);
    return status;
}
