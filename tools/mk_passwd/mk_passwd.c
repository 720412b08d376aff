/* SPDX-License-Identifier: Apache-2.0 */
#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

/*
 * mk_passwd: set or delete a user in a file of the auth plugin. The new file is written beside the old
 * one and renamed over it, so that the server never reads half of it.
 */

enum { PASSWORD_MAX = 255, USER_MAX = 255, LINE_SIZE = 4096 };

struct order {
    bool create, delete, from_input;
    const char *file, *user, *password;
};

static void usage(FILE *to)
{
    (void)fputs("usage: mk_passwd [-c] [-D] [-i] FILE USER [PASSWORD]\n"
                "  -c  create FILE; it must not exist\n"
                "  -D  delete USER\n"
                "  -i  read the password from standard input\n"
                "Without PASSWORD, the program asks for it. Other users can see a password among "
                "the arguments.\n",
                to);
}

static int complain(const char *what)
{
    (void)fprintf(stderr, "mk_passwd: %s: %s\n", what, strerror(errno));
    return 1;
}

static int refuse(const char *why)
{
    (void)fprintf(stderr, "mk_passwd: %s\n", why);
    return 1;
}

/* ---- the password ---- */

/* One line without its end. @return false: end of input, or too long. */
static bool read_line(char *dst, size_t size)
{
    size_t len;

    if (!fgets(dst, (int)size, stdin))
        return false;
    len = strlen(dst);
    if (len > 0 && dst[len - 1] == '\n')
        dst[--len] = '\0';
    else if (!feof(stdin))
        return false;
    if (len > 0 && dst[len - 1] == '\r')
        dst[len - 1] = '\0';
    return true;
}

/* Ask at the terminal without showing what is typed. */
static bool ask(const char *prompt, char *dst, size_t size)
{
    struct termios before, silent;
    bool shown = tcgetattr(STDIN_FILENO, &before) < 0, ok;

    (void)fprintf(stderr, "%s: ", prompt);
    if (!shown) {
        silent = before;
        silent.c_lflag &= ~(tcflag_t)ECHO;
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    }
    ok = read_line(dst, size);
    if (!shown)
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    (void)fputc('\n', stderr);
    return ok;
}

static int get_password(const struct order *order, char dst[PASSWORD_MAX + 2])
{
    char again[PASSWORD_MAX + 2];

    if (order->password && strlen(order->password) <= PASSWORD_MAX)
        strcpy(dst, order->password); /* the length was looked at */
    else if (order->password || (order->from_input && !read_line(dst, PASSWORD_MAX + 2)))
        return refuse("the password is missing, or longer than 255 bytes");
    else if (!order->from_input &&
             (!ask("Password", dst, PASSWORD_MAX + 2) || !ask("Again", again, PASSWORD_MAX + 2)))
        return refuse("the password is missing, or longer than 255 bytes");
    else if (!order->from_input && strcmp(dst, again) != 0)
        return refuse("the passwords differ");
    return dst[0] ? 0 : refuse("an empty password protects nothing");
}

/* How crypt(3) is to hash: yescrypt where the library makes settings, SHA-512 elsewhere. */
static bool make_setting(char *dst, size_t size)
{
#ifdef HAVE_CRYPT_GENSALT
    return crypt_gensalt_rn("$y$", 0, NULL, 0, dst, (int)size) != NULL;
#else
    static const char letters[] =
        "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    unsigned char salt[16];
    int at = snprintf(dst, size, "$6$rounds=100000$");

    if (getrandom(salt, sizeof(salt), 0) != sizeof(salt) || at + sizeof(salt) + 2 > size)
        return false;
    for (size_t i = 0; i < sizeof(salt); i++)
        dst[at++] = letters[salt[i] % 64];
    dst[at] = '\0';
    return true;
#endif
}

/* @return the hash, or NULL. */
static const char *hash_of(const char *password)
{
    static struct crypt_data data;
    char setting[192];
    const char *hash =
        make_setting(setting, sizeof(setting)) ? crypt_r(password, setting, &data) : NULL;

    return hash && *hash != '*' ? hash : NULL;
}

/* ---- the file ---- */

static bool is_line_of(const char *line, const char *user)
{
    size_t len = strlen(user);

    return strncmp(line, user, len) == 0 && line[len] == ':';
}

