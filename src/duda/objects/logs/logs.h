/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_LOGS_H
#define MK_DUDA_OBJECTS_LOGS_H

#include "service/service.h"

/* The files to which a service logs: those of logger, and its messages. */

enum { MK_DUDA_LOG_LINE_MAX = 4096 }; /* a longer text is cut */

struct mk_duda_file_queue;

/** Add a file; see mk_duda_scribe_add. */
struct mk_duda_file_queue *mk_duda_logs_add(struct mk_duda_service *s, const char *path, int fd);

/** @return the queue of the service's messages file, made at its first use; NULL without memory. Any thread. */
struct mk_duda_file_queue *mk_duda_logs_messages(struct mk_duda_service *s);
/** Write the path of the messages file: "/tmp/NAME.duda.messages". */
void mk_duda_messages_path(const struct mk_duda_service *s, char *path, size_t size);

#endif
