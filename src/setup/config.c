/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/config.h"

#include "base/code.h"
#include "base/heap.h"
#include "base/limits.h"
#include "base/str.h"
#include "core/fd.h"
#include "setup/host.h"
#include "setup/one_file.h"
#include "setup/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every file of a configuration is opened here, so that the list of them is complete. */
MK_AT_START static int open_text(void *arg, const char *path)
{
    struct mk_config *config = arg;
    int fd, err;

    if (mk_host_name_of(path))
        return mk_host_open_text(config->host, path);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        err = mk_error_from_errno(errno);
        if (err != MK_E_ACCESS || !config->host || !config->host->open_file)
            return err;
        fd = config->host->open_file(config->host->arg, path, O_RDONLY, 0);
        if (fd < 0)
            return fd;
    }
    if (mk_words_append(&config->read_paths, &config->text, mk_str_from(path)) < 0) {
        mk_fd_close(&fd);
        return MK_E_NOMEM;
    }
    return fd;
}

MK_AT_START int mk_config_new(struct mk_config **out, const struct mk_host *host)
{
    struct mk_config *config = mk_heap_zalloc(1, sizeof(*config));

    if (!config)
        return MK_E_NOMEM;
    mk_arena_init(&config->arena, NULL, 0, SIZE_MAX);
    mk_arena_init(&config->text, NULL, 0, SIZE_MAX);
    config->host = host;
    config->conf_host = (struct mk_conf_host){.open = open_text, .arg = config};
    mk_faults_init(&config->faults, &config->text);
    mk_tree_init(&config->server, &config->text);
    mk_tree_init(&config->mimes, &config->text);
    mk_tree_init(&config->plugins, &config->text);
    mk_tree_init(&config->overrides, &config->text);
    *out = config;
    return 0;
}

void mk_config_end(struct mk_config *config)
{
    mk_arena_fini(&config->text);
    mk_arena_fini(&config->arena);
    mk_heap_free(config);
}

MK_AT_START void mk_config_free(struct mk_config *config)
{
    if (mk_config_is_free(config))
        mk_config_end(config);
}

MK_AT_START int mk_config_on_free(struct mk_config *config, void (*fn)(void *arg), void *arg)
{
    return config && fn ? mk_arena_on_free(&config->arena, fn, arg) : MK_E_INVALID;
}

void mk_config_drop_text(struct mk_config *config)
{
    mk_arena_fini(&config->text);
    mk_faults_init(&config->faults, &config->text);
    config->source = (struct mk_snapshot_source){.nsites = 0};
    config->read_paths.count = 0;
    config->is_taken = true;
    mk_heap_trim();
}

/* ---- reading files ---- */

/* A part that was named is looked for in the configuration directory first, then as given. */
static const char *find_part(struct mk_config *config, const char *given, const char *usual)
{
    const char *path;
    struct stat st;

    if (given && (given[0] == '/' || !config->dir))
        return given;
    if (!config->dir)
        return NULL;
    path = mk_arena_printf(&config->text, "%s/%s", config->dir, given ? given : usual);
    if (path && given && stat(path, &st) < 0 && stat(given, &st) == 0)
        return given;
    return path;
}

static int read_file(struct mk_config *config, struct mk_tree *tree, const char *path)
{
    return mk_conf_read_file(tree, &config->faults, path, &config->conf_host, &config->files_read);
}

/* Parts that a small installation leaves out. */
static int read_optional(struct mk_config *config, struct mk_tree *tree, const char *given,
                         const char *usual)
{
    const char *path = find_part(config, given, usual);
    struct stat st;

    if (!path || (!given && stat(path, &st) < 0 && errno == ENOENT))
        return 0;
    tree->file = path;
    return read_file(config, tree, path);
}

static bool is_default(const char *path)
{
    return mk_str_has_suffix(mk_str_from(path), MK_STR("/default"));
}

static int read_site(struct mk_config *config, const char *path)
{
    struct mk_site_file *site = &config->sites[config->nsites++];
    int err;

    site->path = path;
    mk_tree_init(&site->tree, &config->text);
    site->tree.file = path;
    err = read_file(config, &site->tree, path);
    config->nsites -= config->files_read > MK_LIMIT_CONF_FILES; /* it has not been read */
    return err;
}

