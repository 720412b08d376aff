/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_DTHREADS_H
#define MK_DUDA_SERVICE_DTHREADS_H

/** The dthreads of the calling thread that live, counted by objects/events/dthread.c. They may answer any request. */
extern _Thread_local unsigned mk_duda_ndthreads;

#endif
