/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

/* monkey._monkey: what the package's Python files are written upon. */

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "monkey._monkey",
    .m_doc = "libmonkey with a pool of Python threads; use the package monkey.",
    .m_size = -1, /* one interpreter */
};

static bool add(PyObject *module, const char *name, PyObject *object)
{
    return object && PyModule_AddObjectRef(module, name, object) == 0;
}

static bool add_type(PyObject *module, const char *name, PyTypeObject *type)
{
    return PyType_Ready(type) == 0 && add(module, name, (PyObject *)type);
}

static bool add_errors(PyObject *module)
{
    PyObject *bases;

    mk_py_error =
        PyErr_NewExceptionWithDoc("monkey.Error", "The server cannot do that.", NULL, NULL);
    bases = mk_py_error ? PyTuple_Pack(2, mk_py_error, PyExc_ValueError) : NULL;
    mk_py_config_error =
        bases ? PyErr_NewExceptionWithDoc("monkey.ConfigError",
                                          "The configuration has errors; the text names each.",
                                          bases, NULL)
              : NULL;
    Py_XDECREF(bases);
    return add(module, "Error", mk_py_error) && add(module, "ConfigError", mk_py_config_error);
}

/* Where the plugins of a build tree are; None: where the library was installed. */
static bool add_plugin_dir(PyObject *module)
{
#ifdef MK_PY_PLUGIN_DIR
    return PyModule_AddStringConstant(module, "plugin_dir", MK_PY_PLUGIN_DIR) == 0;
#else
    return add(module, "plugin_dir", Py_None);
#endif
}

static bool fill(PyObject *module)
{
    mk_py_pass = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
    return mk_py_environ_ready() && PyType_Ready(&mk_py_input_type) == 0 &&
           PyType_Ready(&mk_py_start_type) == 0 && add_type(module, "Server", &mk_py_server_type) &&
           add_type(module, "FileWrapper", &mk_py_file_type) && add_errors(module) &&
           add(module, "PASS", mk_py_pass) && add_plugin_dir(module) &&
           PyModule_AddStringConstant(module, "version", mk_version()) == 0;
}

PyMODINIT_FUNC PyInit__monkey(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (module && !fill(module))
        Py_CLEAR(module);
    return module;
}
