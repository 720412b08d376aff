/* SPDX-License-Identifier: Apache-2.0 */
#include "python.h"

/* One call of an application, from its environ to the end of its answer. */

PyObject *mk_py_pass;

/* ---- exceptions ---- */

/* For the server's log: one line of ASCII, since the texts may be a client's. */
static void log_line(const struct mk_py_call *c, PyObject *value)
{
    PyObject *path = PyUnicode_DecodeLatin1(c->path.p, (Py_ssize_t)c->path.len, NULL);
    PyObject *where = path ? PyObject_ASCII(path) : NULL, *why = PyObject_ASCII(value);
    const char *text = why ? PyUnicode_AsUTF8(why) : NULL;

    mk_server_log(c->server, MK_LOG_ERROR, "wsgi: the application raised %s path=%s",
                  text ? text : Py_TYPE(value)->tp_name, where ? PyUnicode_AsUTF8(where) : "?");
    Py_XDECREF(path);
    Py_XDECREF(where);
    Py_XDECREF(why);
    PyErr_Clear();
}

/* Log the exception with its traceback on sys.stderr. SystemExit of one request ends no process. */
static void log_exception(const struct mk_py_call *c)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback)
        (void)PyException_SetTraceback(value, traceback);
    log_line(c, value);
    PyErr_Display(type, value, traceback);
    PyErr_Clear();
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

static void log_fault(const struct mk_py_call *c, const char *what)
{
    mk_server_log(c->server, MK_LOG_WARN, "wsgi: the application %s", what);
}

/* ---- the answer ---- */

/* The length of a body whose blocks are all there; -1: unknown. */
static int64_t length_of(PyObject *result)
{
    bool is_list = PyList_CheckExact(result);
    Py_ssize_t n = is_list ? PyList_GET_SIZE(result) : 0;
    int64_t length = 0;

    if (!is_list && PyTuple_CheckExact(result))
        n = PyTuple_GET_SIZE(result);
    else if (!is_list)
        return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *block = is_list ? PyList_GET_ITEM(result, i) : PyTuple_GET_ITEM(result, i);

        if (!PyBytes_Check(block))
            return -1;
        length += PyBytes_GET_SIZE(block);
    }
    return length;
}

/* Send a file as it is. @return false: it has to be read; nothing has been done. */
static bool send_file(struct mk_py_start *s, PyObject *result)
{
    struct mk_py_output *out = &s->call->output;
    uint64_t at, len;
    int fd;

    if (!PyObject_TypeCheck(result, &mk_py_file_type) || !s->head || s->has_begun ||
        s->is_head_request || !mk_py_file_of(result, &fd, &at, &len))
        return false;
    if (s->length >= 0 && (uint64_t)s->length < len)
        len = (uint64_t)s->length;
    /* Nobody else knows of the answer before it begins. */
    out->fd = fd;
    out->file_at = at;
    out->file_len = len;
    s->written = len;
    return mk_py_start_begin(s, (int64_t)len);
}

/* @return 0; MK_E_PEER, MK_E_LIMIT: no more blocks are needed; MK_PY_RAISED. */
static int send_block(struct mk_py_start *s, PyObject *block, bool is_more)
{
    int err;

    if (PyBytes_Check(block) && PyBytes_GET_SIZE(block) == 0 && !s->has_begun)
        return 0; /* the head waits for the first byte */
    err = mk_py_start_write(s, block);
    if (err == 0 && is_more)
        mk_py_call_flush(s->call);
    return err;
}

static int send_blocks(struct mk_py_start *s, PyObject *result)
{
    int64_t length = length_of(result);
    PyObject *blocks = PyObject_GetIter(result), *block;
    int err = 0;

    while (blocks && err == 0 && (block = PyIter_Next(blocks))) {
        /* A list is there at once, and its first block is no reason to wake the worker before its last. */
        if (length > 0 && s->head && !mk_py_start_begin(s, length))
            err = MK_PY_RAISED;
        else
            err = send_block(s, block, length < 0);
        if (err == 0 && s->is_head_request && s->has_begun)
            err = MK_E_EOF; /* the head is all that is needed */
        Py_DECREF(block);
    }
    Py_XDECREF(blocks);
    return PyErr_Occurred() ? MK_PY_RAISED : err;
}

/* After the last block. @return whether the answer is whole. */
static bool end_body(struct mk_py_start *s, int err)
{
    if (err == MK_E_PEER)
        return false;
    if (err == MK_E_LIMIT)
        log_fault(s->call, "gave more bytes than its Content-Length");
    if (err == 0 && !s->has_begun && !mk_py_start_begin(s, s->is_head_request ? -1 : 0))
        return false;
    if (s->is_head_request || s->length < 0 || s->written >= (uint64_t)s->length)
        return true;
    log_fault(s->call, "gave fewer bytes than its Content-Length");
    return false;
}

static void close_result(const struct mk_py_call *c, PyObject *result)
{
    PyObject *close = PyObject_GetAttrString(result, "close"), *done;

    if (!close) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError))
            PyErr_Clear();
        else
            log_exception(c);
        return;
    }
    done = PyObject_CallNoArgs(close);
    if (!done)
        log_exception(c);
    Py_XDECREF(done);
    Py_DECREF(close);
}

/* @return whether the answer is whole; an exception may be set. */
static bool answer(struct mk_py_start *s, PyObject *result)
{
    int err;

    if (result == mk_py_pass) {
        s->call->output.is_passed = !s->has_begun;
        return true;
    }
    if (send_file(s, result))
        return end_body(s, 0);
    err = PyErr_Occurred() ? MK_PY_RAISED : send_blocks(s, result);
    return err != MK_PY_RAISED && end_body(s, err);
}

/* ---- the call ---- */

static PyObject *make_environ(struct mk_py_call *c, PyObject *common, const char *script_name,
                              PyObject **input)
{
    PyObject *environ = mk_py_environ_new(c, common, script_name);

    *input = environ ? mk_py_input_new(c) : NULL;
    if (*input && PyDict_SetItemString(environ, "wsgi.input", *input) == 0)
        return environ;
    Py_XDECREF(environ);
    return NULL;
}

static void call_application(struct mk_py_call *c, PyObject *application, PyObject *environ)
{
    struct mk_py_start *s = mk_py_start_new(c);
    PyObject *result =
        s ? PyObject_CallFunctionObjArgs(application, environ, (PyObject *)s, NULL) : NULL;
    bool is_whole = result && answer(s, result);

    if (PyErr_Occurred())
        log_exception(c);
    mk_py_call_finish(c, !is_whole);
    if (s)
        s->call = NULL;
    if (result && result != mk_py_pass)
        close_result(c, result);
    Py_XDECREF(result);
    Py_XDECREF((PyObject *)s);
}

void mk_py_serve(struct mk_py_call *c, PyObject *application, PyObject *common,
                 const char *script_name)
{
    PyObject *input = NULL, *environ;

    if (mk_py_call_is_over(c)) /* while it waited for a thread */
        return;
    environ = make_environ(c, common, script_name, &input);
    if (environ) {
        call_application(c, application, environ);
    } else {
        log_exception(c);
        mk_py_call_finish(c, true);
    }
    if (input)
        mk_py_input_end(input);
    Py_XDECREF(input);
    Py_XDECREF(environ);
}
