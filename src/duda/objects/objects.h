/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_H
#define MK_DUDA_OBJECTS_H

/*
 * The objects that services call, each defined in the file of its name. The tables are the same for all services;
 * what belongs to one service is found through its web_service, its request, or the service that runs on this thread.
 */

#include "webservice.h"

extern const struct duda_api_msg mk_duda_msg;
extern const struct duda_api_debug mk_duda_debug;
extern const struct duda_api_mem mk_duda_mem;
extern const struct duda_api_gc mk_duda_gc;
extern const struct duda_api_request mk_duda_request;
extern const struct duda_api_response mk_duda_response;
extern const struct duda_api_qs mk_duda_qs;
extern const struct duda_api_query mk_duda_query;
extern const struct duda_api_form mk_duda_form;
extern const struct duda_api_sse mk_duda_sse;
extern const struct duda_api_timer mk_duda_timer;
extern const struct duda_api_task mk_duda_task;
extern const struct duda_api_journal mk_duda_journal;
extern const struct duda_api_metrics mk_duda_metrics;
extern const struct duda_api_cache mk_duda_cache;
extern const struct duda_api_guard mk_duda_guard;
extern const struct duda_api_input mk_duda_input;
extern const struct duda_api_http mk_duda_http;
extern const struct duda_api_view mk_duda_view;
extern const struct duda_api_cookie mk_duda_cookie;
extern const struct duda_api_session mk_duda_session;
extern const struct duda_api_console mk_duda_console;
extern const struct duda_api_xtime mk_duda_xtime;
extern const struct duda_api_global mk_duda_global;
extern const struct duda_api_logger mk_duda_logger;
extern const struct duda_api_data mk_duda_data;
extern const struct duda_api_conf mk_duda_conf;
extern const struct duda_api_fconf mk_duda_fconf;
extern const struct duda_api_event mk_duda_event;
extern const struct duda_api_worker mk_duda_worker;
extern const struct duda_api_map mk_duda_map;
extern const struct duda_api_router mk_duda_router;
extern const struct duda_api_dthread mk_duda_dthread;
extern const struct duda_api_param_by_index mk_duda_param_by_index;
extern const struct duda_api_param_by_key mk_duda_param_by_key;

/* Calls without an object. */
void mk_duda_global_init(struct web_service *ws, duda_global_t *g, void *(*callback)(void *),
                         void *arg);
int mk_duda_logger_create(struct web_service *ws, duda_logger_t *log, char *name);
void mk_duda_set_signal_callback(struct web_service *ws, void (*func)(int fd, uint64_t val));
struct mk_request *mk_duda_request_given(duda_request_t *dr);

#endif
