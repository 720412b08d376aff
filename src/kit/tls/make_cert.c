/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/make_cert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* Clients' clocks are not ours. And some refuse certificates that are valid for longer than 825 days. */
    BEFORE_S = 3600,
    VALID_S = 825 * 86400 - BEFORE_S,
    COMMON_NAME_MAX = 64, /* RFC 5280 appendix A.1 */
};

static const char certificate_name[] = "cert.pem", key_name[] = "key.pem";

/* ---- what it says ---- */

static int plan_names(struct tls_cert_plan *plan, const char *const *names, char *why, size_t size)
{
    const char *wrong;
    int err = tls_alt_names_encode(&plan->names, names, &wrong);

    if (err == MK_E_INVALID)
        (void)snprintf(why, size, "\"%.80s\" is neither a host name nor an address", wrong);
    else if (err < 0)
        (void)snprintf(why, size, "there are too many names for one certificate");
    plan->common_name = strlen(names[0]) <= COMMON_NAME_MAX ? names[0] : "monkey";
    return err;
}

static int plan_rest(struct tls_cert_plan *plan, char *why, size_t size)
{
    time_t now = time(NULL);

    plan->from = now - BEFORE_S;
    plan->until = now + VALID_S;
    if (getrandom(plan->serial, sizeof(plan->serial), 0) != sizeof(plan->serial)) {
        (void)snprintf(why, size, "no random bytes: %s", strerror(errno));
        return MK_E_SYS;
    }
    plan->serial[0] = (plan->serial[0] & 0x7f) | 0x40;
    return 0;
}

/* ---- where it goes ---- */

static int cannot(const char *what, const char *dir, const char *name, char *why, size_t size)
{
    (void)snprintf(why, size, "cannot %s %.300s%s%s: %s", what, dir, *name ? "/" : "", name,
                   strerror(errno));
    return MK_E_SYS;
}

static int open_dir(const char *dir, char *why, size_t size)
{
    int fd;

    if (mkdir(dir, 0755) < 0 && errno != EEXIST)
        return cannot("make", dir, "", why, size);
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? cannot("open", dir, "", why, size) : fd;
}

static int make_file(int folder, const char *dir, const char *name, mode_t mode, char *why,
                     size_t size)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

    if (fd < 0 && errno == EEXIST) {
        (void)snprintf(why, size, "%.300s/%s exists already and is kept", dir, name);
        return MK_E_EXISTS;
    }
    return fd < 0 ? cannot("make", dir, name, why, size) : fd;
}

static bool write_whole(int fd, const char *text)
{
    for (size_t len = strlen(text); len > 0;) {
        ssize_t n = write(fd, text, len);

        if (n < 0 && errno != EINTR)
            return false;
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return fsync(fd) == 0 || errno == EINVAL || errno == EROFS; /* not every file has a disk */
}

/* What is written here is whole, or it is not there. */
static int write_file(int folder, const char *dir, const char *name, mode_t mode, const char *text,
                      char *why, size_t size)
{
    int fd = make_file(folder, dir, name, mode, why, size), err = 0;

    if (fd < 0)
        return fd;
    if (!write_whole(fd, text))
        err = cannot("write", dir, name, why, size);
    close(fd);
    if (err < 0)
        (void)unlinkat(folder, name, 0);
    return err;
}

static int write_pair(const char *dir, const struct tls_cert_pair *pair, char *why, size_t size)
{
    int folder = open_dir(dir, why, size), err;

    if (folder < 0)
        return folder;
    err = write_file(folder, dir, key_name, 0600, pair->key, why, size);
    if (err == 0) {
        err = write_file(folder, dir, certificate_name, 0644, pair->certificate, why, size);
        if (err < 0)
            (void)unlinkat(folder, key_name, 0);
    }
    close(folder);
    return err;
}

/* ---- the command ---- */

static void tell(const struct tls_cert_plan *plan, const char *dir, char *text, size_t size)
{
    char until[sizeof("2036-12-31")];
    struct tm tm;

    if (!gmtime_r(&plan->until, &tm) || strftime(until, sizeof(until), "%Y-%m-%d", &tm) == 0)
        until[0] = '\0';
    (void)snprintf(text, size, "made %.300s/%s and %.300s/%s, valid until %s\n", dir,
                   certificate_name, dir, key_name, until);
}

static int make_cert(const char *dir, const char *const *names, tls_cert_sign_fn sign, char *text,
                     size_t size)
{
    struct tls_cert_plan plan;
    struct tls_cert_pair pair;
    int err = plan_names(&plan, names, text, size);

    if (err == 0)
        err = plan_rest(&plan, text, size);
    if (err == 0)
        err = sign(&plan, &pair, text, size);
    if (err == 0)
        err = write_pair(dir, &pair, text, size);
    if (err == 0)
        tell(&plan, dir, text, size);
    explicit_bzero(&pair, sizeof(pair));
    return err;
}

int tls_make_cert_command(const char *const *words, tls_cert_sign_fn sign, char *text, size_t size)
{
    static const char *const usual[] = {"localhost", "127.0.0.1", "::1", NULL};

    if (strcmp(words[0], "make-cert") != 0)
        return MK_E_UNSUPPORTED;
    if (!words[1]) {
        (void)snprintf(text, size, "make-cert needs a directory");
        return MK_E_INVALID;
    }
    return make_cert(words[1], words[2] ? words + 2 : usual, sign, text, size);
}
