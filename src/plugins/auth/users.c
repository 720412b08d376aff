/* SPDX-License-Identifier: Apache-2.0 */
#include "users.h"

#include "password.h"

#include <stdlib.h>

enum { KINDS_MAX = 16 }; /* schemes and costs of one file that are counted */

static int compare_users(const void *a, const void *b)
{
    const struct mk_str *x = &((const struct user *)a)->name, *y = &((const struct user *)b)->name;
    size_t min = x->len < y->len ? x->len : y->len;
    int diff = memcmp(x->p, y->p, min);

    return diff ? diff : (x->len > y->len) - (x->len < y->len);
}

/* Cut a line off the rest, and blanks and a CR off its end; terminated. */
static char *next_line(char **rest)
{
    char *line = *rest, *end = strchr(line, '\n');

    if (*line == '\0')
        return NULL;
    *rest = end ? end + 1 : line + strlen(line);
    if (!end)
        end = *rest;
    while (end > line && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    return line;
}

static const char *parse_line(char *line, struct user *user)
{
    char *colon = strchr(line, ':');

    if (!colon)
        return "expected user:hash";
    if (colon == line || colon - line > USER_NAME_MAX)
        return "a user name has 1 to 255 bytes";
    *colon = '\0';
    user->name = (struct mk_str){line, (size_t)(colon - line)};
    user->hash = colon + 1;
    return auth_password_is_hash(user->hash) ? NULL : "not a hash that this system can check";
}

static bool add_lines(struct users *u, struct users_fault *fault)
{
    char *rest = u->text, *line;

    for (fault->line = 1; (line = next_line(&rest)); fault->line++) {
        if (*line == '\0' || *line == '#')
            continue;
        if (u->count == USERS_MAX)
            fault->why = "too many users";
        else
            fault->why = parse_line(line, &u->items[u->count]);
        if (fault->why)
            return false;
        u->count++;
    }
    return true;
}

static bool has_double(const struct users *u)
{
    for (size_t i = 1; i < u->count; i++) {
        if (compare_users(&u->items[i - 1], &u->items[i]) == 0)
            return true;
    }
    return false;
}

static size_t count_lines(struct mk_str text)
{
    size_t count = 1;

    for (size_t i = 0; i < text.len; i++)
        count += text.p[i] == '\n';
    return count < USERS_MAX ? count : USERS_MAX;
}

static void free_users(struct users *u)
{
    free(u->items);
    free(u->text);
    free(u);
}

/* A scheme and its cost, and how many users have it. */
struct kind {
    struct mk_str setting;
    const char *hash; /* one of them */
    size_t count;
};

static void count_kind(struct kind kinds[KINDS_MAX], const char *hash)
{
    struct mk_str setting = auth_password_setting(hash);

    for (size_t i = 0; i < KINDS_MAX; i++) {
        struct kind *k = &kinds[i];

        if (k->hash &&
            (k->setting.len != setting.len || memcmp(k->setting.p, setting.p, setting.len) != 0))
            continue;
        if (!k->hash)
            *k = (struct kind){.setting = setting, .hash = hash};
        k->count++;
        return;
    }
}

static const char *find_usual(const struct users *u)
{
    struct kind kinds[KINDS_MAX] = {0}, *best = &kinds[0];

    for (size_t i = 0; i < u->count; i++) {
        if (auth_password_is_slow(u->items[i].hash))
            count_kind(kinds, u->items[i].hash);
    }
    for (size_t i = 1; i < KINDS_MAX; i++) {
        if (kinds[i].count > best->count)
            best = &kinds[i];
    }
    return best->hash || u->count == 0 ? best->hash : u->items[0].hash;
}

struct users *auth_users_parse(struct mk_str text, struct users_fault *fault)
{
    struct users *u = calloc(1, sizeof(*u));

    *fault = (struct users_fault){0};
    if (!u)
        return NULL;
    counted_init(&u->refs, 1);
    u->text = calloc(1, text.len + 1);
    u->items = calloc(count_lines(text), sizeof(*u->items));
    if (!u->text || !u->items) {
        free_users(u);
        return NULL;
    }
    memcpy(u->text, text.p, text.len);
    if (strlen(u->text) != text.len)
        fault->why = "there is a NUL byte";
    if (fault->why || !add_lines(u, fault)) {
        free_users(u);
        return NULL;
    }
    qsort(u->items, u->count, sizeof(*u->items), compare_users);
    if (has_double(u)) {
        *fault = (struct users_fault){.why = "a user appears twice"};
        free_users(u);
        return NULL;
    }
    u->usual = find_usual(u);
    return u;
}

struct users *auth_users_get(struct users *u)
{
    counted_get(&u->refs);
    return u;
}

void auth_users_put(struct users *u)
{
    if (u && counted_put(&u->refs))
        free_users(u);
}

const char *auth_users_find(const struct users *u, struct mk_str name)
{
    const struct user key = {.name = name};
    const struct user *found =
        u->count > 0 ? bsearch(&key, u->items, u->count, sizeof(key), compare_users) : NULL;

    return found ? found->hash : NULL;
}

const char *auth_users_usual_hash(const struct users *u)
{
    return u->usual;
}
