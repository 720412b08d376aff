/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CORE_LOG_SINK_INT_H
#define MK_CORE_LOG_SINK_INT_H

#include <stdbool.h>
#include <sys/types.h>

/* Where lines of the error log go, without ever waiting for whoever reads them. */

/**
 * Write what can be written at once. Files may be anything: others may share the descriptor, so its flags are left
 * alone.
 * @return bytes written; -1 with errno: EAGAIN when its reader is too slow.
 */
ssize_t mk_log_write_now(int fd, const char *bytes, size_t len);

/**
 * Send one line to syslog.
 * @param fd    a socket of an earlier call, or -1; kept for the next
 * @param text  terminated, without a line feed
 * @return whether it was taken.
 */
bool mk_log_syslog_now(int *fd, const char *path, int priority, const char *text);

#endif