/* Sites of monkey.conf are called by the lines of their [HOST]. */
static int take_hosts(struct mk_config *config)
{
    struct mk_tree tree;

    for (mk_tree_init(&tree, &config->text); mk_file_next_site(&config->hosts, &tree);
         mk_tree_init(&tree, &config->text)) {
        const struct mk_origin *at = &tree.first->at;
        const char *path = mk_arena_printf(&config->text, "%s:%u", at->file, at->line);

        if (!path)
            return MK_E_NOMEM;
        config->sites[config->nsites++] = (struct mk_site_file){.path = path, .tree = tree};
    }
    return 0;
}

/* sites/default, then those of monkey.conf, whose first one is the default site otherwise, then the other files. */
static int read_each_site(struct mk_config *config, const char *dir, const char *const *paths,
                          int count)
{
    int err = 0, first = -1;

    config->have_sites = true;
    config->sites = mk_arena_zalloc(&config->text,
                                    (config->nhosts + (size_t)count + 1) * sizeof(*config->sites));
    if (!config->sites)
        return MK_E_NOMEM;
    for (int i = 0; i < count && first < 0; i++)
        first = is_default(paths[i]) ? i : -1;
    if (first >= 0)
        err = read_site(config, paths[first]);
    else if (config->nhosts == 0)
        mk_fault_add(&config->faults, NULL,
                     "%s/default is missing: it answers requests for unknown hosts", dir);
    if (err == 0)
        err = take_hosts(config);
    for (int i = 0; i < count && err == 0; i++) {
        if (i != first)
            err = read_site(config, paths[i]);
    }
    return err;
}

/* @param dir  NULL: there is no configuration directory */
static int read_sites(struct mk_config *config, const char *dir, bool is_given)
{
    const char *const *paths = NULL;
    int count = dir ? mk_conf_list_dir(&config->text, dir, NULL, &paths) : 0;

    if (count == MK_E_NOMEM)
        return count;
    if (count == MK_E_NOENT && config->nhosts > 0 && !is_given)
        count = 0;
    if (count >= 0)
        return dir || config->nhosts > 0 ? read_each_site(config, dir, paths, count) : 0;
    mk_fault_add(&config->faults, NULL,
                 "cannot read the sites directory %s: %s; a site may also be a [HOST] in "
                 "monkey.conf",
                 dir, mk_error_text(count));
    return 0;
}

int mk_config_read_plugin(struct mk_config *config, const char *name, struct mk_tree *tree)
{
    const char *dir, *const *paths;
    int count, err = 0;

    if (!config->plugins_conf)
        return 0;
    dir = mk_arena_printf(&config->text, "%s/%s", config->plugins_conf, name);
    if (!dir)
        return MK_E_NOMEM;
    count = mk_conf_list_dir(&config->text, dir, ".conf", &paths);
    if (count == MK_E_NOMEM)
        return count;
    if (count < 0 && count != MK_E_NOENT)
        mk_fault_add(&config->faults, NULL, "cannot read the plugin's directory %s: %s", dir,
                     mk_error_text(count));
    for (int i = 0; i < count && err == 0; i++)
        err = read_file(config, tree, paths[i]);
    return err;
}

static int read_server(struct mk_config *config, const char *path)
{
    const struct mk_divided to = {&config->server, &config->plugins, &config->mimes,
                                  &config->common, &config->hosts};
    int err;

    if (!path) {
        mk_fault_add(&config->faults, NULL,
                     "no configuration directory and no server file were given");
        return 0;
    }
    err = read_file(config, &config->server, path);
    config->nhosts = mk_file_divide(&config->server, &to);
    return err;
}

MK_AT_START int mk_config_read(struct mk_config *config, const struct mk_config_files *files)
{
    const char *sites;
    int err;

    if (!mk_config_is_free(config) || !files)
        return MK_E_INVALID;
    if (files->dir) {
        config->dir = mk_arena_strdup(&config->text, mk_str_from(files->dir));
        if (!config->dir)
            return MK_E_NOMEM;
    }
    config->plugins_conf = find_part(config, files->plugins, "plugins");
    if (config->plugins_conf)
        config->plugins_conf = mk_arena_strdup(&config->text, mk_str_from(config->plugins_conf));
    err = read_optional(config, &config->mimes, files->mimes, "monkey.mime");
    if (err == 0) /* what it says of types has precedence */
        err = read_server(config, find_part(config, files->server, "monkey.conf"));
    if (err == 0)
        err = read_optional(config, &config->plugins, files->load, "plugins.load");
    sites = find_part(config, files->sites, "sites");
    return err == 0 ? read_sites(config, sites, files->sites) : err;
}

