/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "conf/conf.h"

#include "fmt.h"

/*
 * Any bytes as a configuration file: what is formatted has the settings that it had, and stays as it is when it is
 * formatted again; what is refused, the server would refuse. Lines with `@` are left to its own tests: they name files.
 */

static void parse(struct mk_tree *tree, struct mk_faults *faults, struct mk_arena *arena,
                  struct mk_str text)
{
    mk_arena_init(arena, NULL, 0, SIZE_MAX);
    mk_tree_init(tree, arena);
    mk_faults_init(faults, arena);
    require(mk_conf_read_text(tree, faults, text, "fuzz", NULL, NULL) == 0);
}

static bool is_same(struct mk_str a, struct mk_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static void compare(const struct mk_tree *a, const struct mk_tree *b)
{
    const struct mk_section *x = a->first, *y = b->first;

    for (; x && y; x = x->next, y = y->next) {
        const struct mk_setting *s = x->first, *t = y->first;

        require(is_same(x->name, y->name));
        for (; s && t; s = s->next, t = t->next)
            require(is_same(s->key, t->key) && is_same(s->value, t->value));
        require(!s && !t);
    }
    require(!x && !y);
}

static void check_settings(struct mk_str text, struct mk_str formatted)
{
    struct mk_arena arenas[2];
    struct mk_faults faults[2];
    struct mk_tree trees[2];

    parse(&trees[0], &faults[0], &arenas[0], text);
    parse(&trees[1], &faults[1], &arenas[1], formatted);
    require(faults[0].count == 0 && faults[1].count == 0);
    compare(&trees[0], &trees[1]);
    mk_arena_fini(&arenas[0]);
    mk_arena_fini(&arenas[1]);
}

/* Lines that become too long are refused by the formatter alone. */
static void check_refusal(struct mk_str text, const struct fmt_fault *fault)
{
    struct mk_arena arena;
    struct mk_faults faults;
    struct mk_tree tree;

    require(fault->line > 0 && fault->why);
    parse(&tree, &faults, &arena, text);
    require(faults.count > 0 || strstr(fault->why, "new indentation"));
    mk_arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = exact_copy(data, size);
    const struct mk_str text = {bytes, size};
    char *dst = malloc(fmt_room(text)), *again;
    struct fmt_fault fault;
    ssize_t len = fmt_text(dst, text, &fault);
    const bool has_directives = size > 0 && memchr(bytes, '@', size);

    require(dst != NULL);
    if (len >= 0) {
        const struct mk_str formatted = {dst, (size_t)len};

        require(formatted.len <= fmt_room(text));
        again = malloc(fmt_room(formatted));
        require(fmt_text(again, formatted, &fault) == len);
        require(len == 0 || memcmp(dst, again, formatted.len) == 0);
        free(again);
        if (!has_directives)
            check_settings(text, formatted);
    } else if (!has_directives) {
        check_refusal(text, &fault);
    }
    free(dst);
    free(bytes);
    return 0;
}
