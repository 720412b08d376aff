/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_PY_PYTHON_H
#define MK_PY_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "call.h"

#include <monkey/events.h>
#include <monkey/field.h>

/* The Python side. All functions here need the GIL. */

extern PyTypeObject mk_py_server_type;
extern PyTypeObject mk_py_input_type;
extern PyTypeObject mk_py_start_type;
extern PyTypeObject mk_py_file_type;
/** What an application returns to leave a request to the server's files. */
extern PyObject *mk_py_pass;

/** Prepare static types and the keys of environ. @return false with an exception. */
bool mk_py_environ_ready(void);

/**
 * Make the environ of a call (PEP 3333): texts are bytes as latin-1.
 * @param common  dictionary to begin with, not changed
 * @return a new reference; NULL with an exception.
 */
PyObject *mk_py_environ_new(const struct mk_py_call *c, PyObject *common, const char *script_name);

/** Make wsgi.input; it takes a reference of the call until mk_py_input_end. */
PyObject *mk_py_input_new(struct mk_py_call *c);
/** The call has ended: reads raise an exception from now on. */
void mk_py_input_end(PyObject *input);

/** start_response of one call. */
struct mk_py_start {
    PyObject_HEAD struct mk_py_call *call; /* NULL: the call has ended */
    struct mk_py_head *head;               /* owned until the answer begins */
    int64_t length;                        /* Content-Length of the application; -1: none */
    uint64_t written;                      /* bytes of the body */
    bool is_called, has_begun, is_head_request, is_over;
};
struct mk_py_start *mk_py_start_new(struct mk_py_call *c);
/**
 * Begin the answer, if it has not begun.
 * @param length  of the body, if the application did not give one; -1: unknown
 * @return false with an exception: start_response was not called.
 */
bool mk_py_start_begin(struct mk_py_start *s, int64_t length);
/**
 * Send a block of the body, waiting for room without the GIL.
 * @return 0; MK_E_PEER: nobody reads it; MK_E_LIMIT: more than Content-Length, cut; -100 with an exception.
 */
int mk_py_start_write(struct mk_py_start *s, PyObject *block);
enum { MK_PY_RAISED = -100 };

/** @return the descriptor, place and length of a file that can be sent as it is; false without an exception: it cannot. */
bool mk_py_file_of(PyObject *wrapper, int *fd, uint64_t *at, uint64_t *len);

/** Answer one call with an application. Exceptions are logged. */
void mk_py_serve(struct mk_py_call *c, PyObject *application, PyObject *common,
                 const char *script_name);

/** Is this latin-1 without control characters? @return its bytes, borrowed from text; p NULL with an exception. */
struct mk_str mk_py_latin1(PyObject *text, const char *what);

#endif