/* ---- settings from callers ---- */

static int set_in(struct mk_tree *tree, const char *section, const char *key, const char *value,
                  const struct mk_origin *at)
{
    struct mk_section *s = mk_section_find(tree->first, mk_str_from(section));

    if (!s)
        s = mk_tree_add_section(tree, mk_str_from(section), at);
    return s && mk_tree_add(tree, s, mk_str_from(key), mk_str_from(value), at, at) ? 0 : MK_E_NOMEM;
}

MK_AT_START int mk_config_set(struct mk_config *config, const char *section, const char *key,
                              const char *value, const char *origin)
{
    struct mk_origin at = {0};

    if (!mk_config_is_free(config) || !section || !key || !value || !origin)
        return MK_E_INVALID;
    at.file = mk_arena_strdup(&config->text, mk_str_from(origin));
    if (!at.file)
        return MK_E_NOMEM;
    config->checked = false;
    return set_in(&config->overrides, section, key, value, &at);
}

MK_AT_START static struct mk_site_file *find_site(struct mk_site_file *sites, size_t count,
                                                  const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sites[i].path, name) == 0)
            return &sites[i];
    }
    return NULL;
}

MK_AT_START static struct mk_site_file *add_site(struct mk_config *config, const char *name)
{
    const size_t count = config->nmore_sites;
    struct mk_site_file *more = mk_arena_alloc(&config->text, (count + 1) * sizeof(*more));
    const char *path = mk_arena_strdup(&config->text, mk_str_from(name));

    if (!more || !path)
        return NULL;
    if (count > 0)
        memcpy(more, config->more_sites, count * sizeof(*more));
    more[count].path = path;
    mk_tree_init(&more[count].tree, &config->text);
    config->more_sites = more;
    config->nmore_sites++;
    return &more[count];
}

MK_AT_START int mk_config_set_site(struct mk_config *config, const char *name, const char *section,
                                   const char *key, const char *value, const char *origin)
{
    struct mk_origin at = {0};
    struct mk_site_file *site;

    if (!mk_config_is_free(config) || !name || !section || !key || !value || !origin)
        return MK_E_INVALID;
    at.file = mk_arena_strdup(&config->text, mk_str_from(origin));
    site = find_site(config->sites, config->nsites, name);
    if (!site)
        site = find_site(config->more_sites, config->nmore_sites, name);
    if (!site)
        site = add_site(config, name);
    if (!at.file || !site)
        return MK_E_NOMEM;
    config->checked = false;
    return set_in(&site->tree, section, key, value, &at);
}

MK_AT_START int mk_config_plugin_dir(struct mk_config *config, const char *dir)
{
    if (!mk_config_is_free(config) || !dir)
        return MK_E_INVALID;
    config->plugin_dir = mk_arena_strdup(&config->text, mk_str_from(dir));
    config->checked = false;
    return config->plugin_dir ? 0 : MK_E_NOMEM;
}

MK_AT_START int mk_config_one_shot(struct mk_config *config, const char *dir)
{
    const struct mk_origin at = {.file = "one-shot"};

    if (!mk_config_is_free(config) || !dir)
        return MK_E_INVALID;
    config->sites = mk_arena_zalloc(&config->text, sizeof(*config->sites));
    if (!config->sites)
        return MK_E_NOMEM;
    config->nsites = 1;
    config->have_sites = true;
    config->optional = "dirlisting";
    config->sites[0].path = at.file;
    mk_tree_init(&config->sites[0].tree, &config->text);
    return set_in(&config->sites[0].tree, "HOST", "DocumentRoot", dir, &at);
}

/* ---- checking ---- */

MK_AT_START void mk_config_follow(struct mk_config *config, const struct mk_config *before)
{
    if (!mk_config_is_free(config) || config->before == before)
        return;
    config->before = before;
    config->checked = false;
}

MK_AT_START int mk_config_check(struct mk_config *config)
{
    if (!config)
        return MK_E_INVALID;
    if (!config->checked) {
        config->check_result = mk_config_build(config);
        config->checked = true;
    }
    return config->check_result;
}

