/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "pool.h"

#include <unistd.h>

/*
 * The type Server: a server of the library with one application. Its methods refuse a wrong order of calls with an
 * exception. What may take time runs without the GIL, so a second call may come meanwhile; it is refused too, because the
 * library wants one thread at a time.
 */

struct server {
    PyObject_HEAD struct mk_server *server; /* NULL: not started, or freed */
    struct mk_py_pool pool;
    PyObject *application, *common, *script_name, *spool_dir;
    size_t nthreads; /* in run() */
    pid_t pid;
    bool is_busy, is_closed;
};

/* ---- life ---- */

static bool read_options(struct server *s, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"application", "common",      "script_name",
                            "spool_dir",   "body_memory", "answer_memory",
                            "max_waiting", "streamed",    NULL};
    Py_ssize_t body = 1 << 20, answer = 256 << 10, waiting = 1024;
    int is_streamed = 0;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!UU|$nnnp:Server", names, &s->application,
                                     &PyDict_Type, &s->common, &s->script_name, &s->spool_dir,
                                     &body, &answer, &waiting, &is_streamed))
        return false;
    if (body < (32 << 10) || answer < 4096 || waiting < 1) {
        PyErr_SetString(PyExc_ValueError,
                        "body_memory is at least 32 KB, answer_memory 4 KB, max_waiting 1");
        return false;
    }
    if (!PyCallable_Check(s->application)) {
        PyErr_SetString(PyExc_TypeError, "the application is not callable");
        return false;
    }
    s->pool.spool_dir = PyUnicode_AsUTF8(s->spool_dir);
    s->pool.body_memory = (size_t)body;
    s->pool.answer_memory = (size_t)answer;
    s->pool.max_waiting = (size_t)waiting;
    s->pool.is_streamed = is_streamed;
    return s->pool.spool_dir && PyUnicode_AsUTF8(s->script_name);
}

static PyObject *new_server(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct server *s = (struct server *)type->tp_alloc(type, 0);
    bool is_read;

    if (!s)
        return NULL;
    s->pid = getpid();
    mk_py_pool_init(&s->pool);
    is_read = read_options(s, args, kwargs);
    Py_XINCREF(s->application);
    Py_XINCREF(s->common);
    Py_XINCREF(s->script_name);
    Py_XINCREF(s->spool_dir);
    if (is_read)
        return (PyObject *)s;
    Py_DECREF(s);
    return NULL;
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    struct server *s = (struct server *)self;

    Py_VISIT(s->application);
    Py_VISIT(s->common);
    return 0;
}

static int clear(PyObject *self)
{
    struct server *s = (struct server *)self;

    Py_CLEAR(s->application);
    Py_CLEAR(s->common);
    return 0;
}

/* A child of fork has none of the threads, and must leave what they hold alone. */
static void dealloc(PyObject *self)
{
    struct server *s = (struct server *)self;

    PyObject_GC_UnTrack(self);
    if (s->pid == getpid()) {
        struct mk_server *server = s->server;

        Py_BEGIN_ALLOW_THREADS mk_server_free(server);
        Py_END_ALLOW_THREADS mk_py_pool_fini(&s->pool);
    }
    (void)clear(self);
    Py_XDECREF(s->script_name);
    Py_XDECREF(s->spool_dir);
    Py_TYPE(self)->tp_free(self);
}

/* ---- order of calls ---- */

static bool fail(const char *why)
{
    PyErr_SetString(PyExc_RuntimeError, why);
    return false;
}

static bool may_control(const struct server *s, bool is_started)
{
    if (s->pid != getpid())
        return fail("the server belongs to the process that fork copied");
    if (s->is_busy)
        return fail("another thread starts, reloads or closes this server");
    if (s->is_closed)
        return fail("the server is closed");
    if (is_started && !s->server)
        return fail("the server is not started");
    return is_started || !s->server || fail("the server is started already");
}

/* ---- start and reload ---- */

static int start_server(struct mk_server *server)
{
    int err = mk_server_listen(server);

    return err < 0 ? err : mk_server_start(server);
}

