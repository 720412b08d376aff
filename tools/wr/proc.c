/* SPDX-License-Identifier: Apache-2.0 */
#include "proc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TCP_LISTEN = 10, STAT_FIELDS = 22 };

/* The next unsigned number after blanks. @return false: something else stands there. */
static bool take_number(const char **at, uint64_t *number)
{
    const char *p = *at + strspn(*at, " \t");
    char *end;

    if (*p < '0' || *p > '9')
        return false;
    *number = (uint64_t)strtoll(p, &end, 10);
    *at = end;
    return true;
}

/* Fields from the fourth (the parent) on; some of them may be negative. */
static bool take_stat_fields(const char *at, uint64_t *fields)
{
    for (size_t i = 0; i < STAT_FIELDS - 1; i++) {
        char *end;

        fields[i] = (uint64_t)strtoll(at, &end, 10);
        if (end == at)
            return false;
        at = end;
    }
    return true;
}

bool proc_parse_stat(const char *text, struct proc_stat *s)
{
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    uint64_t f[STAT_FIELDS - 1];

    if (!open || !close || close < open || close[1] != ' ' || close[2] == '\0')
        return false;
    if (!take_stat_fields(close + 3, f))
        return false;
    *s = (struct proc_stat){
        .state = close[2],
        .pid = (int)strtoll(text, NULL, 10),
        .parent = (int)f[0],
        .minor = f[6],
        .cminor = f[7],
        .major = f[8],
        .cmajor = f[9],
        .user = f[10],
        .kernel = f[11],
        .cuser = f[12],
        .ckernel = f[13],
        .threads = f[16],
        .start = f[18],
        .rss = f[20],
    };
    (void)snprintf(s->name, sizeof(s->name), "%.*s", (int)(close - open - 1), open + 1);
    return true;
}

bool proc_parse_schedstat(const char *text, uint64_t *ran, uint64_t *waited)
{
    return take_number(&text, ran) && take_number(&text, waited);
}

bool proc_parse_machine(const char *text, struct proc_machine *m)
{
    uint64_t f[8]; /* user nice system idle iowait irq softirq steal */

    if (strncmp(text, "cpu ", 4) != 0)
        return false;
    text += 4;
    for (size_t i = 0; i < 8; i++)
        if (!take_number(&text, &f[i]))
            return false;
    *m = (struct proc_machine){.busy = f[0] + f[1] + f[2] + f[5] + f[6], .steal = f[7]};
    return true;
}

bool proc_parse_listener(const char *line, struct proc_listener *l)
{
    unsigned state;

    return sscanf(line,
                  " %*u: %*[0-9A-Fa-f]:%4x %*[0-9A-Fa-f]:%*4x %2x %*s %*s %*s %*u %*u %" SCNu64,
                  &l->port, &state, &l->inode) == 3 &&
           state == TCP_LISTEN;
}

static const char *next_line(const char *at)
{
    at = strchr(at, '\n');
    return at ? at + 1 : NULL;
}

bool proc_find(const char *text, const char *key, uint64_t *number)
{
    size_t len = strlen(key);

    for (const char *line = text; line; line = next_line(line)) {
        const char *at = line + len;

        if (strncmp(line, key, len) == 0)
            return take_number(&at, number);
    }
    return false;
}

int proc_next_pid(const char **at)
{
    const char *p = *at;
    uint64_t pid;

    if (!take_number(&p, &pid) || pid == 0 || pid > INT32_MAX)
        return 0;
    *at = p;
    return (int)pid;
}

bool proc_is_in_unit(const char *text, const char *unit)
{
    size_t len = strlen(unit);

    for (const char *at = text; len > 0 && (at = strstr(at, unit)); at++)
        if (at > text && at[-1] == '/' && (at[len] == '/' || at[len] == '\n' || at[len] == '\0'))
            return true;
    return false;
}

/* How many words of a line, which begins with the word at, stand before name. @return -1: it is not there. */
static int column_of(const char *at, const char *name)
{
    size_t len = strlen(name);

    for (int column = 0; *at != '\0' && *at != '\n'; column++) {
        size_t word = strcspn(at, " \n");

        if (word == len && strncmp(at, name, len) == 0)
            return column;
        at += word;
        at += strspn(at, " ");
    }
    return -1;
}

static bool take_column(const char *at, int column, uint64_t *number)
{
    for (; column > 0; column--) {
        at += strcspn(at, " \n");
        at += strspn(at, " ");
    }
    return take_number(&at, number);
}

bool proc_find_column(const char *text, const char *group, const char *name, uint64_t *number)
{
    size_t len = strlen(group);

    for (const char *line = text; line; line = next_line(line)) {
        const char *numbers = next_line(line);
        int column = strncmp(line, group, len) == 0 ? column_of(line, name) : -1;

        if (column > 0)
            return numbers && strncmp(numbers, group, len) == 0 &&
                   take_column(numbers, column, number);
    }
    return false;
}
