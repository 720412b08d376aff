/* SPDX-License-Identifier: Apache-2.0 */
#include "host/load.h"

#include <stdlib.h>

static void stop_parts(struct mk_duda_service *s, struct mk_duda_worker *w, unsigned n)
{
    struct mk_duda_here before = mk_duda_enter(s, w);

    while (n-- > 0) {
        if (mk_duda_parts[n]->worker_stop)
            mk_duda_parts[n]->worker_stop(s, w);
    }
    mk_duda_leave(before);
}

static int start_parts(struct mk_duda_service *s, struct mk_duda_worker *w)
{
    struct mk_duda_here before = mk_duda_enter(s, w);
    unsigned n = 0;

    while (n < MK_DUDA_PARTS &&
           (!mk_duda_parts[n]->worker_start || mk_duda_parts[n]->worker_start(s, w) == 0))
        n++;
    mk_duda_leave(before);
    if (n == MK_DUDA_PARTS)
        return 0;
    stop_parts(s, w, n);
    return -1;
}

/* One block: the seat, and behind it the states of the parts. */
static struct mk_duda_seat *new_seat(struct mk_duda_service *s, struct mk_duda_worker *w)
{
    size_t at = (sizeof(struct mk_duda_seat) + 15) & ~(size_t)15, size = at;
    struct mk_duda_seat *seat;

    for (unsigned i = 0; i < MK_DUDA_PARTS; i++)
        size += (mk_duda_parts[i]->local_size + 15) & ~(size_t)15;
    seat = calloc(1, size);
    if (!seat)
        return NULL;
    seat->service = s;
    seat->worker = w;
    for (unsigned i = 0; i < MK_DUDA_PARTS; i++) {
        if (mk_duda_parts[i]->local_size > 0)
            seat->parts[i] = (char *)seat + at;
        at += (mk_duda_parts[i]->local_size + 15) & ~(size_t)15;
    }
    return seat;
}

int mk_duda_seat_take(struct mk_duda_service *s, struct mk_duda_worker *w)
{
    struct mk_duda_seat *seat = s->seats[w->index];

    if (!seat) {
        s->seats[w->index] = seat = new_seat(s, w);
        if (!seat || start_parts(s, w) < 0) {
            free(seat);
            s->seats[w->index] = NULL;
            return -1;
        }
    }
    seat->refs++;
    return 0;
}

void mk_duda_seat_leave(struct mk_duda_service *s, struct mk_duda_worker *w)
{
    struct mk_duda_seat *seat = s->seats[w->index];

    if (!seat || --seat->refs > 0)
        return;
    stop_parts(s, w, MK_DUDA_PARTS);
    free(seat);
    s->seats[w->index] = NULL;
}
