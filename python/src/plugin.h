/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_PY_PLUGIN_H
#define MK_PY_PLUGIN_H

#include <monkey/plugin.h>

/**
 * The plugin "wsgi", which hands every request of every site to the Python threads of a pool: its argument is a
 * struct mk_py_pool. Its hooks run on workers and touch no Python object.
 */
extern const struct mk_plugin mk_py_plugin;

#endif