/* Copy all lines but the user's, which is replaced where it stood. @return whether the user was there. */
static bool copy_lines(FILE *from, FILE *to, const char *user, const char *hash)
{
    char line[LINE_SIZE];
    bool found = false, begins = true;

    while (fgets(line, sizeof(line), from)) {
        bool own = begins && is_line_of(line, user);
        size_t len = strlen(line);

        begins = len > 0 && line[len - 1] == '\n';
        if (!own)
            (void)fputs(line, to);
        else if (hash && !found)
            (void)fprintf(to, "%s:%s\n", user, hash);
        found = found || own;
    }
    if (!begins)
        (void)fputc('\n', to);
    return found;
}

static FILE *open_new(const struct order *order, char *name, size_t size, const struct stat *like)
{
    int len = snprintf(name, size, "%s.new", order->file), fd;
    FILE *to;

    if (len < 0 || (size_t)len >= size)
        return NULL;
    fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    to = fd < 0 ? NULL : fdopen(fd, "w");
    if (!to)
        return NULL;
    if (like &&
        (fchown(fd, like->st_uid, like->st_gid) < 0 || fchmod(fd, like->st_mode & 0777) < 0)) {
        (void)fclose(to);
        (void)unlink(name);
        return NULL;
    }
    if (!like)
        (void)fchmod(fd, 0640);
    return to;
}

/* @return whether everything is on the disk. */
static bool finish(FILE *to)
{
    bool ok = fflush(to) == 0 && fsync(fileno(to)) == 0;

    return fclose(to) == 0 && ok;
}

static int write_file(const struct order *order, const char *hash)
{
    FILE *from = order->create ? NULL : fopen(order->file, "re"), *to;
    char name[4096];
    struct stat like;
    bool found = false, whole;

    if (!order->create && (!from || fstat(fileno(from), &like) < 0))
        return complain(order->file);
    to = open_new(order, name, sizeof(name), from ? &like : NULL);
    if (!to) {
        if (from)
            (void)fclose(from);
        return complain(name);
    }
    if (from) {
        found = copy_lines(from, to, order->user, hash);
        (void)fclose(from);
    }
    if (!found && hash)
        (void)fprintf(to, "%s:%s\n", order->user, hash);
    whole = !ferror(to);
    whole = finish(to) && whole;
    if (!hash && !found) {
        (void)unlink(name);
        return refuse("there is no such user");
    }
    /* A file that is to be created may have come meanwhile: link does not replace it. */
    if (!whole || (order->create ? link(name, order->file) < 0 : rename(name, order->file) < 0)) {
        int err = complain(order->file);

        (void)unlink(name);
        return err;
    }
    if (order->create)
        (void)unlink(name);
    return 0;
}

/* ---- the command ---- */

/* Said before a password is asked for; link says it once more when the file comes meanwhile. */
static int refuse_existing(const struct order *order)
{
    (void)fprintf(
        stderr,
        "mk_passwd: %s exists already, and -c would replace it; without -c the user is added "
        "to it, or gets the new password\n",
        order->file);
    return 1;
}

static int check_order(const struct order *order)
{
    if (order->user[0] == '\0' || strlen(order->user) > USER_MAX || strpbrk(order->user, ":\n\r") ||
        order->user[0] == '#')
        return refuse("a user name has 1 to 255 bytes, no colon, and does not begin with #");
    if (order->create && order->delete)
        return refuse("-c and -D contradict each other");
    if (order->delete &&(order->password || order->from_input))
        return refuse("-D takes no password");
    return 0;
}

/* @return false: show the usage. */
static bool read_arguments(struct order *order, int argc, char **argv)
{
    int c;

    while ((c = getopt(argc, argv, "cDi")) != -1) {
        switch (c) {
        case 'c':
            order->create = true;
            break;
        case 'D':
            order->delete = true;
            break;
        case 'i':
            order->from_input = true;
            break;
        default:
            return false;
        }
    }
    if (argc - optind < 2 || argc - optind > 3)
        return false;
    order->file = argv[optind];
    order->user = argv[optind + 1];
    order->password = argv[optind + 2];
    return !(order->password && order->from_input);
}

int main(int argc, char **argv)
{
    struct order order = {0};
    char password[PASSWORD_MAX + 2];
    const char *hash = NULL;

    if (!read_arguments(&order, argc, argv)) {
        usage(stderr);
        return 2;
    }
    if (check_order(&order) != 0)
        return 2;
    if (order.create && access(order.file, F_OK) == 0)
        return refuse_existing(&order);
    if (!order.delete) {
        if (get_password(&order, password) != 0)
            return 1;
        hash = hash_of(password);
        if (!hash)
            return complain("hashing");
    }
    return write_file(&order, hash);
}
