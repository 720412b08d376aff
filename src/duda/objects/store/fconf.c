/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/store/dirs.h"
#include "objects/store/fconf_parse.h"
#include "objects/plain/monkey_files.h"
#include "objects/plain/monkey_text.h"
#include "service/service.h"

#include <strings.h>

static const char *get_path(struct web_service *ws)
{
    return ws ? mk_duda_dir_get(ws, &ws->confdir) : NULL;
}

static int set_path(struct web_service *ws, const char *dir)
{
    return ws ? mk_duda_dir_set(ws, &ws->confdir, dir) : -1;
}

static struct duda_config *parse(const char *path, char why[MK_DUDA_FCONF_WHY_MAX])
{
    char *text = mk_duda_file_to_buffer(path);
    struct duda_config *config;

    if (!text) {
        (void)snprintf(why, MK_DUDA_FCONF_WHY_MAX, "it cannot be read");
        return NULL;
    }
    config = mk_duda_fconf_parse(path, text, why);
    free(text);
    return config;
}

static struct duda_config *read_conf(struct web_service *ws, const char *file)
{
    char why[MK_DUDA_FCONF_WHY_MAX];
    struct duda_config *config;
    char *path;

    if (!ws)
        return NULL;
    path = mk_duda_dir_join(ws, &ws->confdir, file);
    if (!path) {
        mk_duda_log(mk_duda_service_of(ws), MK_LOG_ERROR, "fconf->read_conf(): no ConfDir");
        return NULL;
    }
    config = parse(path, why);
    if (!config)
        mk_duda_log(mk_duda_service_of(ws), MK_LOG_ERROR, "fconf->read_conf(): %s: %s", path, why);
    free(path);
    return config;
}

static struct duda_config_section *section_get(struct duda_config *config, const char *name)
{
    struct mk_list *at;

    if (!config || !name)
        return NULL;
    mk_list_foreach(at, &config->sections)
    {
        struct duda_config_section *section = mk_list_entry(at, struct duda_config_section, _head);

        if (strcasecmp(section->name, name) == 0)
            return section;
    }
    return NULL;
}

static const char *find(struct duda_config_section *section, const char *key)
{
    struct mk_list *at;

    if (!section || !key)
        return NULL;
    mk_list_foreach(at, &section->entries)
    {
        struct duda_config_entry *entry = mk_list_entry(at, struct duda_config_entry, _head);

        if (strcasecmp(entry->key, key) == 0)
            return entry->val;
    }
    return NULL;
}

static long truth_of(const char *text)
{
    if (strcasecmp(text, "on") == 0)
        return 1;
    return strcasecmp(text, "off") == 0 ? 0 : -1;
}

static void *section_key(struct duda_config_section *section, char *key, int type)
{
    const char *text = find(section, key);

    if (!text)
        return NULL;
    switch (type) {
    case DUDA_CONFIG_STR:
        return strdup(text);
    case DUDA_CONFIG_NUM:
        return (void *)strtol(text, NULL, 10);
    case DUDA_CONFIG_BOOL:
        return (void *)truth_of(text);
    case DUDA_CONFIG_LIST:
        return mk_duda_str_split_line(text);
    default:
        return NULL;
    }
}

const struct duda_api_fconf mk_duda_fconf = {
    ._get_path = get_path,
    ._set_path = set_path,
    .read_file = mk_duda_file_to_buffer,
    ._read_conf = read_conf,
    .free_conf = mk_duda_fconf_free,
    .section_get = section_get,
    .section_key = section_key,
};
