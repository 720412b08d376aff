/* SPDX-License-Identifier: Apache-2.0 */
#include "python.h"

/* wsgi.input: the body of a request as it arrives. */

enum { BLOCK = 64 << 10 };

struct input {
    PyObject_HEAD struct mk_py_call *call; /* NULL: the request has ended */
    size_t at, end;                        /* of bytes that a line did not need */
    bool is_read;                          /* by a thread that waits */
    char *block;                           /* BLOCK bytes; NULL: no line was read yet */
};

PyObject *mk_py_input_new(struct mk_py_call *c)
{
    struct input *in = PyObject_New(struct input, &mk_py_input_type);

    if (!in)
        return NULL;
    in->call = c;
    in->at = in->end = 0;
    in->is_read = false;
    in->block = NULL;
    mk_py_call_ref(c);
    return (PyObject *)in;
}

/* A thread of the application's own that still reads keeps a reference of its own. */
void mk_py_input_end(PyObject *input)
{
    struct input *in = (struct input *)input;

    mk_py_call_put(in->call);
    in->call = NULL;
}

static void dealloc(PyObject *self)
{
    struct input *in = (struct input *)self;

    mk_py_call_put(in->call);
    PyMem_Free(in->block);
    PyObject_Free(self);
}

static Py_ssize_t raise(ssize_t err)
{
    if (err == MK_E_PEER)
        PyErr_SetString(PyExc_ConnectionResetError, "the client closed the connection");
    else if (err == MK_E_LIMIT)
        PyErr_SetString(PyExc_OSError, "the request body is larger than MaxBodySize");
    else
        PyErr_Format(PyExc_OSError, "request body: %s", mk_error_text((int)err));
    return -1;
}

/* Bytes as they come. @return -1 with an exception. */
static Py_ssize_t pull(struct input *in, char *dst, size_t len)
{
    struct mk_py_call *c = in->call;
    ssize_t n;

    if (!c || in->is_read) {
        PyErr_SetString(PyExc_ValueError, c ? "another thread reads wsgi.input"
                                            : "wsgi.input is used after its request has ended");
        return -1;
    }
    mk_py_call_ref(c);
    in->is_read = true;
    Py_BEGIN_ALLOW_THREADS n = mk_py_call_read(c, dst, len);
    Py_END_ALLOW_THREADS in->is_read = false;
    mk_py_call_put(c);
    return n < 0 ? raise(n) : n;
}

/* The same, first of what a line did not need. */
static Py_ssize_t take(struct input *in, char *dst, size_t len)
{
    size_t n = in->end - in->at;

    if (n == 0)
        return pull(in, dst, len);
    if (n > len)
        n = len;
    memcpy(dst, in->block + in->at, n);
    in->at += n;
    return (Py_ssize_t)n;
}

/* Memory grows with what has come, not with what was asked for. */
static PyObject *read_bytes(struct input *in, size_t want)
{
    size_t have = 0, room = want < BLOCK ? want : BLOCK;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)room);

    while (bytes && have < want) {
        Py_ssize_t n;

        if (have == room) {
            room = want / 2 > room ? room * 2 : want;
            if (_PyBytes_Resize(&bytes, (Py_ssize_t)room) < 0)
                return NULL;
        }
        n = take(in, PyBytes_AS_STRING(bytes) + have, room - have);
        if (n < 0)
            Py_CLEAR(bytes);
        if (n <= 0)
            break;
        have += (size_t)n;
    }
    if (bytes && have < room)
        (void)_PyBytes_Resize(&bytes, (Py_ssize_t)have);
    return bytes;
}

/* None and negative numbers: all. @return false with an exception. */
static bool size_of(PyObject *arg, size_t *size)
{
    Py_ssize_t n = -1;

    if (arg && arg != Py_None)
        n = PyNumber_AsSsize_t(arg, PyExc_OverflowError);
    *size = n < 0 ? PY_SSIZE_T_MAX : (size_t)n;
    return !PyErr_Occurred();
}

static PyObject *input_read(PyObject *self, PyObject *args)
{
    PyObject *arg = NULL;
    size_t size;

    if (!PyArg_ParseTuple(args, "|O:read", &arg) || !size_of(arg, &size))
        return NULL;
    return read_bytes((struct input *)self, size);
}

/* ---- lines ---- */

static Py_ssize_t fill_block(struct input *in)
{
    Py_ssize_t n;

    if (!in->block)
        in->block = PyMem_Malloc(BLOCK);
    if (!in->block) {
        (void)PyErr_NoMemory();
        return -1;
    }
    n = pull(in, in->block, BLOCK);
    in->at = 0;
    in->end = n > 0 ? (size_t)n : 0;
    return n;
}

/* Add what the block has of the line. @return true: the line ends there. */
static bool add_part(struct input *in, size_t max, PyObject **line)
{
    size_t have = (size_t)PyBytes_GET_SIZE(*line), n = in->end - in->at;
    const char *from = in->block + in->at, *newline;

    if (n > max - have)
        n = max - have;
    newline = memchr(from, '\n', n);
    if (newline)
        n = (size_t)(newline - from) + 1;
    if (_PyBytes_Resize(line, (Py_ssize_t)(have + n)) < 0)
        return true;
    memcpy(PyBytes_AS_STRING(*line) + have, from, n);
    in->at += n;
    return newline || have + n == max;
}

static PyObject *read_line(struct input *in, size_t max)
{
    PyObject *line = PyBytes_FromStringAndSize(NULL, 0);

    while (line && max > 0) {
        Py_ssize_t n = in->at < in->end ? 1 : fill_block(in);

        if (n < 0)
            Py_CLEAR(line);
        if (n <= 0 || add_part(in, max, &line))
            break;
    }
    return line;
}

static PyObject *input_readline(PyObject *self, PyObject *args)
{
    PyObject *arg = NULL;
    size_t size;

    if (!PyArg_ParseTuple(args, "|O:readline", &arg) || !size_of(arg, &size))
        return NULL;
    return read_line((struct input *)self, size);
}

static PyObject *input_next(PyObject *self)
{
    PyObject *line = read_line((struct input *)self, PY_SSIZE_T_MAX);

    if (line && PyBytes_GET_SIZE(line) == 0)
        Py_CLEAR(line);
    return line;
}

static PyObject *input_readlines(PyObject *self, PyObject *args)
{
    PyObject *arg = NULL, *line = NULL, *list;
    size_t hint, have = 0;

    if (!PyArg_ParseTuple(args, "|O:readlines", &arg) || !size_of(arg, &hint))
        return NULL;
    hint = hint ? hint : PY_SSIZE_T_MAX;
    list = PyList_New(0);
    while (list && have < hint && (line = input_next(self))) {
        have += (size_t)PyBytes_GET_SIZE(line);
        if (PyList_Append(list, line) < 0)
            Py_CLEAR(list);
        Py_DECREF(line);
    }
    if (list && PyErr_Occurred())
        Py_CLEAR(list);
    return list;
}

static PyMethodDef methods[] = {
    {"read", input_read, METH_VARARGS,
     "read(size=-1): bytes of the body; fewer than size only at its end"},
    {"readline", input_readline, METH_VARARGS,
     "readline(size=-1): the next line, at most size bytes"},
    {"readlines", input_readlines, METH_VARARGS, "readlines(hint=-1): lines until hint bytes"},
    {0},
};

PyTypeObject mk_py_input_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "monkey._monkey.Input",
    .tp_basicsize = sizeof(struct input),
    .tp_dealloc = dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "The body of a request (wsgi.input). Reads wait for the client.",
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = input_next,
    .tp_methods = methods,
};
