/* SPDX-License-Identifier: Apache-2.0 */
#include "data/postgresql/pg.h"

#include "data/remote/address.h"

#include <stdlib.h>
#include <string.h>

/* Keywords and values of libpq. Names are for callers who look them up: libpq would block. */

static int add(struct pg_target *t, const char *key, const char *value)
{
    if (t->count + 1 >= t->room) {
        const unsigned room = t->room ? t->room * 2 : 16;
        char **keys = realloc(t->keys, room * sizeof(*keys));
        char **values = keys ? realloc(t->values, room * sizeof(*values)) : NULL;

        t->keys = keys ? keys : t->keys;
        if (!values)
            return -1;
        t->values = values;
        t->room = room;
    }
    t->keys[t->count] = strdup(key);
    t->values[t->count] = t->keys[t->count] ? strdup(value) : NULL;
    if (!t->values[t->count]) {
        free(t->keys[t->count]);
        t->keys[t->count] = NULL;
        return -1;
    }
    t->count++;
    t->keys[t->count] = t->values[t->count] = NULL;
    return 0;
}

void pg_target_free(struct pg_target *t)
{
    if (!t)
        return;
    for (unsigned i = 0; i < t->count; i++) {
        free(t->keys[i]);
        free(t->values[i]);
    }
    free(t->keys);
    free(t->values);
    free(t->name);
    free(t);
}

/* ---- URIs ---- */

static bool is_list(const char *dbname)
{
    return strchr(dbname, '=') || strncmp(dbname, "postgresql://", 13) == 0 ||
           strncmp(dbname, "postgres://", 11) == 0;
}

static const char *add_options(struct pg_target *t, const PQconninfoOption *options)
{
    for (const PQconninfoOption *o = options; o->keyword; o++) {
        if (o->val && add(t, o->keyword, o->val) < 0)
            return db_no_memory;
    }
    return NULL;
}

static const char *add_list(struct pg_target *t, const char *text)
{
    char *error = NULL; /* may have a part of the password */
    PQconninfoOption *options = PQconninfoParse(text, &error);
    const char *why = options ? add_options(t, options) : error ? "ill-formed" : db_no_memory;

    PQfreemem(error);
    PQconninfoFree(options);
    return why;
}

static const char *add_all(struct pg_target *t, const char *const *keys, const char *const *values,
                           int expand_dbname)
{
    const char *why = NULL;

    /* Kerberos would ask its own servers, and block; a later one counts */
    if (add(t, "gssencmode", "disable") < 0)
        return db_no_memory;
    for (unsigned i = 0; !why && keys[i]; i++) {
        if (!values[i])
            continue;
        if (expand_dbname && strcmp(keys[i], "dbname") == 0 && is_list(values[i]))
            why = add_list(t, values[i]);
        else if (add(t, keys[i], values[i]) < 0)
            why = db_no_memory;
    }
    return why;
}

/* ---- hosts ---- */

static const char *value_of(const struct pg_target *t, const char *key)
{
    for (unsigned i = t->count; i-- > 0;) {
        if (strcmp(t->keys[i], key) == 0 && t->values[i][0])
            return t->values[i];
    }
    return NULL;
}

/* One of a list, of len bytes. */
static bool is_address(const char *host, size_t len)
{
    return len == 0 || host[0] == '/' || host[0] == '@' || address_is_numeric(host, len);
}

static bool are_addresses(const char *hosts)
{
    for (;;) {
        const size_t len = strcspn(hosts, ",");

        if (!is_address(hosts, len))
            return false;
        if (!hosts[len])
            return true;
        hosts += len + 1;
    }
}

/* @return what is wrong; NULL: nothing */
static const char *check_host(struct pg_target *t, const char *host, bool takes_name)
{
    if (strcmp(host, "localhost") == 0)
        return add(t, "hostaddr", "127.0.0.1") < 0 ? db_no_memory : NULL;
    if (are_addresses(host))
        return NULL;
    if (!takes_name)
        return "the host is a name, which would block while it is looked up: add hostaddr";
    if (strlen(host) > PG_NAME_MAX || !host_is_name(host))
        return "it names no host";
    t->name = strdup(host);
    return t->name ? NULL : db_no_memory;
}

/* connect_timeout of libpq counts in its blocking calls only. */
static unsigned connect_ms(const char *seconds)
{
    const unsigned long n = seconds ? strtoul(seconds, NULL, 10) : 0;

    return n > 0 && n < 3600 ? (unsigned)n * 1000 : DB_LIMIT_MS;
}

/* What the environment and service files say counts unless the service says something. */
static const char *usual(const PQconninfoOption *options, const char *key)
{
    while (options->keyword && strcmp(options->keyword, key) != 0)
        options++;
    return options->keyword ? options->val : NULL;
}

static const char *value_or_usual(const struct pg_target *t, const PQconninfoOption *options,
                                  const char *key)
{
    const char *value = value_of(t, key);

    return value ? value : usual(options, key);
}

static const char *check_all(struct pg_target *t, bool takes_name)
{
    PQconninfoOption *options = PQconndefaults();
    const char *host, *address, *why = NULL;

    if (!options)
        return db_no_memory;
    host = value_or_usual(t, options, "host");
    address = value_or_usual(t, options, "hostaddr");
    t->connect_ms = connect_ms(value_or_usual(t, options, "connect_timeout"));
    if (host && !(address && address[0]))
        why = check_host(t, host, takes_name);
    PQconninfoFree(options);
    return why;
}

struct pg_target *pg_target_new(const char *const *keys, const char *const *values,
                                int expand_dbname, bool takes_name, const char **why)
{
    struct pg_target *t = calloc(1, sizeof(*t));

    *why = !t                 ? db_no_memory
           : !keys || !values ? "no parameters"
                              : add_all(t, keys, values, expand_dbname);
    if (!*why)
        *why = check_all(t, takes_name);
    if (!*why)
        return t;
    pg_target_free(t);
    return NULL;
}
