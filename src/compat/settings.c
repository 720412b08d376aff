/* SPDX-License-Identifier: Apache-2.0 */
#include "compat/settings_int.h"

#include <monkey/plugin.h>

#include <stdlib.h>

struct mk_compat_setting {
    struct mk_compat_setting *next; /* older */
    char *site, *section, *key, *value;
    bool adds;
};

static void free_setting(struct mk_compat_setting *s)
{
    free(s->site);
    free(s->section);
    free(s->key);
    free(s->value);
    free(s);
}

void mk_compat_forget(struct mk_compat *c, struct mk_compat_setting *before)
{
    while (c->settings != before) {
        struct mk_compat_setting *s = c->settings;

        c->settings = s->next;
        free_setting(s);
    }
}

bool mk_compat_set(struct mk_compat *c, const char *site, const char *section, const char *key,
                   const char *value, bool adds)
{
    struct mk_compat_setting *s = calloc(1, sizeof(*s));

    if (!s)
        return false;
    *s = (struct mk_compat_setting){
        .next = c->settings,
        .site = site ? strdup(site) : NULL,
        .section = strdup(section),
        .key = strdup(key),
        .value = value ? strdup(value) : NULL,
        .adds = adds,
    };
    if ((site && !s->site) || !s->section || !s->key || (value && !s->value)) {
        free_setting(s);
        return false;
    }
    c->settings = s;
    return true;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Has a newer setting, down to this one, taken its place? */
static bool is_replaced(const struct mk_compat_setting *newer, const struct mk_compat_setting *s)
{
    for (; newer != s; newer = newer->next) {
        if (!s->adds && is_same(newer->site, s->site) && is_same(newer->section, s->section) &&
            is_same(newer->key, s->key))
            return true;
    }
    return false;
}

/* The oldest first. */
static int apply(struct mk_config *config, const struct mk_compat *c,
                 const struct mk_compat_setting *s)
{
    int err = s ? apply(config, c, s->next) : 0;

    if (!s || err < 0 || !s->value || is_replaced(c->settings, s))
        return err;
    return s->site
               ? mk_config_set_site(config, s->site, s->section, s->key, s->value, "the program")
               : mk_config_set(config, s->section, s->key, s->value, "the program");
}

struct mk_config *mk_compat_config(const struct mk_compat *c, const char *call)
{
    struct mk_config *config;
    int err = mk_config_new(&config, NULL);

    if (err == 0)
        err = apply(config, c, c->settings);
    else
        config = NULL;
    /* the plugin's hooks change what is behind the pointer only in start */
    if (err == 0)
        err = mk_config_plugin(config, c->plugin, (void *)(uintptr_t)c);
    if (err == 0)
        return config;
    mk_compat_warn(call, "%s", mk_error_text(err));
    mk_config_free(config);
    return NULL;
}

static void warn_of_fault(void *arg, const char *text, size_t len)
{
    while (len > 0 && text[len - 1] == '\n')
        len--;
    mk_compat_warn(arg, "%.*s", (int)len, text);
}

void mk_compat_warn_of_faults(const struct mk_config *config, const char *call)
{
    mk_config_faults(config, warn_of_fault, (void *)(uintptr_t)call);
}

bool mk_compat_check(struct mk_compat *c, struct mk_compat_setting *before, const char *call)
{
    struct mk_config *config = mk_compat_config(c, call);
    int err = config ? mk_config_check(config) : MK_E_NOMEM;

    if (config && err < 0)
        mk_compat_warn(call, "%s", mk_error_text(err));
    else if (config)
        mk_compat_warn_of_faults(config, call);
    mk_config_free(config);
    if (err != 0)
        mk_compat_forget(c, before);
    return err == 0;
}

bool mk_compat_finish(struct mk_compat *c, struct mk_compat_setting *before, bool done,
                      const char *call)
{
    if (!done)
        mk_compat_forget(c, before);
    done = done && mk_compat_check(c, before, call);
    mk_compat_put(c);
    return done;
}
