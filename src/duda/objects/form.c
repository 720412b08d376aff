/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/words.h"
#include "objects/objects.h"
#include "service/pattern.h"
#include "service/request.h"

#include <monkey/web/form.h>
#include <monkey/web/query.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

/* Forms of both types as one list, made when a service asks at first. */

struct mk_duda_fields {
    unsigned count;
    struct duda_field items[];
};

/* ---- the list ---- */

static struct mk_duda_fields *new_fields(size_t count, size_t texts)
{
    struct mk_duda_fields *f = malloc(sizeof(*f) + count * sizeof(f->items[0]) + texts);

    if (f)
        f->count = 0;
    return f;
}

static struct mk_duda_fields *of_multipart(const struct mk_form *form)
{
    const struct mk_form_field *field;
    struct mk_duda_fields *f;
    unsigned n = 0;

    while (mk_form_field(form, n))
        n++;
    f = new_fields(n, 0);
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

    while (mk_pair_next(&body, &name, &value))
        n++;
    return n;
}

static struct mk_duda_fields *of_pairs(struct mk_str body)
{
    const size_t n = count_pairs(body);
    struct mk_duda_fields *f = new_fields(n, body.len + 2 * n);
    char *texts = f ? (char *)&f->items[n] : NULL;
    struct mk_str name, value;

    while (f && mk_pair_next(&body, &name, &value)) {
        struct duda_field field = {.fd = -1};
        size_t unused;

        field.name = decode(&texts, name, &unused);
        field.value = decode(&texts, value, &field.length);
        if (field.name && field.value)
            f->items[f->count++] = field;
    }
    return f;
}

static struct mk_duda_fields *make_fields(const struct mk_duda_request *rq)
{
    const struct mk_str type = mk_duda_str(rq->sr.content_type);

    if (rq->multipart)
        return of_multipart(rq->multipart);
    if (type.p && text_begins(type, MK_STR("application/x-www-form-urlencoded")))
        return of_pairs((struct mk_str){rq->body, rq->body_len});
    return new_fields(0, 0);
}

/* @return NULL: the request is over, or without memory */
static const struct mk_duda_fields *fields_of(duda_request_t *dr, const char *call)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, call);

    if (!rq || !rq->r)
        return NULL;
    if (!rq->fields)
        rq->fields = make_fields(rq);
    return rq->fields;
}

/* ---- calls ---- */

static const struct duda_field *find(const struct mk_duda_fields *f, const char *name, bool is_file)
{
    for (unsigned i = 0; f && name && i < f->count; i++) {
        if ((f->items[i].filename != NULL) == is_file && strcmp(f->items[i].name, name) == 0)
            return &f->items[i];
    }
    return NULL;
}

static const char *get(duda_request_t *dr, const char *name)
{
    const struct duda_field *field = find(fields_of(dr, "form->get"), name, false);

    return field ? field->value : NULL;
}

static int get_number(duda_request_t *dr, const char *name, long *res)
{
    const struct duda_field *field = find(fields_of(dr, "form->get_number"), name, false);

    return field && res && mk_duda_number_read((struct mk_str){field->value, field->length}, res)
               ? 0
               : -1;
}

static const struct duda_field *file(duda_request_t *dr, const char *name)
{
    return find(fields_of(dr, "form->file"), name, true);
}

static const struct duda_field *field_at(duda_request_t *dr, unsigned idx)
{
    const struct mk_duda_fields *f = fields_of(dr, "form->field");

    return f && idx < f->count ? &f->items[idx] : NULL;
}

static bool write_text(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, text, len);

        if (n < 0 && errno != EINTR)
            return false;
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool copy_file(int to, int from, size_t len)
{
    off_t at = 0;

    while ((size_t)at < len) {
        ssize_t n = sendfile(to, from, &at, len - (size_t)at);

        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
    }
    return true;
}

static int save(duda_request_t *dr, const struct duda_field *field, const char *path)
{
    bool is_written;
    int fd, error;

    if (!fields_of(dr, "form->save") || !field || !path) {
        errno = EINVAL;
        return -1;
    }
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return -1;
    is_written = field->value ? write_text(fd, field->value, field->length)
                              : copy_file(fd, field->fd, field->length);
    error = errno;
    if (close(fd) == 0 && is_written)
        return 0;
    if (is_written)
        error = errno;
    (void)unlink(path);
    errno = error;
    return -1;
}

const struct duda_api_form mk_duda_form = {
    .get = get, .get_number = get_number, .file = file, .field = field_at, .save = save};
