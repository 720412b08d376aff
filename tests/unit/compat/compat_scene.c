/* SPDX-License-Identifier: Apache-2.0 */
#include "compat_scene.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { NAMES = 16, PATH_ROOM = 100 };

static char dir[] = "/tmp/mk-compat-XXXXXX";
static char paths[NAMES][PATH_ROOM], addresses[NAMES][PATH_ROOM];
static int warnings = -1;

int compat_set_up(void **state)
{
    (void)state;
    return mkdtemp(dir) && chmod(dir, 0755) == 0 ? 0 : -1;
}

int compat_set_up_listening(void **state)
{
    if (compat_set_up(state) < 0)
        return -1;
    compat_listen_to_warnings();
    return 0;
}

int compat_tear_down(void **state)
{
    (void)state;
    if (warnings >= 0)
        (void)dup2(warnings, STDERR_FILENO);
    for (size_t i = 0; i < NAMES && paths[i][0]; i++)
        (void)remove(paths[i]);
    return rmdir(dir) == 0 || access(dir, F_OK) < 0 ? 0 : -1;
}

static size_t number_of(const char *name)
{
    char path[PATH_ROOM];

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    for (size_t i = 0; i < NAMES; i++) {
        if (!paths[i][0]) {
            memcpy(paths[i], path, sizeof(path));
            (void)snprintf(addresses[i], PATH_ROOM, "unix:%.90s", path);
        }
        if (strcmp(paths[i], path) == 0)
            return i;
    }
    fail_msg("too many names");
    return 0;
}

const char *compat_path(const char *name)
{
    return paths[number_of(name)];
}

const char *compat_address(const char *name)
{
    return addresses[number_of(name)];
}

void compat_write(const char *name, const char *text)
{
    FILE *file = fopen(compat_path(name), "we");

    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

int compat_connect(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", compat_path(name));
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

void compat_send(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);

        assert_true(sent > 0);
        text += sent;
        len -= (size_t)sent;
    }
}

char *compat_rest(int fd)
{
    size_t len = 0, room = 1 << 16;
    char *all = malloc(room);
    ssize_t got;

    for (;;) {
        assert_non_null(all);
        got = read(fd, all + len, room - len - 1);
        if (got <= 0)
            break;
        len += (size_t)got;
        if (room - len < 1 << 15)
            all = realloc(all, room *= 2);
    }
    all[len] = '\0';
    (void)close(fd);
    return all;
}

char *compat_ask(const char *name, const char *head, const char *body, size_t len)
{
    static const char end[] = "Connection: close\r\n\r\n";
    int fd = compat_connect(name);

    compat_send(fd, head, strlen(head));
    compat_send(fd, end, sizeof(end) - 1);
    compat_send(fd, body, len);
    return compat_rest(fd);
}

void compat_is(char *answer, int status, const char *body)
{
    const char *found = strstr(answer, "\r\n\r\n");
    char start[20];

    (void)snprintf(start, sizeof(start), "HTTP/1.1 %d ", status);
    if (strncmp(answer, start, strlen(start)) != 0 ||
        (body && (!found || strcmp(found + 4, body) != 0)))
        fail_msg("not %d %s but:\n%.2000s", status, body ? body : "", answer);
    free(answer);
}

void compat_expect(const char *name, const char *path, int status, const char *body)
{
    char head[2000];

    (void)snprintf(head, sizeof(head), "GET %s HTTP/1.1\r\nHost: a\r\n", path);
    compat_is(compat_ask(name, head, "", 0), status, body);
}

void compat_listen_to_warnings(void)
{
    int fd = open(compat_path("warnings"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, 0600);

    assert_true(fd >= 0);
    warnings = dup(STDERR_FILENO);
    assert_true(dup2(fd, STDERR_FILENO) >= 0);
    (void)close(fd);
}

bool compat_warned(const char *words)
{
    FILE *file = fopen(compat_path("warnings"), "re");
    char text[8000];
    size_t len;

    assert_non_null(file);
    len = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[len] = '\0';
    assert_int_equal(truncate(compat_path("warnings"), 0), 0);
    if (strstr(text, words))
        return true;
    (void)dprintf(warnings, "no \"%s\" in: %s\n", words, text);
    return false;
}

/* ---- allocations: the linker sends those of the libraries here ---- */

static atomic_long left = -1;

static bool memory_fails(void)
{
    long n = atomic_load(&left);

    while (n >= 0 && !atomic_compare_exchange_weak(&left, &n, n - 1))
        ;
    return n == 0;
}

void compat_fail_after(long n)
{
    atomic_store(&left, n);
}

#define WRAPS_REALLOC
#include "../wrapped_memory.h"

/* The linker's names. NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);
char *__wrap_strdup(const char *s)
{
    return memory_fails() ? NULL : __real_strdup(s);
}

char *__real_strndup(const char *s, size_t len);
char *__wrap_strndup(const char *s, size_t len);
char *__wrap_strndup(const char *s, size_t len)
{
    return memory_fails() ? NULL : __real_strndup(s, len);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
