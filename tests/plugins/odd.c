/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/plugin.h>

/* What a host must refuse or get along with; built several times, with one of these: */

#if defined(ODD_MAJOR)
static const struct mk_plugin plugin = {
    .size = sizeof(struct mk_plugin), .major = 77, .name = "odd_major", .about = ""};
#elif defined(ODD_NAME)
static const struct mk_plugin plugin = {MK_PLUGIN("Not A Name", "")};
#elif defined(ODD_OTHER_NAME)
static const struct mk_plugin plugin = {MK_PLUGIN("somebody_else", "")};
#elif defined(ODD_SMALL)
static const struct mk_plugin plugin = {.size = 8, .major = MK_PLUGIN_MAJOR, .name = "odd_small"};
#endif

#if defined(ODD_NO_SYMBOL)
MK_API extern const int monkey_is_no_plugin;
MK_API const int monkey_is_no_plugin = 1;
#elif defined(ODD_EMPTY)
extern const struct mk_plugin *const mk_plugin;
MK_API const struct mk_plugin *const mk_plugin = NULL;
#elif defined(ODD_UNRESOLVED)
extern void mk_there_is_no_such_function(void);
extern void (*const mk_plugin)(void);
MK_API void (*const mk_plugin)(void) = mk_there_is_no_such_function;
#else
MK_PLUGIN_EXPORT(plugin);
#endif
