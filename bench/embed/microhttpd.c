/* SPDX-License-Identifier: Apache-2.0 */
#include "answers.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <stdlib.h>
#include <unistd.h>

/* GNU libmicrohttpd as its manual recommends it for many connections: epoll in a thread of its own. */

static struct MHD_Response *hello;

static enum MHD_Result queue(struct MHD_Connection *c, const char *type, const char *text,
                             size_t len)
{
    struct MHD_Response *r =
        MHD_create_response_from_buffer(len, (void *)text, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result;

    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    result = MHD_queue_response(c, 200, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result count(struct MHD_Connection *c, size_t *upload_size, void **state)
{
    unsigned long long *bytes = *state;
    char text[COUNT_ROOM];

    if (!bytes) {
        *state = calloc(1, sizeof(*bytes));
        return *state ? MHD_YES : MHD_NO;
    }
    if (*upload_size > 0) {
        *bytes += *upload_size;
        *upload_size = 0;
        return MHD_YES;
    }
    return queue(c, "text/plain", text, write_count(text, *bytes));
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    char json[JSON_ROOM];

    (void)arg, (void)method, (void)version, (void)upload;
    if (strcmp(url, "/count") == 0)
        return count(c, upload_size, state);
    if (!*state) { /* an answer to the first call would close the connection */
        *state = calloc(1, 1);
        return *state ? MHD_YES : MHD_NO;
    }
    if (strcmp(url, "/hello") == 0)
        return MHD_queue_response(c, 200, hello);
    if (strcmp(url, "/json") == 0)
        return queue(c, "application/json", json, write_json(json));
    return MHD_NO;
}

static void complete(void *arg, struct MHD_Connection *c, void **state,
                     enum MHD_RequestTerminationCode code)
{
    (void)arg, (void)c, (void)code;
    free(*state);
}

int main(int argc, char **argv)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    at.sin_port = htons((uint16_t)(argc > 1 ? strtoul(argv[1], NULL, 10) : 0));
    hello = MHD_create_response_from_buffer(sizeof(HELLO) - 1, HELLO, MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(hello, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain");
    if (!MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, NULL,
                          MHD_OPTION_SOCK_ADDR, &at, MHD_OPTION_CONNECTION_LIMIT,
                          (unsigned)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
                          (unsigned)KEEP_SECONDS, MHD_OPTION_LISTEN_BACKLOG_SIZE, 4096u,
                          MHD_OPTION_NOTIFY_COMPLETED, complete, NULL, MHD_OPTION_END))
        return 1;
    for (;;)
        pause();
}
