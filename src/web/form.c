/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/form.h>

#include <monkey/web/multipart.h>
#include <monkey/web/query.h>

#include "base/buf.h"
#include "base/heap.h"
#include "base/str.h"
#include "kit/text/words.h"
#include "kit/unnamed/unnamed.h"

#include <errno.h>
#include <unistd.h>

/* A form as a whole: its values in memory, its large files in temporary ones. */

enum {
    PIECE = 4096,
    FIELDS = 1000,
    MEMORY = 256 << 10,
    SPOOL = 16 << 10,
};

/* A field, and what of it is still growing. */
struct entry {
    struct entry *next;
    struct mk_form_field field;
    struct mk_buf bytes;
    char texts[]; /* name, filename and type */
};

struct mk_form {
    struct mk_form_limits limits; /* without zeros */
    struct entry *first, *last;
    unsigned count;
    size_t memory;              /* in use */
    struct mk_multipart *parts; /* NULL: urlencoded */
    bool is_whole;
};

static const char form_key;

static void drop(void *arg)
{
    struct mk_form *form = arg;

    for (struct entry *at = form->first, *next; at; at = next) {
        next = at->next;
        if (at->field.fd >= 0)
            close(at->field.fd);
        mk_buf_fini(&at->bytes);
        mk_heap_free(at);
    }
    mk_multipart_free(form->parts);
    mk_heap_free(form);
}

static int use_memory(struct mk_form *form, size_t bytes)
{
    if (bytes > form->limits.memory - form->memory)
        return MK_E_LIMIT;
    form->memory += bytes;
    return 0;
}

/* ---- fields ---- */

static struct mk_str copy_text(char **at, struct mk_str text)
{
    struct mk_str copy = {*at, text.len};

    if (!text.p)
        return text;
    if (text.len > 0)
        memcpy(*at, text.p, text.len);
    (*at)[text.len] = '\0';
    *at += text.len + 1;
    return copy;
}

static int add_field(struct mk_form *form, struct mk_str name, struct mk_str filename,
                     struct mk_str type)
{
    const size_t texts = name.len + filename.len + type.len + 3;
    struct entry *e;
    char *at;

    if (form->count == form->limits.fields || use_memory(form, texts) < 0)
        return MK_E_LIMIT;
    e = mk_heap_zalloc(1, sizeof(*e) + texts);
    if (!e)
        return MK_E_NOMEM;
    at = e->texts;
    e->field = (struct mk_form_field){.size = sizeof(e->field), .fd = -1};
    e->field.name = copy_text(&at, name);
    e->field.filename = copy_text(&at, filename);
    e->field.type = copy_text(&at, type);
    mk_buf_init(&e->bytes, SIZE_MAX);
    if (form->last)
        form->last->next = e;
    else
        form->first = e;
    form->last = e;
    form->count++;
    return 0;
}

/* ---- files on disk ---- */

static int write_bytes(int fd, struct mk_str bytes)
{
    return unnamed_write(fd, bytes.p, bytes.len) ? 0 : MK_E_SYS;
}

/* What is in memory goes to a file, and all that follows too. */
static int spool(struct mk_form *form, struct entry *e)
{
    int err;

    e->field.fd = unnamed_open(form->limits.dir);
    if (e->field.fd < 0)
        return errno == EMFILE || errno == ENFILE ? MK_E_NOFD : MK_E_SYS;
    err = write_bytes(e->field.fd, mk_buf_str(&e->bytes));
    form->memory -= e->bytes.len;
    mk_buf_fini(&e->bytes);
    return err;
}

static int add_bytes(void *arg, struct mk_str bytes)
{
    struct mk_form *form = arg;
    struct entry *e = form->last;
    int err = 0;

    e->field.length += bytes.len;
    if (e->field.filename.p && e->field.length > form->limits.file)
        return MK_E_LIMIT;
    if (e->field.filename.p && e->field.fd < 0 && e->field.length > form->limits.spool)
        err = spool(form, e);
    if (err < 0)
        return err;
    if (e->field.fd >= 0)
        return write_bytes(e->field.fd, bytes);
    err = use_memory(form, bytes.len);
    return err < 0 ? err : mk_buf_append(&e->bytes, bytes.p, bytes.len);
}

static int end_field(void *arg)
{
    struct mk_form *form = arg;
    struct entry *e = form->last;
    char *end;

    if (e->field.fd >= 0)
        return 0;
    end = mk_buf_reserve(&e->bytes, 1);
    if (!end)
        return e->bytes.error;
    *end = '\0';
    e->field.value = mk_buf_str(&e->bytes);
    return 0;
}

static int begin_part(void *arg, const struct mk_part *part)
{
    return add_field(arg, part->name, part->filename, part->type);
}

