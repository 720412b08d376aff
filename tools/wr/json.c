/* SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include <math.h>

void json_text(FILE *to, const char *text)
{
    (void)fputc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<')
            (void)fprintf(to, "\\u%04x", c);
        else
            (void)fputc(c, to);
    }
    (void)fputc('"', to);
}

static void member(FILE *to, const char *before, const char *name, const char *text)
{
    (void)fputs(before, to);
    json_text(to, name);
    (void)fputs(":", to);
    json_text(to, text);
}

static void figures(FILE *to, const struct run *r)
{
    for (int f = 0; f < WR_FIGURE_COUNT; f++) {
        (void)fprintf(to, "%s\"%s\":", f ? "," : "", wr_figure_name(f));
        if (isfinite(r->figures[f]))
            (void)fprintf(to, "%.10g", r->figures[f]);
        else
            (void)fputs("null", to);
    }
}

static void flags(FILE *to, const struct run *r)
{
    const char *before = "";

    for (int f = 0; f < WR_FLAG_COUNT; f++)
        if (r->flags & 1U << f) {
            (void)fprintf(to, "%s\"%s\"", before, wr_flag_name(f));
            before = ",";
        }
}

static void samples(FILE *to, const struct run *r)
{
    for (size_t i = 0; i < r->nsamples; i++) {
        const struct sample *s = &r->samples[i];

        (void)fprintf(to, "%s[%u,%u,%u,%u,%u]", i ? "," : "", s->at_ms, s->cpu_ms, s->rss_kb,
                      s->processes, s->threads);
    }
}

static void run(FILE *to, const struct run *r)
{
    member(to, "{", "target", r->target);
    (void)fprintf(to, ",\"round\":%d,\"order\":%d,\"concurrency\":%d,", r->round, r->order,
                  r->concurrency);
    if (r->tool)
        member(to, "", "client", r->tool);
    else
        (void)fputs("\"client\":null", to);
    if (r->server && *r->server)
        member(to, ",", "server", r->server);
    (void)fprintf(to, ",\"latency\":\"%s\",\n \"figures\":{",
                  r->is_open_loop ? "response" : "service");
    figures(to, r);
    (void)fputs("},\n ", to);
    if (r->calls)
        (void)fprintf(to, "\"calls\":%s,\n ", r->calls);
    (void)fputs("\"flags\":[", to);
    flags(to, r);
    (void)fputs("],\"samples\":[", to);
    samples(to, r);
    (void)fputs("]}", to);
}

void result_json(FILE *to, const struct result *all)
{
    (void)fprintf(to, "{\"schema\":\"%s\",\"version\":\"%s\",\"began\":%.0f,\n", WR_SCHEMA,
                  WR_VERSION, all->began_s);
    member(to, "", "command", all->command);
    (void)fputs(",\n\"machine\":{", to);
    for (int f = 0; f < WR_FACT_COUNT; f++)
        member(to, f ? "," : "", wr_fact_name(f), all->machine.facts[f]);
    (void)fputs("},\n\"runs\":[\n", to);
    for (size_t i = 0; i < all->runs.count; i++) {
        (void)fputs(i ? ",\n" : "", to);
        run(to, &all->runs.items[i]);
    }
    (void)fputs("\n]}\n", to);
}
