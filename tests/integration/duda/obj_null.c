/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("obj_null", "calls with arguments that cannot be");

static int wrong; /* calls that did not say so */

#define REFUSES(call) wrong += !(call)

static void files(void)
{
    REFUSES(data->set_path(NULL) == -1);
    REFUSES(data->_set_path(NULL, "/tmp") == -1 && data->_get_path(NULL) == NULL);
    REFUSES(data->_locate(NULL, "x") == NULL);
    REFUSES(fconf->_get_path(NULL) == NULL && fconf->_set_path(NULL, "/tmp") == -1);
    REFUSES(fconf->read_conf(NULL) == NULL && fconf->_read_conf(NULL, "x") == NULL);
    REFUSES(fconf->read_file(NULL) == NULL);
    REFUSES(fconf->section_get(NULL, "x") == NULL);
    REFUSES(fconf->section_key(NULL, "x", DUDA_CONFIG_STR) == NULL);
    fconf->free_conf(NULL);
    mem->free(NULL);
}

static void events(void)
{
    uint64_t bits = 0;

    REFUSES(event->add(-1, DUDA_EVENT_READ, 0, NULL, NULL, NULL, NULL, NULL, &bits) == -1);
    REFUSES(event->add(60000, DUDA_EVENT_READ, 0, NULL, NULL, NULL, NULL, NULL, &bits) == -1);
    REFUSES(event->mode(-1, DUDA_EVENT_READ, 0) == -1 && event->delete (-1) == -1);
    REFUSES(event->lookup(-1) == NULL && event->lookup(60000) == NULL);
    REFUSES(monkey->event_add(-1, 0, NULL, 0) == -1 && monkey->event_del(-1) == -1);
    REFUSES(monkey->event_socket_change_mode(-1, 0, 0) == -1);
    REFUSES(monkey->worker_spawn(NULL, NULL) == 0 && monkey->worker_rename(NULL) == -1);
    REFUSES(monkey->header_add(NULL, "A: b", 4) == -1);
    monkey->header_set_http_status(NULL, 200);
}

static void talk(void)
{
    duda_logger_t none = {.enabled = 1};

    msg->info(NULL);
    REFUSES(logger->print(NULL, "x") == 0 && logger->print(&none, "x") == -1);
    console->_debug(NULL, "file.c", 1, "x");
    debug->trace();
    debug->stacktrace();
}

void calls(duda_request_t *dr)
{
    duda_global_t late = {0};

    wrong = 0;
    files();
    events();
    talk();
    global->init(&late, NULL, NULL); /* too late: logged */
    duda_event_set_signal_callback(NULL);
    worker->pre_loop(NULL, NULL);
    REFUSES(duda_logger_create(NULL, NULL) == -1);
    response->http_status(dr, 200);
    response->printf(dr, "%d", wrong);
    response->end(dr, NULL);
}

int duda_main()
{
    global->init(NULL, NULL, NULL);
    worker->pre_loop(NULL, NULL);
    REFUSES(worker->spawn(NULL, NULL) == -1 && session->init(NULL) == -1);
    map->static_add("/calls", "calls");
    return wrong;
}
