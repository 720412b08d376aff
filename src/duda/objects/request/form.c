/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/request/form.h"

#include "objects/objects.h"
#include "service/pattern.h"
#include "service/receive.h"
#include "service/request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

/* Forms of both types as one list, made when a service asks at first. */

bool mk_duda_form_is_sent(const struct mk_duda_request *rq)
{
    return mk_duda_request_is_urlencoded(rq) || mk_duda_request_is_multipart(rq);
}

static struct mk_duda_fields *make_fields(const struct mk_duda_request *rq)
{
    if (rq->multipart)
        return mk_duda_fields_of_form(rq->multipart);
    if (mk_duda_request_is_urlencoded(rq))
        return mk_duda_fields_of_pairs((struct mk_str){rq->body.bytes, rq->body.len});
    return mk_duda_fields_of_pairs((struct mk_str){NULL, 0});
}

const struct mk_duda_fields *mk_duda_form_of(struct mk_duda_request *rq)
{
    if (rq->fields)
        return rq->fields;
    rq->fields = make_fields(rq);
    if (!rq->fields)
        rq->out.lacks_memory = true;
    mk_duda_request_hold(rq, (size_t)rq->out.queued);
    return rq->fields;
}

/* @return NULL: the request is over, or without memory */
static const struct mk_duda_fields *fields_of(duda_request_t *dr, const char *call)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, call);

    return rq && rq->r ? mk_duda_form_of(rq) : NULL;
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

/* ---- part by part ---- */

static int receive(duda_request_t *dr, const struct duda_receiver *receiver, void *arg)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "form->receive");

    if (!mk_duda_may_receive(rq, receiver))
        return -1;
    return mk_duda_receive_form(rq, receiver, arg) == 0 ? 0 : -1;
}

static int go_on(duda_request_t *dr)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "form->go_on");

    return rq && rq->r && mk_duda_receive_go_on(rq) ? 0 : -1;
}

static long long progress(duda_request_t *dr, long long *total)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "form->progress");
    struct mk_request_facts facts = {.size = sizeof(facts)};

    if (!rq || !rq->r || !rq->receiver)
        return -1;
    mk_request_facts(rq->r, &facts);
    if (total)
        *total = facts.content_length > 0 ? facts.content_length : 0;
    return (long long)mk_duda_received(rq->receiver);
}

const struct duda_api_form mk_duda_form = {.get = get,
                                           .get_number = get_number,
                                           .file = file,
                                           .field = field_at,
                                           .save = save,
                                           .receive = receive,
                                           .go_on = go_on,
                                           .progress = progress};
