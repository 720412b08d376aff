/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_PY_CONFIG_H
#define MK_PY_CONFIG_H

#include "python.h"

#include <monkey/server.h>

/** monkey.Error, and monkey.ConfigError, which is a ValueError too. */
extern PyObject *mk_py_error, *mk_py_config_error;

/** What start() and reload() take; texts are borrowed from the arguments. */
struct mk_py_files {
    PyObject *settings;     /* sequence of (section, key, value) */
    const char *directory;  /* of configuration files; NULL: none */
    const char *plugin_dir; /* NULL: the library's */
};
/** Parse the arguments. @return false with an exception. */
bool mk_py_files_parse(struct mk_py_files *f, PyObject *args, PyObject *kwargs);

/** @return a configuration with the plugin, owned by the caller; NULL with an exception. */
struct mk_config *mk_py_config_new(const struct mk_py_files *f, struct mk_py_pool *pool);

/** Raise ConfigError with the faults of a configuration. */
void mk_py_config_raise(const struct mk_config *config);

#endif