static PyObject *start(PyObject *self, PyObject *args, PyObject *kwargs)
{
    struct server *s = (struct server *)self;
    struct mk_server *server = NULL;
    struct mk_config *config;
    struct mk_py_files files;
    int err;

    if (!may_control(s, false) || !mk_py_files_parse(&files, args, kwargs) ||
        !(config = mk_py_config_new(&files, &s->pool)))
        return NULL;
    s->is_busy = true;
    Py_BEGIN_ALLOW_THREADS err = mk_server_new(&server, config, NULL);
    if (err == 0)
        err = start_server(server);
    Py_END_ALLOW_THREADS s->is_busy = false;
    if (err > 0) {
        mk_py_config_raise(config);
        mk_config_free(config);
        return NULL;
    }
    if (err < 0) {
        PyErr_SetString(mk_py_error, server ? mk_server_why(server) : mk_error_text(err));
        mk_server_free(server);
        return NULL;
    }
    s->server = server;
    Py_RETURN_NONE;
}

static PyObject *reload(PyObject *self, PyObject *args, PyObject *kwargs)
{
    struct server *s = (struct server *)self;
    struct mk_config *config;
    struct mk_py_files files;
    int err;

    if (!may_control(s, true) || !mk_py_files_parse(&files, args, kwargs) ||
        !(config = mk_py_config_new(&files, &s->pool)))
        return NULL;
    s->is_busy = true;
    Py_BEGIN_ALLOW_THREADS err = mk_server_reload(s->server, config);
    Py_END_ALLOW_THREADS s->is_busy = false;
    if (err == 0)
        Py_RETURN_NONE;
    if (err > 0)
        mk_py_config_raise(config);
    else
        PyErr_SetString(mk_py_error, mk_server_why(s->server));
    mk_config_free(config);
    return NULL;
}

static PyObject *reopen_logs(PyObject *self, PyObject *unused)
{
    struct server *s = (struct server *)self;
    int err;

    (void)unused;
    if (!may_control(s, true))
        return NULL;
    err = mk_server_reopen_logs(s->server);
    if (err == 0)
        Py_RETURN_NONE;
    PyErr_SetString(mk_py_error, mk_error_text(err));
    return NULL;
}

/* ---- facts ---- */

static void add_text(void *arg, const char *text, size_t len)
{
    PyObject *list = arg, *item = PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "replace");

    if (item)
        (void)PyList_Append(list, item);
    Py_XDECREF(item);
}

static PyObject *addresses(PyObject *self, PyObject *unused)
{
    struct server *s = (struct server *)self;
    PyObject *list;

    (void)unused;
    if (!may_control(s, true))
        return NULL;
    list = PyList_New(0);
    if (list)
        mk_server_addresses(s->server, add_text, list);
    if (PyErr_Occurred())
        Py_CLEAR(list);
    return list;
}

static PyObject *stats_of(const struct mk_server *server, unsigned worker)
{
    struct mk_worker_stats t = {.size = sizeof(t)};

    if (mk_server_stats(server, worker, &t) < 0)
        return PyDict_New();
    return Py_BuildValue("{sKsKsKsKsK}", "accepted", (unsigned long long)t.accepted, "requests",
                         (unsigned long long)t.requests, "bytes_in", (unsigned long long)t.bytes_in,
                         "bytes_out", (unsigned long long)t.bytes_out, "connections",
                         (unsigned long long)t.connections);
}

