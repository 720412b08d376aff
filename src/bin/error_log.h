/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_ERROR_LOG_H
#define MK_BIN_ERROR_LOG_H

/*
 * Lines of the keeper for ErrorLog, written as the server writes its own, because the server is dead.
 * @param target  ErrorLog: a path, "stderr" or "syslog"; NULL: stderr
 */
void mk_error_log(const char *target, const char *line);

#endif
