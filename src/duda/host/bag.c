/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"
#include "host/load.h"
#include "host/upgrade.h"
#include "package/package.h"

/* The tables are the same for all services; `monkey` has facts of a server, so its part puts it in. */
void mk_duda_fill_bag(struct duda_api_objects *o)
{
    *o = (struct duda_api_objects){
        .size = sizeof(*o),
        .map = &mk_duda_map,
        .router = &mk_duda_router,
        .msg = &mk_duda_msg,
        .request = &mk_duda_request,
        .response = &mk_duda_response,
        .debug = &mk_duda_debug,
        .event = &mk_duda_event,
        .console = &mk_duda_console,
        .logger = &mk_duda_logger,
        .gc = &mk_duda_gc,
        .mem = &mk_duda_mem,
        .session = &mk_duda_session,
        .cookie = &mk_duda_cookie,
        .qs = &mk_duda_qs,
        .data = &mk_duda_data,
        .conf = &mk_duda_conf,
        .fconf = &mk_duda_fconf,
        .global = &mk_duda_global,
        .worker = &mk_duda_worker,
        .xtime = &mk_duda_xtime,
        .dthread = &mk_duda_dthread,
        .param_by_index = &mk_duda_param_by_index,
        .param_by_key = &mk_duda_param_by_key,
        .global_init = mk_duda_global_init,
        .logger_create = mk_duda_logger_create,
        .set_signal_callback = mk_duda_set_signal_callback,
        .load_package = mk_duda_load_package,
        .host = &mk_duda_host,
        .query = &mk_duda_query,
        .form = &mk_duda_form,
        .sse = &mk_duda_sse,
        .timer = &mk_duda_timer,
        .task = &mk_duda_task,
        .journal = &mk_duda_journal,
        .metrics = &mk_duda_metrics,
        .cache = &mk_duda_cache,
        .guard = &mk_duda_guard,
        .input = &mk_duda_input,
        .http = &mk_duda_http,
        .view = &mk_duda_view,
        .request_of = mk_duda_request_given,
    };
}
