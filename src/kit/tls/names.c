/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/names.h"

#include "kit/text/words.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const struct tls_name *x = a, *y = b;
    int diff = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);

    return diff ? diff : (x->len > y->len) - (x->len < y->len);
}

static const struct tls_name *find(const struct tls_name *names, size_t count, char *name,
                                   size_t len)
{
    struct tls_name key = {.name = name, .len = len};

    return count > 0 ? bsearch(&key, names, count, sizeof(*names), compare) : NULL;
}

static bool is_there(const struct tls_name *names, size_t count, const struct tls_name *wanted)
{
    for (size_t i = 0; i < count; i++) {
        if (compare(&names[i], wanted) == 0)
            return true;
    }
    return false;
}

static int append(struct tls_name **names, size_t *count, struct tls_name name)
{
    struct tls_name *more;

    if (is_there(*names, *count, &name)) {
        free(name.name);
        return 0;
    }
    more = realloc(*names, (*count + 1) * sizeof(**names));
    if (!more) {
        free(name.name);
        return MK_E_NOMEM;
    }
    more[(*count)++] = name;
    *names = more;
    return 0;
}

int tls_names_add(struct tls_names *n, struct mk_str name, unsigned value)
{
    bool is_wildcard = name.len > 2 && name.p[0] == '*' && name.p[1] == '.';
    struct tls_name own = {.len = name.len - is_wildcard, .value = value};

    if (name.len == 0 || name.len > TLS_NAME_MAX ||
        memchr(name.p + is_wildcard, '*', name.len - is_wildcard))
        return MK_E_INVALID;
    own.name = malloc(own.len);
    if (!own.name)
        return MK_E_NOMEM;
    for (size_t i = 0; i < own.len; i++)
        own.name[i] = text_lower(name.p[is_wildcard + i]);
    return is_wildcard ? append(&n->below, &n->nbelow, own) : append(&n->exact, &n->nexact, own);
}

void tls_names_sort(struct tls_names *n)
{
    if (n->nexact > 0)
        qsort(n->exact, n->nexact, sizeof(*n->exact), compare);
    if (n->nbelow > 0)
        qsort(n->below, n->nbelow, sizeof(*n->below), compare);
}

bool tls_names_find(const struct tls_names *n, struct mk_str name, unsigned *value)
{
    char text[TLS_NAME_MAX];
    const struct tls_name *found;

    if (name.len > 0 && name.p[name.len - 1] == '.') /* the root, as a Host may end with it too */
        name.len--;
    if (name.len == 0 || name.len > TLS_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++)
        text[i] = text_lower(name.p[i]);
    found = find(n->exact, n->nexact, text, name.len);
    for (size_t i = 1; !found && n->nbelow > 0 && i + 1 < name.len; i++) {
        if (text[i] == '.')
            found = find(n->below, n->nbelow, text + i, name.len - i);
    }
    if (found)
        *value = found->value;
    return found;
}

static void free_all(struct tls_name *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i].name);
    free(names);
}

void tls_names_fini(struct tls_names *n)
{
    free_all(n->exact, n->nexact);
    free_all(n->below, n->nbelow);
    memset(n, 0, sizeof(*n));
}

const char *tls_name_without_dot(const char *name, char text[TLS_NAME_MAX + 1])
{
    size_t len = name ? strlen(name) : 0;

    if (len < 2 || len > TLS_NAME_MAX || name[len - 1] != '.')
        return name;
    memcpy(text, name, len - 1);
    text[len - 1] = '\0';
    return text;
}
