/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "plugin.h"
#include "pool.h"

PyObject *mk_py_error, *mk_py_config_error;

bool mk_py_files_parse(struct mk_py_files *f, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"settings", "directory", "plugin_dir", NULL};

    *f = (struct mk_py_files){0};
    return PyArg_ParseTupleAndKeywords(args, kwargs, "O|zz", names, &f->settings, &f->directory,
                                       &f->plugin_dir);
}

static int apply(struct mk_config *config, PyObject *setting)
{
    const char *section, *key, *value;

    if (!PyTuple_Check(setting)) {
        PyErr_SetString(PyExc_TypeError, "a setting must be a tuple (section, key, value)");
        return MK_E_INVALID;
    }
    if (!PyArg_ParseTuple(setting, "sss:setting", &section, &key, &value))
        return MK_E_INVALID;
    return mk_config_set(config, section, key, value, "python");
}

static int apply_all(struct mk_config *config, PyObject *settings)
{
    PyObject *all = PySequence_Fast(settings, "settings must be a sequence");
    int err = all ? 0 : MK_E_INVALID;

    for (Py_ssize_t i = 0; err == 0 && i < PySequence_Fast_GET_SIZE(all); i++)
        err = apply(config, PySequence_Fast_GET_ITEM(all, i));
    Py_XDECREF(all);
    return err;
}

static int fill(struct mk_config *config, const struct mk_py_files *f, struct mk_py_pool *pool)
{
    const struct mk_config_files files = {.size = sizeof(files), .dir = f->directory};
    int err = mk_config_plugin(config, &mk_py_plugin, pool);

    if (err == 0 && f->plugin_dir)
        err = mk_config_plugin_dir(config, f->plugin_dir);
    if (err == 0 && f->directory)
        err = mk_config_read(config, &files);
    return err == 0 ? apply_all(config, f->settings) : err;
}

struct mk_config *mk_py_config_new(const struct mk_py_files *f, struct mk_py_pool *pool)
{
    struct mk_config *config;
    int err = mk_config_new(&config, NULL);

    if (err == 0) {
        err = fill(config, f, pool);
        if (err == 0)
            return config;
        mk_config_free(config);
    }
    if (!PyErr_Occurred())
        PyErr_SetString(mk_py_error, mk_error_text(err));
    return NULL;
}

/* Texts of files may have any bytes. */
static void gather(void *arg, const char *text, size_t len)
{
    PyObject *list = arg, *line = PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "replace");

    if (line)
        (void)PyList_Append(list, line);
    Py_XDECREF(line);
}

void mk_py_config_raise(const struct mk_config *config)
{
    PyObject *lines = PyList_New(0), *none = PyUnicode_FromString(""), *text = NULL;

    if (lines && none)
        mk_config_faults(config, gather, lines);
    if (lines && none && !PyErr_Occurred())
        text = PyUnicode_Join(none, lines);
    if (text)
        PyErr_SetObject(mk_py_config_error, text);
    Py_XDECREF(lines);
    Py_XDECREF(none);
    Py_XDECREF(text);
}
