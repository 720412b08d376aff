/* SPDX-License-Identifier: Apache-2.0 */
#include "settings/field.h"

/* Tables of a plugin that was built with an older or a newer header: as ours. */

/* What of a struct of another size can be used; members that it does not have stay zero. */
static void copy_known(void *to, size_t to_size, const void *from, size_t from_size)
{
    memcpy(to, from, from_size < to_size ? from_size : to_size);
}

const struct mk_section_spec *mk_section_spec_ours(const struct mk_section_spec *given,
                                                   struct mk_arena *arena)
{
    struct mk_section_spec *spec;
    struct mk_field *fields;

    if (given->size == sizeof(*spec) && given->field_size == sizeof(*fields))
        return given;
    spec = mk_arena_zalloc(arena, sizeof(*spec));
    fields = mk_arena_zalloc(arena, (given->nfields + 1) * sizeof(*fields));
    if (!spec || !fields)
        return NULL;
    copy_known(spec, sizeof(*spec), given, given->size);
    for (size_t i = 0; i < given->nfields; i++)
        copy_known(&fields[i], sizeof(*fields), (const char *)given->fields + i * given->field_size,
                   given->field_size);
    spec->size = sizeof(*spec);
    spec->field_size = sizeof(*fields);
    spec->fields = fields;
    return spec;
}
