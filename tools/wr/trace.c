/* SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 256, PROCESSES_MAX = 64, TURN_MS = 10 };

static const char ready[] = "ready\n";

static void path_of_tracer(char *path, size_t size)
{
    char self[PATH_SIZE];
    ssize_t len = readlinkat(AT_FDCWD, "/proc/self/exe", self, sizeof(self));

    while (len > 0 && self[len - 1] != '/')
        len--;
    (void)snprintf(path, size, "%.*swr-calls", (int)(len > 0 ? len : 0), self);
}

bool trace_begin(struct child *c, const struct tree *t)
{
    char path[PATH_SIZE + 16], pids[PROCESSES_MAX][16], *argv[PROCESSES_MAX + 2] = {path};

    path_of_tracer(path, sizeof(path));
    for (size_t i = 0; i < t->count && i < PROCESSES_MAX; i++) {
        (void)snprintf(pids[i], sizeof(pids[i]), "%d", t->members[i].pid);
        argv[i + 1] = pids[i];
    }
    if (child_start(c, argv) < 0)
        return false;
    while (!c->is_over && c->len < strlen(ready)) {
        (void)poll(NULL, 0, TURN_MS);
        child_turn(c, false);
    }
    if (c->is_over)
        (void)fprintf(stderr, "%s", c->text);
    return !c->is_over;
}

char *trace_end(struct child *c)
{
    char *text = NULL;

    if (c->pid > 0)
        child_stop(c, SIGINT);
    if (c->text && strncmp(c->text, ready, strlen(ready)) == 0) {
        text = c->text;
        c->text = NULL;
        memmove(text, text + strlen(ready), c->len + 1 - strlen(ready));
    }
    child_fini(c);
    return text;
}
