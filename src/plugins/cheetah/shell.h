/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHEETAH_SHELL_H
#define CHEETAH_SHELL_H

#include <stdbool.h>

struct mk_context;

/*
 * The shell of a server: one runtime, with its sessions, for all configurations that have it at the same
 * place, so that a reload ends no session. It is counted by configuration, and watched by the first
 * worker.
 */
struct shell;

/**
 * On the control thread.
 * @param socket  path; NULL: the default one. Not looked at for a terminal, nor is group
 * @param group   whose members may use it too; NULL: none
 * @return it, or NULL after saying why (mk_plugin_why), *err being the reason.
 */
struct shell *cheetah_shell_open(const struct mk_context *ctx, bool is_terminal, const char *socket,
                                 const char *group, int *err);
/** Is this the shell that cheetah_shell_open with the same words would make? */
bool cheetah_shell_is_at(const struct shell *shell, bool is_terminal, const char *socket);
struct shell *cheetah_shell_get(struct shell *shell);
/** The last one removes it. Any thread. */
void cheetah_shell_put(struct shell *shell);

/**
 * On the first worker, once for each configuration: the first one begins to answer.
 * @return 0, or an error after saying why.
 */
int cheetah_shell_watch(struct shell *shell, const struct mk_context *ctx);
/** The last one ends all sessions. */
void cheetah_shell_leave(struct shell *shell);

#endif