static PyObject *stats(PyObject *self, PyObject *unused)
{
    struct server *s = (struct server *)self;
    PyObject *list;

    (void)unused;
    if (!may_control(s, true))
        return NULL;
    list = PyList_New(0);
    for (unsigned i = 0; list && i < mk_server_workers(s->server); i++) {
        PyObject *one = stats_of(s->server, i);

        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *get_fd(PyObject *self, PyObject *unused)
{
    const struct server *s = (struct server *)self;

    (void)unused;
    return may_control(s, true) ? PyLong_FromLong(mk_server_fd(s->server)) : NULL;
}

static PyObject *write_log(PyObject *self, PyObject *args)
{
    const struct server *s = (struct server *)self;
    const char *text;
    int level;

    if (!PyArg_ParseTuple(args, "is:log", &level, &text) || !may_control(s, true))
        return NULL;
    if (level < MK_LOG_ERROR || level > MK_LOG_TRACE) {
        PyErr_SetString(PyExc_ValueError, "no such level");
        return NULL;
    }
    mk_server_log(s->server, (enum mk_log_level)level, "%s", text);
    Py_RETURN_NONE;
}

/* ---- threads ---- */

static PyObject *run(PyObject *self, PyObject *unused)
{
    struct server *s = (struct server *)self;
    struct mk_py_call *c;

    (void)unused;
    if (s->pid != getpid())
        return fail("the server belongs to the process that fork copied") ? self : NULL;
    s->nthreads++;
    for (;;) {
        Py_BEGIN_ALLOW_THREADS c = mk_py_pool_take(&s->pool);
        Py_END_ALLOW_THREADS if (!c) break;
        mk_py_serve(c, s->application, s->common, PyUnicode_AsUTF8(s->script_name));
        mk_py_call_put(c);
    }
    s->nthreads--;
    Py_RETURN_NONE;
}

/* ---- end ---- */

static PyObject *stop(PyObject *self, PyObject *args)
{
    struct server *s = (struct server *)self;
    unsigned grace_ms;
    const char *why = "stop()";

    if (!PyArg_ParseTuple(args, "I|s:stop", &grace_ms, &why) || !may_control(s, true))
        return NULL;
    mk_server_stop_because(s->server, grace_ms, why);
    Py_RETURN_NONE;
}

static PyObject *release(PyObject *self, PyObject *unused)
{
    struct server *s = (struct server *)self;

    (void)unused;
    if (s->pid != getpid())
        return fail("the server belongs to the process that fork copied") ? self : NULL;
    mk_py_pool_close(&s->pool);
    Py_RETURN_NONE;
}

/* A thread that still answers may wake a worker, so the library's server has to stay. */
static PyObject *close_server(PyObject *self, PyObject *unused)
{
    struct server *s = (struct server *)self;
    struct mk_server *server = s->server;

    (void)unused;
    if (s->is_closed && s->pid == getpid())
        Py_RETURN_NONE;
    if (server ? !may_control(s, true) : !may_control(s, false))
        return NULL;
    mk_py_pool_close(&s->pool);
    if (s->nthreads > 0) {
        PyErr_SetString(mk_py_error, "threads of the server still run");
        return NULL;
    }
    s->server = NULL;
    s->is_closed = true;
    Py_BEGIN_ALLOW_THREADS mk_server_free(server);
    Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

#define WITH_KEYWORDS(function)                                                                    \
    (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

static PyMethodDef methods[] = {
    {"start", WITH_KEYWORDS(start),
     "start(settings, directory=None, plugin_dir=None): listen and serve"},
    {"reload", WITH_KEYWORDS(reload),
     "reload(settings, directory=None, plugin_dir=None): change the configuration"},
    {"reopen_logs", reopen_logs, METH_NOARGS, "reopen_logs(): open log files again by name"},
    {"addresses", addresses, METH_NOARGS,
     "addresses(): the listening addresses with their real ports"},
    {"stats", stats, METH_NOARGS, "stats(): counters of each worker"},
    {"fileno", get_fd, METH_NOARGS,
     "fileno(): a descriptor that is readable when all workers have ended"},
    {"log", write_log, METH_VARARGS,
     "log(level, text): write to the error log; 0 is error, 3 is debug"},
    {"run", run, METH_NOARGS, "run(): answer requests on this thread until release()"},
    {"stop", stop, METH_VARARGS, "stop(grace_ms, why='stop()'): begin a graceful stop"},
    {"release", release, METH_NOARGS, "release(): let every run() return"},
    {"close", close_server, METH_NOARGS,
     "close(): stop at once and free everything, after all run() have returned"},
    {0},
};

PyTypeObject mk_py_server_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "monkey._monkey.Server",
    .tp_basicsize = sizeof(struct server),
    .tp_dealloc = dealloc,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "Server(application, common, script_name, spool_dir, ...): the library's server.",
    .tp_methods = methods,
    .tp_new = new_server,
};
