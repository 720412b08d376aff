/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_EVENTS_OFFLOAD_H
#define MK_SERVER_EVENTS_OFFLOAD_H

struct mk_shared;

/**
 * The pools of work on the side, one for each kind.
 * @param handler_threads  of MK_WORK_HANDLER, for one lane
 */
void mk_offload_init(struct mk_shared *shared, unsigned handler_threads);
/** Finish what waits, wait for what runs. Twice is once. */
void mk_offload_end(struct mk_shared *shared);
/** After mk_offload_end. */
void mk_offload_fini(struct mk_shared *shared);

#endif
