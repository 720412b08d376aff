/* SPDX-License-Identifier: Apache-2.0 */
#include "python.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* wsgi.file_wrapper: a file that the worker sends by sendfile, or whose blocks are read one by one. */

struct file {
    PyObject_HEAD PyObject *file; /* with read() */
    Py_ssize_t size;
};

static PyObject *new_file(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"file", "block_size", NULL};
    PyObject *file;
    Py_ssize_t size = 64 << 10;
    struct file *self;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|n:file_wrapper", names, &file, &size))
        return NULL;
    if (size <= 0) {
        PyErr_SetString(PyExc_ValueError, "block_size must be positive");
        return NULL;
    }
    self = (struct file *)type->tp_alloc(type, 0);
    if (self) {
        self->file = Py_NewRef(file);
        self->size = size;
    }
    return (PyObject *)self;
}

static void dealloc(PyObject *self)
{
    Py_XDECREF(((struct file *)self)->file);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *next(PyObject *self)
{
    const struct file *f = (struct file *)self;
    PyObject *block = PyObject_CallMethod(f->file, "read", "n", f->size);

    if (block && PyObject_Length(block) == 0)
        Py_CLEAR(block);
    return block;
}

static PyObject *close_file(PyObject *self, PyObject *unused)
{
    PyObject *close = PyObject_GetAttrString(((struct file *)self)->file, "close"), *done;

    (void)unused;
    if (!close && !PyErr_ExceptionMatches(PyExc_AttributeError))
        return NULL;
    PyErr_Clear();
    done = close ? PyObject_CallNoArgs(close) : Py_NewRef(Py_None);
    Py_XDECREF(close);
    return done;
}

/* @return -1 without an exception: the object has no such number. */
static int64_t number_of(PyObject *file, const char *method)
{
    PyObject *result = PyObject_CallMethod(file, method, NULL);
    int64_t number = result && PyLong_Check(result) ? PyLong_AsLongLong(result) : -1;

    Py_XDECREF(result);
    PyErr_Clear();
    return number;
}

bool mk_py_file_of(PyObject *wrapper, int *fd, uint64_t *at, uint64_t *len)
{
    PyObject *file = ((struct file *)wrapper)->file;
    int64_t number = number_of(file, "fileno"), place = number_of(file, "tell");
    struct stat st;

    if (number < 0 || number > INT_MAX || place < 0 || fstat((int)number, &st) < 0 ||
        !S_ISREG(st.st_mode) || place > st.st_size)
        return false;
    *fd = fcntl((int)number, F_DUPFD_CLOEXEC, 3);
    *at = (uint64_t)place;
    *len = (uint64_t)(st.st_size - place);
    return *fd >= 0;
}

static PyMethodDef methods[] = {
    {"close", close_file, METH_NOARGS, "close(): close the file"},
    {0},
};

PyTypeObject mk_py_file_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "monkey._monkey.FileWrapper",
    .tp_basicsize = sizeof(struct file),
    .tp_dealloc = dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "FileWrapper(file, block_size=65536): a file as the body of an answer.",
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = next,
    .tp_methods = methods,
    .tp_new = new_file,
};
