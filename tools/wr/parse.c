/* SPDX-License-Identifier: Apache-2.0 */
#include "parse.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A reader of JSON (RFC 8259) that goes forward only: each value is taken or skipped where it stands. */

enum { DEPTH_MAX = 32, CONCURRENCY_MAX = 1000000 };

struct reader {
    char *at;
    bool is_bad;
};

static void skip_blanks(struct reader *in)
{
    in->at += strspn(in->at, " \t\r\n");
}

static bool take(struct reader *in, char c)
{
    skip_blanks(in);
    if (*in->at != c)
        return false;
    in->at++;
    return true;
}

static void expect(struct reader *in, char c)
{
    if (!take(in, c))
        in->is_bad = true;
}

/* Four digits; what is beyond Latin-1 was not written by us. */
static char take_code(struct reader *in)
{
    char digits[5] = {0}, *end;

    for (int i = 0; i < 4 && *in->at; i++)
        digits[i] = *in->at++;
    long long code = strtoll(digits, &end, 16);

    if (end != digits + 4 || code <= 0 || code > 255)
        in->is_bad = true;
    return (char)code;
}

static char take_escape(struct reader *in)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = *in->at;
    const char *found = c ? strchr(from, c) : NULL;

    if (c)
        in->at++;
    if (found)
        return to[found - from];
    if (c == 'u')
        return take_code(in);
    in->is_bad = true;
    return '\0';
}

/* Unescaped in its place. @return never NULL */
static char *take_text(struct reader *in)
{
    char *begin, *to;

    expect(in, '"');
    begin = to = in->at;
    while (!in->is_bad && *in->at != '"') {
        char c = *in->at;

        if (c == '\0') {
            in->is_bad = true;
            break;
        }
        in->at++;
        *to++ = c == '\\' ? take_escape(in) : c;
    }
    if (in->is_bad)
        return in->at + strlen(in->at);
    in->at++;
    *to = '\0';
    return begin;
}

/* null is NAN. */
static double take_number(struct reader *in)
{
    char *end;
    double number;

    skip_blanks(in);
    if (strncmp(in->at, "null", 4) == 0) {
        in->at += 4;
        return NAN;
    }
    number = strtod(in->at, &end);
    if (end == in->at || !strchr("-0123456789", *in->at) || !isfinite(number))
        in->is_bad = true;
    in->at = end;
    return number;
}

static uint32_t take_count(struct reader *in)
{
    double number = take_number(in);

    if (!(number >= 0 && number <= UINT32_MAX)) {
        in->is_bad = true;
        return 0;
    }
    return (uint32_t)number;
}

static bool more(struct reader *in, char end)
{
    if (in->is_bad || take(in, end))
        return false;
    expect(in, ',');
    return !in->is_bad;
}

static char *take_key(struct reader *in)
{
    char *key = take_text(in);

    expect(in, ':');
    return key;
}

static void skip_value(struct reader *in, int depth)
{
    char end;

    skip_blanks(in);
    if (depth > DEPTH_MAX || in->is_bad || *in->at == '\0') {
        in->is_bad = true;
    } else if (*in->at == '"') {
        (void)take_text(in);
    } else if (*in->at == '{' || *in->at == '[') {
        end = *in->at == '{' ? '}' : ']';
        in->at++;
        if (take(in, end))
            return;
        do {
            if (end == '}')
                (void)take_key(in);
            skip_value(in, depth + 1);
        } while (more(in, end));
    } else {
        size_t len = strcspn(in->at, ",]} \t\r\n");

        in->is_bad = len == 0;
        in->at += len;
    }
}

/* ---- what the values mean ---- */

/* Calls take for each member of an object. */
typedef void (*member_fn)(struct reader *in, const char *key, void *to);

static void take_object(struct reader *in, member_fn member, void *to)
{
    expect(in, '{');
    if (in->is_bad || take(in, '}'))
        return;
    do {
        const char *key = take_key(in);

        if (!in->is_bad)
            member(in, key, to);
    } while (more(in, '}'));
}

static void take_fact(struct reader *in, const char *key, void *to)
{
    struct machine *m = to;

    for (int f = 0; f < WR_FACT_COUNT; f++)
        if (strcmp(key, wr_fact_name(f)) == 0) {
            (void)snprintf(m->facts[f], sizeof(m->facts[f]), "%s", take_text(in));
            return;
        }
    skip_value(in, 0);
}

