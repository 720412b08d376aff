/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_EXPLAIN_H
#define MONKEY_EXPLAIN_H

/*
 * What a plugin says when `monkey --explain URL` asks who would answer a request, and why. The server decides about the
 * request as always, but nothing runs, listens or is connected: of a plugin with MK_TRAIT_PURE the hooks of requests are
 * called as they are, of any other one its hook `explain` in their place.
 *
 *     static enum mk_verdict hello_explain(struct mk_request *r, const struct mk_context *ctx, struct mk_explain *e)
 *     {
 *         mk_explain_say(e, mk_explain_place(e, "Greeting", MK_STR("Hello")), "greets the client");
 *         return MK_VERDICT_DONE;
 *     }
 *
 * What a plugin logs meanwhile at level info or above is among its words, with the place that it names by
 * `by=FILE:LINE`. All calls are made inside the hook.
 */

#include <monkey/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The hook in whose place, or before which, a plugin explains itself. */
enum mk_explain_stage {
    MK_EXPLAIN_REQUEST,   /* on_request */
    MK_EXPLAIN_HANDLE,    /* on_handle */
    MK_EXPLAIN_DIRECTORY, /* on_directory */
};

/** @return the present one. */
MK_API enum mk_explain_stage mk_explain_stage(const struct mk_explain *e);

/** @return the data of the route that was matched, as for on_handle; NULL in other stages. */
MK_API void *mk_explain_data(const struct mk_explain *e);

/**
 * Find a line of the plugin's sections that holds for the request: of its location first, then of its site, then of the
 * plugin's own files.
 * @param key   in any case; NULL: the first section
 * @param word  the first word of the value, or all of it, in any case; a slash at the end does not count. p NULL: any value
 * @return where it was written; else where the first section was; NULL: nothing was. Borrowed until the configuration
 *         is freed.
 */
MK_API const struct mk_origin *mk_explain_place(const struct mk_explain *e, const char *key,
                                                struct mk_str word);

/**
 * Say what decides, in a few words that follow the plugin's name. Longer texts are clipped, control bytes escaped.
 * @param at  the setting that does; NULL: none. Borrowed for the call
 */
MK_API void mk_explain_say(struct mk_explain *e, const struct mk_origin *at, const char *fmt, ...)
    MK_PRINTF(3, 4);

#ifdef __cplusplus
}
#endif

#endif
