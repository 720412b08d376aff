/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_INTAKE_UPLOADS_H
#define KIT_INTAKE_UPLOADS_H

#include "kit/intake/intake.h"

#include <monkey/events.h>

/*
 * Uploads that hold something scarce, over all workers: the places of scripts, or the connections to one backend. While
 * requests wait for those, the uploads that have become slow end, the slowest first, and no more of them than wait. One
 * mutex; nothing is called under it.
 */

struct uploads;

/** @return how many requests wait. Any thread. */
typedef unsigned (*uploads_waiting_fn)(void *of);

/** @param of  for waiting; lives as long as the uploads. @return it, empty; NULL without memory. */
struct uploads *uploads_new(uploads_waiting_fn waiting, void *of);
/** Nothing is in it. NULL is allowed. */
void uploads_free(struct uploads *all);

/** One that is streamed: a member of something larger, zeroed at first. */
struct upload {
    struct upload *next, **link;
    struct uploads *all; /* NULL: in none */
    struct mk_worker *worker;
    const struct intake *intake;
    struct mk_alarm *alarm;
    struct arrival arrival; /* as of when it was last looked at; under the mutex */
    void (*end)(struct upload *upload);
};

/**
 * It holds its thing from now on. Only uploads of INTAKE_AUTO whose body is not whole are meant; for others nothing happens.
 * @param end  called once on its worker, when it is to end: the caller answers 408, and gives up what it held
 * @return 0 or MK_E_NOMEM.
 */
int upload_begin(struct upload *upload, struct uploads *all, struct mk_worker *w,
                 const struct intake *intake, void (*end)(struct upload *upload)) MK_MUST_USE;
/** It holds nothing any more; inside end too. May be called again, and for zeroed ones. */
void upload_leave(struct upload *upload);

#endif
