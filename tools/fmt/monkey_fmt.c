/* SPDX-License-Identifier: Apache-2.0 */
#include "fmt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* monkey-fmt: give configuration files the form of those that Monkey ships. */

static void usage(FILE *to)
{
    (void)fputs(
        "usage: monkey-fmt [--check] [FILE...]\n"
        "Format configuration files of monkey in their place, or standard input to standard "
        "output.\n"
        "  --check  change nothing; name the files that would change, and exit with 1\n",
        to);
}

static int complain(const char *name, const char *why)
{
    (void)fprintf(stderr, "monkey-fmt: %s: %s\n", name, why);
    return 2;
}

/* @return all of it, at most FMT_FILE_MAX bytes; p NULL with errno. Owned by the caller. */
static struct mk_str read_all(FILE *in)
{
    char *text = malloc(FMT_FILE_MAX + 1);
    size_t len;

    if (!text)
        return (struct mk_str){NULL, 0};
    len = fread(text, 1, FMT_FILE_MAX + 1, in);
    if (ferror(in) || len > FMT_FILE_MAX) {
        if (!ferror(in))
            errno = EFBIG;
        free(text);
        return (struct mk_str){NULL, 0};
    }
    return (struct mk_str){text, len};
}

static bool write_all(int fd, struct mk_str text)
{
    while (text.len > 0) {
        const ssize_t n = write(fd, text.p, text.len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text = (struct mk_str){text.p + n, text.len - (size_t)n};
    }
    return true;
}

/* Owner and mode stay; whoever reads the name meanwhile gets the old file or the new one. */
static bool replace(const char *path, struct mk_str text)
{
    const size_t size = strlen(path) + 8;
    char *other = malloc(size);
    struct stat st;
    bool done = false;
    int fd;

    if (!other)
        return false;
    (void)snprintf(other, size, "%s.XXXXXX", path);
    fd = stat(path, &st) == 0 ? mkstemp(other) : -1;
    if (fd >= 0) {
        done = write_all(fd, text) && (fchown(fd, st.st_uid, st.st_gid) == 0 || errno == EPERM) &&
               fchmod(fd, st.st_mode & 07777) == 0 && fsync(fd) == 0;
        done = close(fd) == 0 && done && rename(other, path) == 0;
        if (!done)
            (void)unlink(other);
    }
    free(other);
    return done;
}

/* What a link leads to is replaced, not the link. */
static int write_back(const char *name, struct mk_str text)
{
    char *path = realpath(name, NULL);
    const bool done = path && replace(path, text);
    const int err = errno;

    free(path);
    return done ? 0 : complain(name, strerror(err));
}

/* @param name  NULL: standard input, which goes to standard output */
static int finish(const char *name, struct mk_str text, struct mk_str formatted, bool checks)
{
    const bool is_same = text.len == formatted.len && memcmp(text.p, formatted.p, text.len) == 0;

    if (checks) {
        if (!is_same)
            (void)printf("%s\n", name ? name : "standard input");
        return is_same ? 0 : 1;
    }
    if (name)
        return is_same ? 0 : write_back(name, formatted);
    return write_all(STDOUT_FILENO, formatted) ? 0 : complain("standard output", strerror(errno));
}

static int format(const char *name, struct mk_str text, bool checks)
{
    char *dst = malloc(fmt_room(text));
    struct fmt_fault fault;
    ssize_t len;
    int code = 2;

    if (!dst)
        return complain(name ? name : "standard input", strerror(errno));
    len = fmt_text(dst, text, &fault);
    if (len < 0)
        (void)fprintf(stderr, "%s:%u: error: %s\n", name ? name : "standard input", fault.line,
                      fault.why);
    else
        code = finish(name, text, (struct mk_str){dst, (size_t)len}, checks);
    free(dst);
    return code;
}

/* @return 0; 1: --check, and it would change; 2: it is left as it is. */
static int format_file(const char *name, bool checks)
{
    FILE *in = name ? fopen(name, "r") : stdin;
    struct mk_str text = {NULL, 0};
    int err, code;

    if (in)
        text = read_all(in);
    err = errno;
    if (in && name)
        (void)fclose(in);
    if (!text.p)
        return complain(name ? name : "standard input", strerror(err));
    code = format(name, text, checks);
    free((void *)(uintptr_t)text.p);
    return code;
}

int main(int argc, char **argv)
{
    bool checks = false;
    int i = 1, worst = 0;

    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            usage(stdout);
            return 0;
        }
        if (strcmp(argv[i], "--check") != 0) {
            usage(stderr);
            return 2;
        }
        checks = true;
    }
    if (i == argc)
        return format_file(NULL, checks);
    for (; i < argc; i++) {
        const int code = format_file(argv[i], checks);

        worst = code > worst ? code : worst;
    }
    return worst;
}
