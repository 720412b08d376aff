/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Words after two dashes, in the order of longs. Those before TCP have a value. */
enum {
    REGEX = 256,
    CSV,
    JSON,
    HTML,
    SERVER,
    SYS,
    TCP,
    CGROUP,
    ENERGY,
    COUNTERS,
    CALLS,
    TRACE,
    HELP
};
enum { CONCURRENCY_MAX = 1000000, ROUNDS_MAX = 1000 };

static const char longs[] =
    "requests-"
    "regex\0csv\0json\0html\0server\0sys\0tcp\0cgroup\0energy\0counters\0calls\0trace\0help";

void options_usage(void)
{
    (void)fputs("usage: wr [options] [-- COMMAND...]\n"
                "       wr compare [--force] A.json B.json\n"
                "       wr plot RESULT.json REPORT.html\n"
                "whom to watch, with all descendants; several are shown apart:\n"
                "  -p PID   -n NAME   -P PORT (who listens there)   -u UNIT (of systemd)\n"
                "  --server NAME='COMMAND'   start it before each round and stop it after; -P says "
                "where it answers\n"
                "how:\n"
                "  -c FROM:TO:STEP | N,N,...  run COMMAND for each, with %c replaced by it\n"
                "  -r N    rounds            -w TIME  warm-up of a started server (1s)\n"
                "  -t TIME at most so long   -i TIME  between samples (100ms)\n"
                "  --requests-regex EXPR  its first group finds the count of requests\n"
                "  --tcp   retransmits and listen overflows of the machine\n"
                "  --cgroup CPU, throttling and memory of its control group\n"
                "  --energy of the processor   --counters  instructions and cache misses\n"
                "  --calls  system calls   --trace  by name, which slows the server\n"
                "  --sys FOLDER  where /sys is mounted\n"
                "  -v      show what COMMAND says\n"
                "to where: --csv FILE   --json FILE   --html FILE\n",
                stderr);
}

