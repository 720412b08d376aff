/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_TESTS_OUTCOME_H
#define MK_TESTS_OUTCOME_H

#include "base/buf.h"
#include "conf/conf.h"

#include <string.h>

/* What came of reading a text, as two strings that a table can hold. */

struct outcome {
    struct mk_arena arena;
    struct mk_tree tree;
    struct mk_faults faults;
};

static inline void outcome_init(struct outcome *o)
{
    mk_arena_init(&o->arena, NULL, 0, SIZE_MAX);
    mk_tree_init(&o->tree, &o->arena);
    mk_faults_init(&o->faults, &o->arena);
}

static inline void outcome_fini(struct outcome *o)
{
    mk_arena_fini(&o->arena);
}

static inline char *outcome_keep(struct outcome *o, struct mk_buf *b)
{
    char *text = mk_arena_strdup(&o->arena, mk_buf_str(b));

    mk_buf_fini(b);
    return text;
}

/* "A{key=value;}B{}" */
static inline char *outcome_tree(struct outcome *o)
{
    struct mk_buf b;

    mk_buf_init(&b, 1 << 20);
    for (const struct mk_section *s = o->tree.first; s; s = s->next) {
        mk_buf_printf(&b, "%s{", s->name.p);
        for (const struct mk_setting *k = s->first; k; k = k->next)
            mk_buf_printf(&b, "%s=%s;", k->key.p, k->value.p);
        mk_buf_append(&b, "}", 1);
    }
    return outcome_keep(o, &b);
}

/* "file:2:5 message\n" each, without the directory of the file */
static inline char *outcome_faults(struct outcome *o)
{
    struct mk_buf b;

    mk_buf_init(&b, 1 << 20);
    for (const struct mk_fault *f = o->faults.first; f; f = f->next) {
        const char *slash = strrchr(f->at.file, '/');

        mk_buf_printf(&b, "%s:%u:%u %s%s\n", slash ? slash + 1 : f->at.file, f->at.line,
                      f->at.column, f->is_warning ? "warning: " : "", f->message);
    }
    return outcome_keep(o, &b);
}

#endif
