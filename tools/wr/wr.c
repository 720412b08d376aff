/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"
#include "options.h"
#include "parse.h"
#include "plan.h"
#include "result.h"
#include "watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* wr: watch what a server costs, from the outside, while somebody loads it. */

enum { MISUSED = 2, FILE_MAX = 1 << 28 };

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
    struct result r = {.command = line_of(o->command), .began_s = watch_now_s()};
    int status = 1;

    watch_init();
    machine_read(&r.machine);
    if (r.command) {
        status = plan_execute(o, &r);
        status |= save(o->csv, result_csv, &r) | save(o->json, result_json, &r) |
                  save(o->html, result_html, &r);
    }
    runs_fini(&r.runs);
    free(r.command);
    return status;
}

/* ---- results of before ---- */

/* @return the file's text, owned, ended by NUL; or NULL with errno */
static char *text_of(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    ssize_t len = file ? getdelim(&text, &size, '\0', file) : -1;

    if (file)
        (void)fclose(file);
    if (len >= 0 && len <= FILE_MAX)
        return text;
    if (file && !errno)
        errno = EINVAL;
    free(text);
    return NULL;
}

/* @param text  owned by the caller as long as the result lives. @return false: a reason was printed */
static bool load(const char *path, char **text, struct result *r)
{
    const char *why;

    *r = (struct result){0};
    errno = 0;
    *text = text_of(path);
    why = *text ? result_parse(*text, r) : strerror(errno);
    if (why)
        (void)fprintf(stderr, "wr: %s: %s\n", path, why);
    return !why;
}

/* wr compare [--force] A B */
static int compare(char **words)
{
    struct result a = {0}, b = {0};
    char *texts[2] = {NULL, NULL};
    bool is_forced = words[0] && strcmp(words[0], "--force") == 0;
    int status = COMPARE_CANNOT_TELL;

    words += is_forced;
    if (!words[0] || !words[1] || words[2])
        options_usage();
    else if (load(words[0], &texts[0], &a) && load(words[1], &texts[1], &b))
        status = (int)compare_results(stdout, &a, &b, is_forced);
    runs_fini(&a.runs);
    runs_fini(&b.runs);
    free(texts[0]);
    free(texts[1]);
    return status;
}

/* wr plot RESULT REPORT */
static int plot(char **words)
{
    struct result r = {0};
    char *text = NULL;
    int status = MISUSED;

    if (!words[0] || !words[1] || words[2])
        options_usage();
    else
        status = !load(words[0], &text, &r) || save(words[1], result_html, &r);
    runs_fini(&r.runs);
    free(text);
    return status;
}

int main(int argc, char **argv)
{
    static struct options o;
    const char *why;

    if (argc > 1 && strcmp(argv[1], "compare") == 0)
        return compare(argv + 2);
    if (argc > 1 && strcmp(argv[1], "plot") == 0)
        return plot(argv + 2);
    why = options_parse(&o, argc, argv);
    if (why) {
        if (*why)
            (void)fprintf(stderr, "wr: %s\n", why);
        options_usage();
        return MISUSED;
    }
    return measure(&o);
}
