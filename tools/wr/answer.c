/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { PATIENCE_US = 500000, SERVER_ERROR = 500, HEAD_SIZE = 1024 };

static bool copy(char *to, size_t size, const char *from, size_t len)
{
    if (len == 0 || len >= size)
        return false;
    memcpy(to, from, len);
    to[len] = '\0';
    return true;
}

/* @return where c stands before the end, or NULL; the text goes on behind the end, and NUL ends it */
static const char *find_before(const char *at, const char *end, char c)
{
    at = strchr(at, c);
    return at && at < end ? at : NULL;
}

static bool parse_authority(const char *at, size_t len, struct place *p)
{
    const char *end = at + len, *host = at, *host_end, *colon;

    if (len > 0 && *at == '[') {
        host = at + 1;
        host_end = find_before(host, end, ']');
        if (!host_end)
            return false;
        colon = host_end + 1 < end ? host_end + 1 : NULL;
    } else {
        colon = find_before(at, end, ':');
        host_end = colon ? colon : end;
    }
    if (colon &&
        (*colon != ':' || !copy(p->port, sizeof(p->port), colon + 1, (size_t)(end - colon - 1))))
        return false;
    return copy(p->host, sizeof(p->host), host, (size_t)(host_end - host));
}

static bool parse_url(const char *word, struct place *p)
{
    size_t len;

    *p = (struct place){.is_tls = strncmp(word, "https://", 8) == 0};
    if (!p->is_tls && strncmp(word, "http://", 7) != 0)
        return false;
    word += p->is_tls ? 8 : 7;
    (void)snprintf(p->port, sizeof(p->port), "%s", p->is_tls ? "443" : "80");
    len = strcspn(word, "/?# ");
    if (!parse_authority(word, len, p))
        return false;
    word += len;
    len = strcspn(word, "# \r\n");
    return *word == '/' ? copy(p->path, sizeof(p->path), word, len)
                        : copy(p->path, sizeof(p->path), "/", 1);
}

bool place_of_words(char *const *words, struct place *p)
{
    for (; *words; words++) {
        const char *at = strstr(*words, "http");

        for (; at; at = strstr(at + 1, "http"))
            if (parse_url(at, p))
                return true;
    }
    return false;
}

int answer_status(const char *bytes, size_t len)
{
    int status = 0;

    if (len < 13 || strncmp(bytes, "HTTP/1.", 7) != 0 || bytes[8] != ' ')
        return 0;
    if ((bytes[7] != '0' && bytes[7] != '1') || (bytes[12] != ' ' && bytes[12] != '\r'))
        return 0;
    for (int i = 9; i < 12; i++) {
        if (bytes[i] < '0' || bytes[i] > '9')
            return 0;
        status = 10 * status + (bytes[i] - '0');
    }
    return status >= 100 && status <= 599 ? status : 0;
}

void answer_server(const char *head, char *server, size_t size)
{
    const char *at = strcasestr(head, "\r\nServer:"), *end = strstr(head, "\r\n\r\n");

    if (!at || (end && at > end)) {
        *server = '\0';
        return;
    }
    at += strlen("\r\nServer:");
    at += strspn(at, " \t");
    (void)snprintf(server, size, "%.*s", (int)strcspn(at, "\r\n"), at);
}

static int connect_to(const struct place *p)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found, *a;
    struct timeval patience = {.tv_usec = PATIENCE_US};
    int fd = -1;

    if (getaddrinfo(p->host, p->port, &hints, &found) != 0)
        return -1;
    for (a = found; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
            (void)close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    return fd;
}

bool place_answers(struct place *p)
{
    int fd = connect_to(p), status;
    char bytes[HEAD_SIZE];
    size_t len = 0;
    ssize_t got = 1;

    if (fd < 0 || p->is_tls) {
        if (fd >= 0)
            (void)close(fd);
        return fd >= 0;
    }
    (void)dprintf(fd, "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n", p->path, p->host);
    while (len < sizeof(bytes) - 1 && (got = read(fd, bytes + len, sizeof(bytes) - 1 - len)) > 0)
        len += (size_t)got;
    (void)close(fd);
    bytes[len] = '\0';
    answer_server(bytes, p->server, sizeof(p->server));
    status = answer_status(bytes, len);
    return status > 0 && status < SERVER_ERROR;
}