static void show(const struct mk_fault *fault, mk_text_fn fn, void *arg)
{
    struct mk_arena scratch;
    const char *text;

    mk_arena_init(&scratch, NULL, 0, SIZE_MAX);
    text = mk_fault_text(fault, &scratch);
    fn(arg, text ? text : "out of memory\n", strlen(text ? text : "out of memory\n"));
    mk_arena_fini(&scratch);
}

MK_AT_START void mk_config_faults(const struct mk_config *config, mk_text_fn fn, void *arg)
{
    for (const struct mk_fault *fault = config->faults.first; fault; fault = fault->next)
        show(fault, fn, arg);
}

static struct mk_config_fault as_fault(const struct mk_origin *at)
{
    return (struct mk_config_fault){
        .file = at->file, .line = at->line, .column = at->column, .text = at->text};
}

MK_AT_START void mk_config_each_fault(const struct mk_config *config,
                                      void (*fn)(void *arg, const struct mk_config_fault *fault),
                                      void *arg)
{
    for (const struct mk_fault *at = config->faults.first; at; at = at->next) {
        struct mk_config_fault fault = as_fault(&at->at);

        fault.message = mk_str_from(at->message);
        fault.is_warning = at->is_warning;
        fn(arg, &fault);
    }
}

static struct mk_origin place_of(const struct mk_config *config, const char *key)
{
    const struct mk_setting *s = mk_tree_find(&config->source.server, "SERVER", key);

    return s ? s->value_at : (struct mk_origin){0};
}

MK_AT_START void mk_config_place(const struct mk_config *config, const char *key,
                                 struct mk_config_fault *fault)
{
    const struct mk_origin at = place_of(config, key);

    *fault = as_fault(&at);
}

MK_AT_START void mk_config_fault_of(const struct mk_config *config, const char *key,
                                    const char *message, mk_text_fn fn, void *arg)
{
    const struct mk_fault fault = {.at = place_of(config, key), .message = message};

    show(&fault, fn, arg);
}

MK_AT_START void mk_config_unreachable(const struct mk_config *config, mk_text_fn fn, void *arg)
{
    mk_snapshot_unreachable(&config->snapshot, fn, arg);
}

MK_AT_START int mk_config_facts(const struct mk_config *config, struct mk_config_facts *facts)
{
    const struct mk_server_settings *set = &config->snapshot.set;
    size_t size = facts->size; /* an older caller has fewer members */
    struct mk_config_facts all;

    if (!config->checked)
        return MK_E_INVALID;
    all = (struct mk_config_facts){
        .size = size,
        .pid_file = set->pid_file,
        .user = set->user,
        .fd_limit = (uint64_t)set->fd_limit,
        .graceful_ms = (unsigned)set->graceful_ms,
        .error_log = set->error_log,
        .core_dumps = set->core_dumps,
        .warnings = config->faults.warnings,
        .restart = set->restart == 0 ? -1 : set->restart & 1,
    };
    memcpy(facts, &all, size < sizeof(all) ? size : sizeof(all));
    return 0;
}

MK_AT_START void mk_config_resources(const struct mk_config *config,
                                     void (*fn)(void *arg, enum mk_resource kind, const char *name),
                                     void *arg)
{
    const struct mk_server_settings *set = &config->snapshot.set;

    for (size_t i = 0; i < set->nlistens; i++) {
        const struct mk_listen *listen = &set->listens[i];
        char name[MK_LISTEN_SOCKET];

        mk_listen_socket_name(listen->text, name);
        if (mk_listen_is_for_some(listen))
            fn(arg, MK_RESOURCE_SOCKET, name);
        else
            fn(arg, MK_RESOURCE_LISTEN, listen->text);
    }
    for (size_t i = 0; i < config->read_paths.count; i++)
        fn(arg, MK_RESOURCE_READ, config->read_paths.items[i].p);
    for (size_t i = 0; i < config->source.nneeds; i++)
        fn(arg, config->source.needs[i].kind, config->source.needs[i].name);
    if (set->error_log && strcmp(set->error_log, "stderr") != 0 &&
        strcmp(set->error_log, "syslog") != 0)
        fn(arg, MK_RESOURCE_LOG, set->error_log);
}
