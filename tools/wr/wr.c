/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"
#include "plan.h"
#include "result.h"
#include "watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* wr: watch what a server costs, from the outside, while somebody loads it. */

enum { MISUSED = 2 };

static char *line_of(char **words)
{
    size_t size = 1;
    char *line, *to;

    for (size_t i = 0; words && words[i]; i++)
        size += strlen(words[i]) + 1;
    line = calloc(1, size);
    to = line;
    for (size_t i = 0; line && words && words[i]; i++) {
        if (i > 0)
            *to++ = ' ';
        to = stpcpy(to, words[i]);
    }
    return line;
}

static int save(const char *path, result_write_fn write, const struct result *r)
{
    if (!path || result_save(path, write, r) == 0)
        return 0;
    (void)fprintf(stderr, "wr: %s: %s\n", path, strerror(errno));
    return 1;
}

static int measure(const struct options *o)
{
    struct result r = {.command = line_of(o->command), .began_s = (double)time(NULL)};
    int status = 1;

    watch_init();
    machine_read(&r.machine);
    if (r.command) {
        status = plan_execute(o, &r);
        status |= save(o->csv, result_csv, &r) | save(o->json, result_json, &r);
    }
    runs_fini(&r.runs);
    free(r.command);
    return status;
}

int main(int argc, char **argv)
{
    static struct options o;
    const char *why = options_parse(&o, argc, argv);

    if (why) {
        if (*why)
            (void)fprintf(stderr, "wr: %s\n", why);
        options_usage();
        return MISUSED;
    }
    return measure(&o);
}