static const struct mk_multipart_calls calls = {
    .size = sizeof(calls),
    .part = begin_part,
    .data = add_bytes,
    .end = end_field,
};

/* ---- the two types ---- */

static int add_pair(struct mk_form *form, struct mk_str name, struct mk_str value)
{
    char *text = mk_heap_alloc(name.len + value.len + 1);
    ssize_t name_len = text ? mk_pair_decode(text, name) : MK_E_NOMEM;
    ssize_t value_len = name_len < 0 ? name_len : mk_pair_decode(text + name.len, value);
    int err = value_len < 0 ? (int)value_len : 0;

    if (err == 0)
        err = add_field(form, (struct mk_str){text, (size_t)name_len}, (struct mk_str){NULL, 0},
                        (struct mk_str){NULL, 0});
    if (err == 0)
        err = add_bytes(form, (struct mk_str){text + name.len, (size_t)value_len});
    mk_heap_free(text);
    return err < 0 ? err : end_field(form);
}

static int read_pairs(struct mk_request *r, struct mk_form *form)
{
    struct mk_str body, name, value;
    int err = mk_request_body(r, form->limits.memory, &body);

    while (err == 0 && mk_pair_next(&body, &name, &value))
        err = add_pair(form, name, value);
    return err;
}

static int read_parts(struct mk_request *r, struct mk_form *form)
{
    char piece[PIECE];
    ssize_t got = 1;
    int err = 0;

    while (err == 0 && got > 0) {
        got = mk_request_read(r, piece, sizeof(piece));
        if (got > 0)
            err = mk_multipart_feed(form->parts, piece, (size_t)got);
    }
    mk_request_hold(r, form->memory);
    if (err < 0 || got < 0)
        return err < 0 ? err : (int)got;
    return mk_multipart_end(form->parts);
}

/* ---- the call ---- */

static bool is_urlencoded(struct mk_str type)
{
    return text_is_word(text_trim(text_cut(&type, ';')),
                        MK_STR("application/x-www-form-urlencoded"));
}

static void set_limits(struct mk_form_limits *to, const struct mk_form_limits *from)
{
    if (from)
        memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
    to->size = sizeof(*to);
    to->fields = to->fields ? to->fields : FIELDS;
    to->memory = to->memory ? to->memory : MEMORY;
    to->spool = to->spool ? to->spool : SPOOL;
    to->file = to->file ? to->file : UINT64_MAX;
    to->dir = to->dir ? to->dir : "/tmp";
}

static int begin(struct mk_request *r, const struct mk_form_limits *limits, struct mk_form **out)
{
    const struct mk_str type = mk_request_header(r, MK_STR("Content-Type"));
    struct mk_form *form = mk_heap_zalloc(1, sizeof(*form));
    int err;

    if (!form)
        return MK_E_NOMEM;
    set_limits(&form->limits, limits);
    err = is_urlencoded(type) ? 0 : mk_multipart_new(&form->parts, type, &calls, form);
    if (err == 0)
        err = mk_request_on_end(r, drop, form);
    if (err < 0) {
        drop(form);
        return err;
    }
    *out = form;
    return mk_request_keep(r, &form_key, form);
}

int mk_form_read(struct mk_request *r, const struct mk_form_limits *limits, struct mk_form **out)
{
    struct mk_form *form;
    int err;

    if (!r || !out)
        return MK_E_INVALID;
    form = mk_request_kept(r, &form_key);
    err = form ? 0 : begin(r, limits, &form);
    if (err == 0 && !form->is_whole)
        err = form->parts ? read_parts(r, form) : read_pairs(r, form);
    if (err < 0)
        return err;
    form->is_whole = true;
    *out = form;
    return 0;
}

const struct mk_form_field *mk_form_field(const struct mk_form *form, unsigned index)
{
    const struct entry *at = form ? form->first : NULL;

    while (at && index-- > 0)
        at = at->next;
    return at ? &at->field : NULL;
}

static const struct mk_form_field *find(const struct mk_form *form, struct mk_str name,
                                        bool is_file)
{
    for (const struct entry *at = form ? form->first : NULL; at; at = at->next) {
        if ((at->field.filename.p != NULL) == is_file && mk_str_eq(at->field.name, name))
            return &at->field;
    }
    return NULL;
}

struct mk_str mk_form_value(const struct mk_form *form, struct mk_str name)
{
    const struct mk_form_field *field = find(form, name, false);

    return field ? field->value : (struct mk_str){NULL, 0};
}

const struct mk_form_field *mk_form_file(const struct mk_form *form, struct mk_str name)
{
    return find(form, name, true);
}
