/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/events/event.h"

#include "objects/events/loops.h"

const struct duda_api_event mk_duda_event = {
    .add = mk_duda_watch_add,
    .lookup = mk_duda_watch_lookup,
    .mode = mk_duda_watch_mode,
    .delete = mk_duda_watch_delete,
    .signal = mk_duda_signal,
    .create_signal_fd = mk_duda_create_signal_fd,
    .loop_create = mk_duda_loop_create,
    .loop_add = mk_duda_loop_add,
    .loop_delete = mk_duda_loop_delete,
    .loop_timeout_create = mk_duda_loop_timeout_create,
    .loop_channel_create = mk_duda_loop_channel_create,
    .loop_wait = mk_duda_loop_wait,
    .loop_backend = mk_duda_loop_backend,
};
