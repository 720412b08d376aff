/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("obj_files", "data, fconf and the helpers of monkey");

static const char *or_none(const char *text)
{
    return text ? text : "none";
}

static void data_calls(duda_request_t *dr)
{
    const char *old = data->get_path();

    response->http_status(dr, 200);
    response->printf(dr, "%s\n%s\n", or_none(old), or_none(data->locate("a.txt")));
    response->printf(dr, "%d ", data->set_path("/no/such/folder"));
    response->printf(dr, "%d ", data->set_path(NULL));
    response->printf(dr, "%d\n", data->set_path("/tmp"));
    response->printf(dr, "%s\n%s\n%s\n", old, data->get_path(), data->locate("a.txt"));
    response->printf(dr, "%d\n", data->set_path(old));
    response->end(dr, NULL);
}

static void conf_calls(duda_request_t *dr)
{
    struct duda_config *good = fconf->read_conf("good.conf");
    struct duda_config_section *section = fconf->section_get(good, "first");
    struct mk_list *list = fconf->section_key(section, "list", DUDA_CONFIG_LIST), *at;
    char *name = fconf->section_key(section, "NAME", DUDA_CONFIG_STR);
    char *path = NULL, *text;
    unsigned long len;

    gc->add(dr, name);
    response->http_status(dr, 200);
    response->printf(dr, "%s %ld %ld %ld %ld %d\n", or_none(name),
                     (long)fconf->section_key(section, "number", DUDA_CONFIG_NUM),
                     (long)fconf->section_key(section, "yes", DUDA_CONFIG_BOOL),
                     (long)fconf->section_key(section, "no", DUDA_CONFIG_BOOL),
                     (long)fconf->section_key(section, "name", DUDA_CONFIG_BOOL),
                     fconf->section_key(section, "missing", DUDA_CONFIG_STR) == NULL);
    mk_list_foreach(at, list)
    {
        response->printf(dr, "[%s]", mk_list_entry(at, struct duda_string_line, _head)->val);
    }
    monkey->str_split_free(list);
    response->printf(dr, "\n%d", fconf->section_get(good, "other") == NULL);
    fconf->free_conf(good);
    response->printf(dr, " %d %d\n", fconf->read_conf("bad.conf") == NULL,
                     fconf->read_conf("missing.conf") == NULL);
    monkey->str_build(&path, &len, "%splain", fconf->get_path());
    text = fconf->read_file(path);
    response->printf(dr, "%s|%d\n", or_none(text), fconf->read_file("/no/such/file") == NULL);
    mem->free(path);
    mem->free(text);
    response->end(dr, NULL);
}

static void server_calls(duda_request_t *dr)
{
    const struct sched_list_node *node = monkey->sched_worker_info();

    monkey->header_set_http_status(dr->sr, 201);
    monkey->header_add(dr->sr, "X-Added: yes", 12);
    response->printf(dr, "%d %d %d", monkey->config->workers,
                     node && node->idx >= 0 && node->idx < monkey->config->workers,
                     node && pthread_equal(node->tid, pthread_self()));
    response->end(dr, NULL);
}

int duda_main()
{
    router->map("/data", data_calls);
    router->map("/conf", conf_calls);
    router->map("/server", server_calls);
    console->dashboard("/dash");
    return console->_dashboard("dash", self) == -1 && console->_dashboard("/a/:b", self) == -1 ? 0
                                                                                               : 1;
}
