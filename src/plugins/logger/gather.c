/* SPDX-License-Identifier: Apache-2.0 */
#include "gather.h"

#include <stddef.h>
#include <stdlib.h>

_Static_assert(offsetof(struct logger_buffer, lines) ==
                   offsetof(struct logger_buffer, frame) + sizeof(struct logger_frame),
               "a frame and its lines are written at once");

struct logger_gather *logger_gather_new(struct logger_pipe *pipe, size_t ntargets)
{
    struct logger_gather *g = calloc(1, sizeof(*g) + ntargets * sizeof(struct logger_buffer *));

    if (!g)
        return NULL;
    g->pipe = pipe;
    g->nbuffers = ntargets;
    return g;
}

static int write_buffer(struct logger_gather *g, struct logger_buffer *b)
{
    const void *frame = (const char *)b + offsetof(struct logger_buffer, frame); /* and lines */

    if (logger_pipe_write(g->pipe, frame, sizeof(b->frame) + b->frame.bytes) < 0)
        return MK_E_AGAIN;
    b->frame.bytes = b->frame.lines = 0;
    return 0;
}

int logger_gather_flush(struct logger_gather *g)
{
    while (g->waiting) {
        struct logger_buffer *b = g->waiting;

        if (b->frame.bytes > 0 && write_buffer(g, b) < 0)
            return MK_E_AGAIN;
        g->waiting = b->next;
        b->waits = false;
    }
    return 0;
}

void logger_gather_free(struct logger_gather *g)
{
    if (!g)
        return;
    (void)logger_gather_flush(g);
    for (size_t i = 0; i < g->nbuffers; i++) {
        struct logger_buffer *b = g->buffers[i];

        if (b && b->frame.lines > 0)
            logger_target_lost(b->frame.target, b->frame.lines);
        free(b);
    }
    free(g);
}

static struct logger_buffer *buffer_of(struct logger_gather *g, size_t index,
                                       struct logger_target *target)
{
    struct logger_buffer *b = g->buffers[index];

    if (!b) {
        b = malloc(sizeof(*b));
        if (!b)
            return NULL;
        memset(&b->frame, 0, sizeof(b->frame));
        b->frame.target = target;
        b->waits = false;
        g->buffers[index] = b;
    }
    return b;
}

/* @return length of the line that was written behind the others; 0: it has no room there. */
static size_t try_line(struct logger_buffer *b, logger_line_fn write, const void *arg)
{
    char *start = b->lines + b->frame.bytes;
    struct logger_text t = {.at = start, .end = b->lines + sizeof(b->lines) - LOGGER_CUT};

    write(arg, &t);
    if (t.full && b->frame.bytes > 0)
        return 0;
    if (t.full)
        logger_put_cut(&t);
    return (size_t)(t.at - start);
}

/* From its first line on until a flush; frames that are full in between do not change that. */
static void enlist(struct logger_gather *g, struct logger_buffer *b)
{
    if (b->waits)
        return;
    b->waits = true;
    b->next = g->waiting;
    g->waiting = b;
}

void logger_gather_line(struct logger_gather *g, size_t index, struct logger_target *target,
                        logger_line_fn write, const void *arg)
{
    struct logger_buffer *b = buffer_of(g, index, target);
    size_t len = b ? try_line(b, write, arg) : 0;

    if (b && len == 0 && write_buffer(g, b) == 0)
        len = try_line(b, write, arg);
    if (len == 0) {
        logger_target_lost(target, 1);
        return;
    }
    b->frame.bytes += (uint32_t)len;
    b->frame.lines++;
    enlist(g, b);
}
