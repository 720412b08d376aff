/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/logs/logs.h"

#include "objects/plain/monkey_time.h"
#include "objects/logs/scribe.h"

struct logs {
    struct mk_duda_scribe *scribe;
    pthread_mutex_t lock; /* of messages */
    struct mk_duda_file_queue *messages;
};

static struct logs *logs_of(const struct mk_duda_service *s)
{
    return mk_duda_state(s, MK_DUDA_PART_LOGS);
}

struct mk_duda_file_queue *mk_duda_logs_add(struct mk_duda_service *s, const char *path, int fd)
{
    return mk_duda_scribe_add(logs_of(s)->scribe, path, fd);
}

void mk_duda_messages_path(const struct mk_duda_service *s, char *path, size_t size)
{
    (void)snprintf(path, size, "/tmp/%s.duda.messages", s->spec.name);
}

struct mk_duda_file_queue *mk_duda_logs_messages(struct mk_duda_service *s)
{
    struct logs *logs = logs_of(s);
    struct mk_duda_file_queue *messages;
    char path[MK_MAX_PATH];

    (void)pthread_mutex_lock(&logs->lock);
    if (!logs->messages) {
        mk_duda_messages_path(s, path, sizeof(path));
        logs->messages = mk_duda_logs_add(s, path, -1);
    }
    messages = logs->messages;
    (void)pthread_mutex_unlock(&logs->lock);
    return messages;
}

static int load(struct mk_duda_service *s)
{
    struct logs *logs = logs_of(s);

    logs->scribe = mk_duda_scribe_new();
    if (!logs->scribe || pthread_mutex_init(&logs->lock, NULL) != 0)
        return mk_duda_refuse(s, "no memory");
    return 0;
}

/* conf->bind_messages(): standard output and error of the whole process go to the service's messages. */
static int ready(struct mk_duda_service *s)
{
    char path[MK_MAX_PATH], now[MK_DUDA_TIME_HUMAN_MAX];
    int fd;

    if (!s->ws.bind_messages)
        return 0;
    mk_duda_messages_path(s, path, sizeof(path));
    fd = mk_duda_open_log(path);
    if (fd < 0) {
        mk_duda_log(s, MK_LOG_ERROR, "conf->bind_messages(): %s cannot be opened", path);
        return 0;
    }
    (void)fflush(stdout);
    (void)mk_duda_time_text(now, mk_duda_xtime.now());
    (void)dprintf(fd, "%s messages of '%s' begin, process %d\n", now, s->spec.name, (int)getpid());
    (void)dup2(fd, STDOUT_FILENO);
    (void)dup2(fd, STDERR_FILENO);
    (void)close(fd);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    return 0;
}

/* Threads of its own may log until the process ends. */
static void exit_of(struct mk_duda_service *s)
{
    struct logs *logs = logs_of(s);

    if (s->is_outlived) {
        mk_duda_scribe_end(logs->scribe);
        return;
    }
    mk_duda_scribe_free(logs->scribe);
    (void)pthread_mutex_destroy(&logs->lock);
}

const struct mk_duda_part mk_duda_logs_part = {
    .service_size = sizeof(struct logs),
    .load = load,
    .ready = ready,
    .exit = exit_of,
};