static const char *complaint(const char *format, const char *what)
{
    static char text[256];

    /* The formats are those of this file. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(text, sizeof(text), format, what);
#pragma GCC diagnostic pop
    return text;
}

/* A number from 1 to max; *at stands behind it. @return 0: there is none */
static long take_number(const char **at, long max)
{
    char *end;
    long number;

    if (**at < '0' || **at > '9')
        return 0;
    number = (long)strtoll(*at, &end, 10);
    *at = end;
    return number > max ? 0 : number;
}

static bool skip(const char **at, char c)
{
    bool is_there = **at == c;

    *at += is_there;
    return is_there;
}

static size_t range_of(const char *text, int *steps)
{
    long from = take_number(&text, CONCURRENCY_MAX), to, step;
    size_t count = 0;

    if (!skip(&text, ':') || (to = take_number(&text, CONCURRENCY_MAX)) < from || !skip(&text, ':'))
        return 0;
    step = take_number(&text, CONCURRENCY_MAX);
    if (from == 0 || step == 0 || *text != '\0')
        return 0;
    for (long c = from; c <= to; c += step) {
        if (count == STEPS_MAX)
            return 0;
        steps[count++] = (int)c;
    }
    return count;
}

static size_t list_of(const char *text, int *steps)
{
    size_t count = 0;

    do {
        if (count == STEPS_MAX || (steps[count++] = (int)take_number(&text, CONCURRENCY_MAX)) == 0)
            return 0;
    } while (skip(&text, ','));
    return *text == '\0' ? count : 0;
}

size_t options_steps(const char *text, int *steps)
{
    return strchr(text, ':') ? range_of(text, steps) : list_of(text, steps);
}

bool options_time(const char *text, uint32_t *ms)
{
    static const struct {
        const char *word;
        double ms;
    } units[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {"h", 3600000}};
    char *end;
    double number;

    if (*text < '0' || *text > '9')
        return false;
    number = strtod(text, &end);
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (strcmp(end, units[i].word) == 0 && number * units[i].ms <= INT32_MAX) {
            *ms = (uint32_t)(number * units[i].ms);
            return true;
        }
    return false;
}

/* ---- one option ---- */

/* @return NULL: there are too many */
static struct wanted *new_target(struct options *o, const char *before, const char *name)
{
    struct wanted *w = o->ntargets < TARGETS_MAX ? &o->targets[o->ntargets++] : NULL;

    if (w)
        (void)snprintf(w->name, sizeof(w->name), "%s%s", before, name);
    return w;
}

static const char *add_target(struct options *o, enum find_by by, const char *value)
{
    struct wanted *w = new_target(o, by == FIND_PORT ? ":" : "", value);

    if (!w)
        return "too many targets";
    if ((by == FIND_PID || by == FIND_PORT) && strtoll(value, NULL, 10) <= 0)
        return complaint("no number: %s", value);
    w->by = by;
    w->value = value;
    return NULL;
}

static const char *add_server(struct options *o, char *text)
{
    char *command = strchr(text, '=');
    struct wanted *w;

    if (!command || command == text || command[1] == '\0')
        return complaint("--server is not NAME=COMMAND: %s", text);
    *command++ = '\0';
    w = new_target(o, "", text);
    if (!w)
        return "too many targets";
    w->command = command;
    o->has_servers = true;
    return NULL;
}

static const char *take_time(const char *text, uint32_t *ms)
{
    return options_time(text, ms) ? NULL : complaint("no time: %s", text);
}

static const char *take_rounds(struct options *o, const char *text)
{
    o->rounds = (unsigned)take_number(&text, ROUNDS_MAX);
    return o->rounds > 0 && *text == '\0' ? NULL : "-r is not a number of rounds";
}

static const char *take_file(int c, struct options *o, char *value)
{
    *(c == CSV ? &o->csv : c == JSON ? &o->json : &o->html) = value;
    return NULL;
}

static void ask(struct options *o, int c)
{
    if (c == TRACE) {
        o->is_traced = true;
        return;
    }
    static const unsigned char first[] = {WR_F_RETRANSMITS,       WR_F_GROUP_CPU, WR_F_ENERGY,
                                          WR_F_USER_INSTRUCTIONS, WR_F_CALLS,     WR_F_CLIENT_CPU};

    for (int f = first[c - TCP]; f < first[c - TCP + 1]; f++)
        o->asks[f] = true;
}

static const char *take(struct options *o, int c, char *value)
{
    switch (c) {
    case 'p':
        return add_target(o, FIND_PID, value);
    case 'n':
        return add_target(o, FIND_NAME, value);
    case 'u':
        return add_target(o, FIND_UNIT, value);
    case 'P':
        o->port = value;
        return NULL;
    case 'c':
        o->nsteps = options_steps(value, o->steps);
        return o->nsteps ? NULL : complaint("no steps: %s", value);
    case 'r':
        return take_rounds(o, value);
    case 't':
        return take_time(value, &o->seconds_ms);
    case 'i':
        return take_time(value, &o->interval_ms);
    case 'w':
        return take_time(value, &o->warm_up_ms);
    case SERVER:
        return add_server(o, value);
    case REGEX:
        o->requests_regex = value;
        return NULL;
    case SYS:
        o->sys = value;
        return NULL;
    case TCP:
    case CGROUP:
    case ENERGY:
    case COUNTERS:
    case CALLS:
    case TRACE:
        return ask(o, c), NULL;
    case 'v':
        return o->is_verbose = true, NULL;
    case 'h':
    case HELP:
    case '?':
        return "";
    default:
        return take_file(c, o, value);
    }
}

/* ---- all of them ---- */

static const char *check(struct options *o)
{
    const char *why = o->port && !o->has_servers ? add_target(o, FIND_PORT, o->port) : NULL;

    if (why)
        return why;
    if (o->ntargets == 0)
        return "whom to watch? -p, -n, -P, -u or --server";
    for (size_t i = 0; i < o->ntargets; i++)
        if (o->has_servers && !o->targets[i].command)
            return "servers that are started are not mixed with others";
    if (!o->command && (o->has_servers || o->nsteps > 0 || o->rounds > 1))
        return "there is no COMMAND to run";
    if (o->interval_ms < 10)
        return "-i is below 10ms";
    if (o->port && (strtoll(o->port, NULL, 10) < 1 || strtoll(o->port, NULL, 10) > 65535))
        return "-P is not a port";
    return NULL;
}

/* What stands after two dashes, which getopt() takes for the value of an option that is a dash. */
static const char *take_long(struct options *o, char *word, char **argv)
{
    size_t len = strcspn(word, "=");
    int c = REGEX;

    while (c <= HELP && (strncmp(wr_text(longs, c - REGEX), word, len) != 0 ||
                         wr_text(longs, c - REGEX)[len] != '\0'))
        c++;
    if (c > HELP || (c >= TCP && word[len]))
        return complaint("there is no option --%s", word);
    if (c >= TCP || word[len])
        return take(o, c, word + len + 1);
    if (!argv[optind])
        return complaint("--%s has no value", word);
    return take(o, c, argv[optind++]);
}

const char *options_parse(struct options *o, int argc, char **argv)
{
    const char *why = NULL;
    int c;

    *o = (struct options){.sys = "/sys", .rounds = 1, .interval_ms = 100, .warm_up_ms = 1000};
    optind = 0;
    while (!why && (c = getopt(argc, argv, "+p:n:P:u:c:r:t:i:w:vh-:")) != -1)
        why = c == '-' ? take_long(o, optarg, argv) : take(o, c, optarg);
    if (why)
        return why;
    if (optind < argc)
        o->command = argv + optind;
    return check(o);
}
