/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include "kit/text/words.h"

enum { PATH_MAX_LEN = 48 }; /* with "/ready" a bit of status_site.lengths */

/* ---- the section ---- */

static int parse_condition(struct mk_setup *setup, const struct mk_setting *s)
{
    struct status_settings *set = mk_setup_settings(setup);
    struct condition *c = status_condition_read(setup, s->value);

    if (!c)
        return mk_setup_refuse(setup, s, "METRIC [LABEL=VALUE]... [>= NUMBER | <= NUMBER]");
    if (set->nconditions == CONDITIONS_MAX) {
        mk_setup_fault(setup, &s->value_at, "ReadyWhen: at most %d lines", CONDITIONS_MAX);
        return MK_E_INVALID;
    }
    set->nconditions++;
    if (set->last)
        set->last->next = c;
    else
        set->conditions = c;
    set->last = c;
    return 0;
}

#define AT(member) .offset = offsetof(struct status_settings, member)

static const struct mk_field fields[] = {
    {.name = "Metrics", .type = MK_FIELD_STRING, AT(metrics), .fallback = "/metrics"},
    {.name = "Page", .type = MK_FIELD_STRING, AT(page), .fallback = "/status"},
    {.name = "Health", .type = MK_FIELD_STRING, AT(health), .fallback = "/health"},
    {.name = "Allow",
     .type = MK_FIELD_WORDS,
     .flags = MK_FIELD_REPEAT,
     AT(allow),
     .fallback = "127.0.0.0/8 ::1"},
    {.name = "HealthAllow", .type = MK_FIELD_WORDS, .flags = MK_FIELD_REPEAT, AT(health_allow)},
    {.name = "HealthLog", .type = MK_FIELD_BOOL, AT(health_log), .fallback = "off"},
    {.name = "ReadyWhen",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = parse_condition},
};

static const struct mk_section_spec section =
    MK_SECTION("STATUS", MK_SECTION_FILE | MK_SECTION_SITE | MK_SECTION_INHERIT,
               struct status_settings, fields);
const struct mk_section_spec *const status_sections[] = {&section, NULL};

/* ---- paths ---- */

static int set_path(struct mk_setup *setup, struct status_site *site, enum status_path which,
                    const char *path, const char *end)
{
    const struct mk_str first = mk_str_from(path), second = mk_str_from(end);
    char *text = mk_setup_alloc(setup, first.len + second.len + 1);

    if (!text)
        return MK_E_NOMEM;
    memcpy(text, first.p, first.len);
    memcpy(text + first.len, second.p, second.len);
    site->paths[which] = (struct mk_str){text, first.len + second.len};
    site->lengths |= UINT64_C(1) << site->paths[which].len;
    return 0;
}

/* @return whether it is to answer; a path that is none is a fault. */
static bool is_path(struct mk_setup *setup, const void *set, const char *key, const char *path)
{
    const struct mk_str text = mk_str_from(path);

    if (text_is_word(text, MK_STR("off")))
        return false;
    if (text.p[0] == '/' && text.len > 1 && !memchr("/*", text.p[text.len - 1], 2) &&
        text.len <= PATH_MAX_LEN)
        return true;
    mk_setup_fault(setup, mk_setup_place(setup, set, key),
                   "%s: expected off or a path such as /status, of at most %d bytes and without a "
                   "slash at its end, got \"%.60s\"",
                   key, PATH_MAX_LEN, path);
    return false;
}

static int set_paths(struct mk_setup *setup, struct status_site *site)
{
    const struct status_settings *set = site->set;
    int err = 0;

    if (is_path(setup, set, "Metrics", set->metrics))
        err = set_path(setup, site, STATUS_METRICS, set->metrics, "");
    if (err == 0 && is_path(setup, set, "Page", set->page))
        err = set_path(setup, site, STATUS_PAGE, set->page, "");
    if (err < 0 || !is_path(setup, set, "Health", set->health))
        return err;
    err = set_path(setup, site, STATUS_HEALTH, set->health, "");
    if (err == 0)
        err = set_path(setup, site, STATUS_LIVE, set->health, "/live");
    return err < 0 ? err : set_path(setup, site, STATUS_READY, set->health, "/ready");
}

static void refuse_doubles(struct mk_setup *setup, const struct status_site *site)
{
    for (unsigned i = 0; i < STATUS_PATHS; i++) {
        for (unsigned j = 0; j < i; j++) {
            if (site->paths[i].p && site->paths[j].p && text_is(site->paths[i], site->paths[j]))
                mk_setup_fault(setup, mk_setup_place(setup, site->set, "Page"),
                               "[STATUS]: %s is the path of two", site->paths[i].p);
        }
    }
}

enum status_path status_path_of(const struct status_site *site, struct mk_str path)
{
    for (unsigned i = 0; i < STATUS_PATHS; i++) {
        if (site->paths[i].p && text_is(site->paths[i], path))
            return (enum status_path)i;
    }
    return STATUS_PATHS;
}

/* ---- a configuration ---- */

int status_check_match(struct mk_setup *setup, const struct mk_setting *line,
                       const struct mk_words *parameters, void **data)
{
    (void)parameters;
    *data = NULL;
    mk_setup_fault(
        setup, &line->value_at,
        "status: its paths are Metrics, Page and Health of [STATUS], not lines of Match");
    return 0;
}

int status_check(struct mk_setup *setup)
{
    struct status_config *config = mk_setup_alloc(setup, sizeof(*config));
    const struct status_settings *set = mk_setup_section(setup, &section, NULL);

    if (!config)
        return MK_E_NOMEM;
    config->last_site = &config->sites;
    config->counts_all = set && mk_setup_origin(setup, set);
    mk_setup_keep(setup, config);
    return 0;
}

static int read_guards(struct mk_setup *setup, struct status_site *site)
{
    const struct status_settings *set = site->set;
    const struct mk_words *words = set->health_allow.count > 0 ? &set->health_allow : &set->allow;
    int err = status_guard_read(setup, &set->allow, "Allow", mk_setup_place(setup, set, "Allow"),
                                &site->guard);

    if (err < 0)
        return err;
    return status_guard_read(setup, words, "HealthAllow", mk_setup_place(setup, set, "HealthAllow"),
                             &site->health_guard);
}

/* A site answers if it has the section; the first one also if the plugin's file has it. */
static const struct status_settings *answering(struct mk_setup *setup,
                                               const struct status_config *config)
{
    const struct status_settings *set = mk_setup_section(setup, &section, NULL);
    const bool is_default = config->nsites == 1;

    if (set && (mk_setup_origin(setup, set) || (is_default && config->counts_all)))
        return set;
    return NULL;
}

int status_check_site(struct mk_setup *setup)
{
    struct status_config *config = mk_setup_config(setup);
    const struct mk_words *names = mk_setup_site_names(setup);
    struct status_site *site = mk_setup_alloc(setup, sizeof(*site));

    if (!site)
        return MK_E_NOMEM;
    config->nsites++;
    site->set = answering(setup, config);
    mk_setup_keep(setup, site);
    mk_setup_act(setup, 0);
    if (!site->set && !config->counts_all)
        return 0;
    mk_setup_act(setup, MK_ACTS_FINISH | (site->set ? MK_ACTS_REQUEST : 0));
    site->name = mk_setup_copy(setup, names->count > 0 ? names->items[0] : MK_STR("default")).p;
    *config->last_site = site;
    config->last_site = &site->next;
    if (!site->name || (site->set && (set_paths(setup, site) < 0 || read_guards(setup, site) < 0)))
        return MK_E_NOMEM;
    if (site->set)
        refuse_doubles(setup, site);
    return 0;
}
