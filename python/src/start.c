/* SPDX-License-Identifier: Apache-2.0 */
#include "python.h"

#include <monkey/field.h>

/* start_response and write (PEP 3333). What would be wrong in the answer's head is an exception where it was given. */

struct mk_py_start *mk_py_start_new(struct mk_py_call *c)
{
    struct mk_py_start *s = PyObject_New(struct mk_py_start, &mk_py_start_type);

    if (!s)
        return NULL;
    s->call = c;
    s->head = NULL;
    s->length = -1;
    s->written = 0;
    s->is_called = s->has_begun = s->is_over = false;
    s->is_head_request = c->method.len == 4 && memcmp(c->method.p, "HEAD", 4) == 0;
    return s;
}

static void dealloc(PyObject *self)
{
    free(((struct mk_py_start *)self)->head);
    PyObject_Free(self);
}

/* ---- the head ---- */

struct mk_str mk_py_latin1(PyObject *text, const char *what)
{
    struct mk_str none = {NULL, 0}, s;

    if (!PyUnicode_Check(text)) {
        PyErr_Format(PyExc_TypeError, "%s must be str, not %.100s", what, Py_TYPE(text)->tp_name);
        return none;
    }
    if (PyUnicode_READY(text) < 0)
        return none;
    if (PyUnicode_KIND(text) != PyUnicode_1BYTE_KIND) {
        PyErr_Format(PyExc_ValueError, "%s has characters beyond latin-1: %.200R", what, text);
        return none;
    }
    s = (struct mk_str){(const char *)PyUnicode_1BYTE_DATA(text),
                        (size_t)PyUnicode_GET_LENGTH(text)};
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if ((c < ' ' && c != '\t') || c == 127) {
            PyErr_Format(PyExc_ValueError, "%s has control characters: %.200R", what, text);
            return none;
        }
    }
    return s;
}

/* RFC 9110 section 5.6.2. */
static bool is_token(struct mk_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.p[i];
        bool is_letter = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');

        if (!is_letter && (c >= 127 || !strchr("!#$%&'*+-.^_`|~", c) || c == '\0'))
            return false;
    }
    return name.len > 0;
}

static bool is_content_length(struct mk_str name)
{
    return name.len == 14 && strncasecmp(name.p, "Content-Length", 14) == 0;
}

/* @return -1 with an exception. */
static int64_t length_of(struct mk_str value)
{
    int64_t length = 0;

    for (size_t i = 0; i < value.len && length >= 0; i++) {
        unsigned next = (unsigned)(unsigned char)value.p[i] - '0';

        length = next > 9 || length > (INT64_MAX - 9) / 10 ? -1 : length * 10 + next;
    }
    if (value.len > 0 && length >= 0)
        return length;
    PyErr_SetString(PyExc_ValueError, "Content-Length must be a number");
    return -1;
}

/* Read a tuple of the list. @return false with an exception. */
static bool read_line(PyObject *item, struct mk_py_line *line)
{
    if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != 2) {
        PyErr_SetString(PyExc_TypeError, "response headers must be tuples (name, value)");
        return false;
    }
    line->name = mk_py_latin1(PyTuple_GET_ITEM(item, 0), "name of a header");
    line->value =
        line->name.p ? mk_py_latin1(PyTuple_GET_ITEM(item, 1), "value of a header") : line->name;
    if (!line->value.p)
        return false;
    if (!is_token(line->name)) {
        PyErr_Format(PyExc_ValueError, "invalid name of a header: %.200R",
                     PyTuple_GET_ITEM(item, 0));
        return false;
    }
    if (!is_content_length(line->name) &&
        (mk_field_rules(line->name) & (MK_RULE_MESSAGE | MK_RULE_HOP))) {
        PyErr_Format(PyExc_ValueError, "only the server sends the header %U",
                     PyTuple_GET_ITEM(item, 0));
        return false;
    }
    return true;
}

static size_t size_of_lines(PyObject *list)
{
    size_t size = 0;

    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        struct mk_py_line line;

        if (!read_line(PyList_GET_ITEM(list, i), &line))
            return 0;
        size += sizeof(line) + line.name.len + line.value.len;
    }
    return size + sizeof(struct mk_py_head);
}

static struct mk_str put(char **to, struct mk_str text)
{
    struct mk_str copy = {*to, text.len};

    memcpy(*to, text.p, text.len);
    *to += text.len;
    return copy;
}

/* The lines except Content-Length, which is a number from here on. @return NULL with an exception. */
static struct mk_py_head *copy_lines(PyObject *list, int64_t *length)
{
    size_t size = size_of_lines(list);
    struct mk_py_head *head = size > 0 ? malloc(size) : NULL;
    char *to;

    if (!head)
        return size > 0 ? (struct mk_py_head *)PyErr_NoMemory() : NULL;
    *head = (struct mk_py_head){0};
    *length = -1;
    to = (char *)(head->lines + PyList_GET_SIZE(list));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        struct mk_py_line line;

        if (!read_line(PyList_GET_ITEM(list, i), &line) ||
            (is_content_length(line.name) && (*length = length_of(line.value)) < 0)) {
            free(head);
            return NULL;
        }
        if (!is_content_length(line.name))
            head->lines[head->nlines++] =
                (struct mk_py_line){put(&to, line.name), put(&to, line.value)};
    }
    return head;
}

