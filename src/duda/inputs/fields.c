/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs/fields.h"

#include <monkey/web/form.h>
#include <monkey/web/query.h>

#include <stdlib.h>
#include <string.h>

static void *from_heap(void *arg, size_t size)
{
    (void)arg;
    return malloc(size);
}

static struct mk_duda_fields *new_fields(size_t count, size_t texts,
                                         void *(*alloc)(void *arg, size_t size), void *arg)
{
    const size_t bytes = sizeof(struct mk_duda_fields) + count * sizeof(struct duda_field) + texts;
    struct mk_duda_fields *f = alloc(arg, bytes);

    if (f)
        *f = (struct mk_duda_fields){.bytes = bytes};
    return f;
}

struct mk_duda_fields *mk_duda_fields_of_form(const struct mk_form *form)
{
    const struct mk_form_field *field;
    struct mk_duda_fields *f;
    unsigned n = 0;

    while (mk_form_field(form, n))
        n++;
    f = new_fields(n, 0, from_heap, NULL);
    while (f && (field = mk_form_field(form, f->count))) {
        f->items[f->count++] = (struct duda_field){
            .name = field->name.p,
            .filename = field->filename.p,
            .type = field->type.p,
            .value = field->value.p,
            .length = (size_t)field->length,
            .fd = field->fd,
        };
    }
    return f;
}

/* @return the text, decoded and terminated, at *to, which moves on; NULL: it is malformed */
static const char *decode(char **to, struct mk_str text, size_t *length)
{
    const char *decoded = *to;
    ssize_t len = mk_pair_decode(*to, text);

    if (len < 0)
        return NULL;
    *length = (size_t)len;
    (*to)[len] = '\0';
    *to += len + 1;
    return decoded;
}

static size_t count_pairs(struct mk_str body)
{
    struct mk_str name, value;
    size_t n = 0;

    while (n <= MK_DUDA_FIELDS_MAX && mk_pair_next(&body, &name, &value))
        n++;
    return n;
}

bool mk_duda_has_too_many_fields(struct mk_str body)
{
    return count_pairs(body) > MK_DUDA_FIELDS_MAX;
}

/* At least as many as there are, without a look at each byte. */
static size_t bound_pairs(struct mk_str body)
{
    const char *p = body.p, *const end = p + body.len;
    size_t n = body.len > 0;

    while (n <= MK_DUDA_FIELDS_MAX && p < end && (p = memchr(p, '&', (size_t)(end - p)))) {
        n++;
        p++;
    }
    return n;
}

struct mk_duda_fields *mk_duda_fields_in(struct mk_str body, void *(*alloc)(void *arg, size_t size),
                                         void *arg)
{
    const size_t n = bound_pairs(body);
    struct mk_duda_fields *f = new_fields(n, body.len + 2 * n, alloc, arg);
    char *texts = f ? (char *)&f->items[n] : NULL;
    struct mk_str name, value;

    while (f && f->count < n && mk_pair_next(&body, &name, &value)) {
        struct duda_field field = {.fd = -1};
        size_t unused;

        field.name = decode(&texts, name, &unused);
        field.value = decode(&texts, value, &field.length);
        if (field.name && field.value)
            f->items[f->count++] = field;
        else
            f->is_malformed = true;
    }
    return f;
}

struct mk_duda_fields *mk_duda_fields_of_pairs(struct mk_str body)
{
    return mk_duda_fields_in(body, from_heap, NULL);
}