static void take_figure(struct reader *in, const char *key, void *to)
{
    struct run *r = to;

    for (int f = 0; f < WR_FIGURE_COUNT; f++)
        if (strcmp(key, wr_figure_name(f)) == 0) {
            r->figures[f] = take_number(in);
            return;
        }
    skip_value(in, 0);
}

static void take_flags(struct reader *in, struct run *r)
{
    expect(in, '[');
    if (in->is_bad || take(in, ']'))
        return;
    do {
        const char *name = take_text(in);

        for (int f = 0; f < WR_FLAG_COUNT; f++)
            if (strcmp(name, wr_flag_name(f)) == 0)
                r->flags |= 1U << f;
    } while (more(in, ']'));
}

static void take_samples(struct reader *in, struct run *r)
{
    expect(in, '[');
    if (in->is_bad || take(in, ']'))
        return;
    do {
        struct sample s;
        uint32_t *const fields[] = {&s.at_ms, &s.cpu_ms, &s.rss_kb, &s.processes, &s.threads};

        expect(in, '[');
        for (size_t i = 0; i < 5; i++) {
            if (i > 0)
                expect(in, ',');
            *fields[i] = take_count(in);
        }
        expect(in, ']');
        if (!in->is_bad)
            run_sample(r, &s);
    } while (more(in, ']'));
}

static int take_small(struct reader *in)
{
    uint32_t count = take_count(in);

    if (count > CONCURRENCY_MAX)
        in->is_bad = true;
    return (int)count;
}

static void take_tool(struct reader *in, struct run *r)
{
    skip_blanks(in);
    if (*in->at == 'n')
        skip_value(in, 0);
    else
        r->tool = take_text(in);
}

static void take_run_member(struct reader *in, const char *key, void *to)
{
    struct run *r = to;

    if (strcmp(key, "target") == 0)
        r->target = take_text(in);
    else if (strcmp(key, "server") == 0)
        r->server = take_text(in);
    else if (strcmp(key, "round") == 0)
        r->round = take_small(in);
    else if (strcmp(key, "order") == 0)
        r->order = take_small(in);
    else if (strcmp(key, "concurrency") == 0)
        r->concurrency = take_small(in);
    else if (strcmp(key, "client") == 0)
        take_tool(in, r);
    else if (strcmp(key, "latency") == 0)
        r->is_open_loop = strcmp(take_text(in), "response") == 0;
    else if (strcmp(key, "figures") == 0)
        take_object(in, take_figure, r);
    else if (strcmp(key, "flags") == 0)
        take_flags(in, r);
    else if (strcmp(key, "samples") == 0)
        take_samples(in, r);
    else
        skip_value(in, 0);
}

static void take_runs(struct reader *in, struct runs *all)
{
    expect(in, '[');
    if (in->is_bad || take(in, ']'))
        return;
    do {
        struct run r;

        run_init(&r);
        r.target = "";
        take_object(in, take_run_member, &r);
        if (!runs_add(all, &r)) {
            free(r.samples);
            in->is_bad = true;
        }
    } while (more(in, ']'));
}

struct file {
    struct result *r;
    const char *schema;
};

static void take_member(struct reader *in, const char *key, void *to)
{
    struct file *f = to;

    if (strcmp(key, "schema") == 0)
        f->schema = take_text(in);
    else if (strcmp(key, "command") == 0)
        f->r->command = take_text(in);
    else if (strcmp(key, "began") == 0)
        f->r->began_s = take_number(in);
    else if (strcmp(key, "machine") == 0)
        take_object(in, take_fact, &f->r->machine);
    else if (strcmp(key, "runs") == 0)
        take_runs(in, &f->r->runs);
    else
        skip_value(in, 0);
}

const char *result_parse(char *text, struct result *r)
{
    struct reader in = {.at = text};
    struct file f = {.r = r, .schema = ""};

    *r = (struct result){.command = text + strlen(text)}; /* empty, until it is said */
    take_object(&in, take_member, &f);
    skip_blanks(&in);
    if (in.is_bad || *in.at != '\0')
        return "is no JSON of wr, or was cut off";
    return strcmp(f.schema, WR_SCHEMA) == 0 ? NULL : "has another schema than " WR_SCHEMA;
}