/* "200 OK". @return 0 with an exception. */
static unsigned status_of(PyObject *text)
{
    struct mk_str s = mk_py_latin1(text, "status");
    unsigned status = 0;

    for (size_t i = 0; s.p && i < 3 && i < s.len && s.p[i] >= '0' && s.p[i] <= '9'; i++)
        status = status * 10 + (unsigned)(s.p[i] - '0');
    if (!s.p)
        return 0;
    if (status >= 200 && status <= 599 && (s.len == 3 || s.p[3] == ' '))
        return status;
    PyErr_Format(PyExc_ValueError, "invalid status %.200R: expected \"200 OK\" to \"599 ...\"",
                 text);
    return 0;
}

/* ---- start_response ---- */

/* A second call must have a reason; after the head has been sent that reason is raised. */
static bool may_start(const struct mk_py_start *s, PyObject *exc_info)
{
    bool has_reason = exc_info && exc_info != Py_None;

    if (!s->call) {
        PyErr_SetString(PyExc_RuntimeError, "start_response is called after its request has ended");
        return false;
    }
    if (has_reason && (!PyTuple_Check(exc_info) || PyTuple_GET_SIZE(exc_info) != 3)) {
        PyErr_SetString(PyExc_TypeError, "exc_info must be what sys.exc_info() returns");
        return false;
    }
    if (s->is_called && !has_reason) {
        PyErr_SetString(PyExc_RuntimeError, "start_response is called twice without exc_info");
        return false;
    }
    if (s->has_begun && has_reason) {
        PyErr_Restore(Py_NewRef(PyTuple_GET_ITEM(exc_info, 0)),
                      Py_NewRef(PyTuple_GET_ITEM(exc_info, 1)),
                      Py_NewRef(PyTuple_GET_ITEM(exc_info, 2)));
        return false;
    }
    return true;
}

static PyObject *write_method(PyObject *self, PyObject *block)
{
    struct mk_py_start *s = (struct mk_py_start *)self;
    int err;

    if (!s->call) {
        PyErr_SetString(PyExc_RuntimeError, "write is called after its request has ended");
        return NULL;
    }
    err = mk_py_start_write(s, block);
    if (err == MK_PY_RAISED)
        return NULL;
    if (err == MK_E_PEER) {
        PyErr_SetString(PyExc_ConnectionResetError, "the client closed the connection");
        return NULL;
    }
    if (err == 0)
        mk_py_call_flush(s->call);
    Py_RETURN_NONE;
}

static PyMethodDef write_def = {"write", write_method, METH_O,
                                "write(block): send bytes now; prefer an iterable"};

static PyObject *call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"status", "headers", "exc_info", NULL};
    struct mk_py_start *s = (struct mk_py_start *)self;
    PyObject *status, *headers, *exc_info = NULL;
    struct mk_py_head *head;
    unsigned number;
    int64_t length = -1;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!|O:start_response", names, &status,
                                     &PyList_Type, &headers, &exc_info) ||
        !may_start(s, exc_info))
        return NULL;
    number = status_of(status);
    head = number ? copy_lines(headers, &length) : NULL;
    if (!head)
        return NULL;
    head->status = number;
    free(s->head);
    s->head = head;
    s->length = length;
    s->is_called = true;
    return PyCFunction_New(&write_def, self);
}

/* ---- the body ---- */

/* Statuses without a body (RFC 9110 section 6.4.1): what is written is dropped, as for HEAD. */
static bool has_body(const struct mk_py_start *s, unsigned status)
{
    return !s->is_head_request && status != 204 && status != 304;
}

bool mk_py_start_begin(struct mk_py_start *s, int64_t length)
{
    if (s->has_begun)
        return true;
    if (!s->head) {
        PyErr_SetString(PyExc_RuntimeError, "the application did not call start_response");
        return false;
    }
    s->is_head_request = !has_body(s, s->head->status);
    if (s->length < 0)
        s->length = length;
    mk_py_call_begin(s->call, s->head, s->length);
    s->head = NULL;
    s->has_begun = true;
    return true;
}

static int push(struct mk_py_call *c, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = mk_py_call_write(c, bytes, len);
        int err = n < 0 ? (int)n : 0;

        bytes += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
        if (n >= 0 && len > 0) {
            Py_BEGIN_ALLOW_THREADS err = mk_py_call_wait_for_room(c);
            Py_END_ALLOW_THREADS
        }
        if (err < 0)
            return err;
    }
    return 0;
}

int mk_py_start_write(struct mk_py_start *s, PyObject *block)
{
    struct mk_py_call *c = s->call;
    uint64_t left = UINT64_MAX;
    size_t len;
    int err;

    if (!PyBytes_Check(block)) {
        PyErr_Format(PyExc_TypeError, "the body must be bytes, not %.100s",
                     Py_TYPE(block)->tp_name);
        return MK_PY_RAISED;
    }
    len = (size_t)PyBytes_GET_SIZE(block);
    if (!mk_py_start_begin(s, -1))
        return MK_PY_RAISED;
    if (s->is_head_request)
        return mk_py_call_is_over(c) ? MK_E_PEER : 0;
    if (s->length >= 0)
        left = (uint64_t)s->length - s->written;
    mk_py_call_ref(c); /* write may be called by a thread that the application left running */
    err = push(c, PyBytes_AS_STRING(block), len < left ? len : (size_t)left);
    mk_py_call_put(c);
    s->written += len < left ? len : left;
    if (err == MK_E_NOMEM) {
        (void)PyErr_NoMemory();
        return MK_PY_RAISED;
    }
    return err == 0 && len > left ? MK_E_LIMIT : err;
}

PyTypeObject mk_py_start_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "monkey._monkey.StartResponse",
    .tp_basicsize = sizeof(struct mk_py_start),
    .tp_dealloc = dealloc,
    .tp_call = call,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "start_response(status, headers, exc_info=None), which returns write(block).",
};
