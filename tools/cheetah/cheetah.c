/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#ifdef HAVE_LIBEDIT
#include <histedit.h>
#endif

/*
 * cheetah: the client of the server's shell. Each command has a connection of its own, so that a server
 * that was started anew meanwhile is found again.
 */

enum { LINE_SIZE = 1024, PATIENCE_S = 20, HISTORY_LINES = 500 };

struct order {
    const char *socket, *port;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

static const char usage[] =
    "usage: cheetah [-s SOCKET | -p PORT] [COMMAND [PARAMETER]] [--json]\n"
    "  -s, --socket SOCKET  the server's socket; default: the only cheetah.PORT in\n"
    "                       $XDG_RUNTIME_DIR or /run/monkey\n"
    "  -p, --port PORT      the socket of this port\n"
    "  -h, --help           this text\n"
    "Without COMMAND, commands are read from the terminal or standard input; \"help\" lists "
    "them.\n";

static int complain(const char *what, const char *why)
{
    (void)fprintf(stderr, "cheetah: %s: %s\n", what, why);
    return 1;
}

/* ---- finding the server ---- */

static bool take_path(struct order *order, const char *path)
{
    size_t len = strlen(path);

    if (len >= sizeof(order->path)) {
        complain(path, "the name of the socket is too long");
        return false;
    }
    memcpy(order->path, path, len + 1);
    return true;
}

/* As the server chooses it. */
static const char *runtime_directory(void)
{
    const char *own = geteuid() == 0 ? NULL : getenv("XDG_RUNTIME_DIR");

    return own && own[0] == '/' ? own : "/run/monkey";
}

static bool choose_only_one(struct order *order)
{
    char pattern[4096];
    glob_t found = {0};
    bool ok;

    (void)snprintf(pattern, sizeof(pattern), "%s/cheetah.*", runtime_directory());
    if (glob(pattern, 0, NULL, &found) != 0 || found.gl_pathc == 0)
        return complain(pattern, "there is no socket; name one with -s") == 0;
    if (found.gl_pathc == 1) {
        ok = take_path(order, found.gl_pathv[0]);
    } else {
        complain(pattern, "there are several sockets; choose one with -s");
        for (size_t i = 0; i < found.gl_pathc; i++)
            (void)fprintf(stderr, "  %s\n", found.gl_pathv[i]);
        ok = false;
    }
    globfree(&found);
    return ok;
}

static bool find_server(struct order *order)
{
    char path[4096];

    if (order->socket)
        return take_path(order, order->socket);
    if (!order->port)
        return choose_only_one(order);
    (void)snprintf(path, sizeof(path), "%s/cheetah.%s", runtime_directory(), order->port);
    return take_path(order, path);
}

/* @return a descriptor, or -1 after complaining. */
static int dial(const struct order *order)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(sun.sun_path, order->path, sizeof(order->path));
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0 &&
        connect(fd, (const struct sockaddr *)&sun, sizeof(sun)) == 0)
        return fd;
    complain(order->path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* ---- one command ---- */

static bool send_all(int fd, const char *p, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            p += n;
            len -= (size_t)n;
        }
    }
    return shutdown(fd, SHUT_WR) == 0;
}

static bool begins(const char *text, size_t len, const char *with)
{
    return len >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* Show the reply. @return 0; 1 when it is an error, or came to no end. */
static int show_reply(const struct order *order, int fd)
{
    char piece[16384];
    bool is_first = true, is_error = false;
    ssize_t n;

    while ((n = recv(fd, piece, sizeof(piece), 0)) > 0) {
        if (is_first)
            is_error =
                begins(piece, (size_t)n, "error: ") || begins(piece, (size_t)n, "{\"error\": ");
        is_first = false;
        if (fwrite(piece, 1, (size_t)n, stdout) != (size_t)n)
            return complain("standard output", strerror(errno));
    }
    if (n < 0 && !is_error) /* who is turned away is told why, and may be cut off then */
        return complain(order->path, errno == EAGAIN ? "no answer" : strerror(errno));
    if (fflush(stdout) != 0)
        return complain("standard output", strerror(errno));
    return is_error ? 1 : 0;
}

static int ask(const struct order *order, const char *line)
{
    int fd = dial(order), result = 1;

    if (fd < 0)
        return 1;
    /* A server that turns us away has closed already, but said why. */
    if (send_all(fd, line, strlen(line)) || errno == EPIPE || errno == ENOTCONN)
        result = show_reply(order, fd);
    else
        complain(order->path, strerror(errno));
    close(fd);
    return result;
}

/* ---- lines ---- */

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t\r\n")] == '\0';
}

static bool is_quit(const char *line)
{
    char word[8] = "", more[2] = "";

    return sscanf(line, "%7s %1s", word, more) == 1 &&
           (strcmp(word, "quit") == 0 || strcmp(word, "\\q") == 0);
}

/* @return the exit code: 1 once a command failed. */
static int read_plain_lines(const struct order *order, bool with_prompt)
{
    char line[LINE_SIZE + 2];
    int result = 0;

    for (;;) {
        if (with_prompt) {
            (void)fputs("monkey> ", stdout);
            (void)fflush(stdout);
        }
        if (!fgets(line, sizeof(line), stdin) || is_quit(line))
            return result;
        if (!is_blank(line) && ask(order, line) != 0)
            result = 1;
    }
}

#ifdef HAVE_LIBEDIT
/* Make the directories of a path, as far as they are missing. */
static void make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

/* @return false: there is no home for it. */
static bool history_path(char *dst, size_t size)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int len = -1;

    if (state && state[0] == '/')
        len = snprintf(dst, size, "%s/monkey/cheetah_history", state);
    else if (home && home[0] == '/')
        len = snprintf(dst, size, "%s/.local/state/monkey/cheetah_history", home);
    return len > 0 && (size_t)len < size;
}

static const char *prompt(EditLine *el)
{
    (void)el;
    return "monkey> ";
}

static int edit_lines(const struct order *order, EditLine *el, History *lines)
{
    HistEvent event;
    const char *line;
    int count, result = 0;

    while ((line = el_gets(el, &count)) && count > 0 && !is_quit(line)) {
        if (is_blank(line))
            continue;
        (void)history(lines, &event, H_ENTER, line);
        result = ask(order, line) != 0 ? 1 : result;
    }
    return result;
}

static int converse(const struct order *order)
{
    EditLine *el = el_init("cheetah", stdin, stdout, stderr);
    History *lines = history_init();
    char path[4096];
    HistEvent event;
    bool is_kept = history_path(path, sizeof(path));
    int result;

    if (!el || !lines)
        return complain("terminal", "cannot be used");
    (void)umask(077);
    (void)history(lines, &event, H_SETSIZE, HISTORY_LINES);
    (void)history(lines, &event, H_SETUNIQUE, 1);
    (void)el_set(el, EL_PROMPT, prompt);
    (void)el_set(el, EL_EDITOR, "emacs");
    (void)el_set(el, EL_SIGNAL, 1);
    (void)el_set(el, EL_HIST, history, lines);
    if (is_kept)
        (void)history(lines, &event, H_LOAD, path);
    result = edit_lines(order, el, lines);
    if (is_kept) {
        make_directories(path);
        (void)history(lines, &event, H_SAVE, path);
    }
    history_end(lines);
    el_end(el);
    return result;
}
#else
static int converse(const struct order *order)
{
    return read_plain_lines(order, true);
}
#endif

/* ---- the command ---- */

/* The rest of the arguments as a line. @return false: too long. */
static bool join(char *dst, size_t size, char **words)
{
    size_t len = 0;

    for (; *words; words++) {
        int n = snprintf(dst + len, size - len, "%s ", *words);

        if (n < 0 || (size_t)n >= size - len)
            return false;
        len += (size_t)n;
    }
    dst[len - 1] = '\n';
    return strchr(dst, '\n') == dst + len - 1; /* one line, whatever the words are */
}

/* @return -1, or the exit code. */
static int read_options(struct order *order, int argc, char **argv)
{
    static const struct option options[] = {
        {"socket", required_argument, NULL, 's'},
        {"port", required_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int c;

    while ((c = getopt_long(argc, argv, "+s:p:h", options, NULL)) != -1) {
        if (c == 's') {
            order->socket = optarg;
        } else if (c == 'p') {
            order->port = optarg;
        } else {
            (void)fputs(usage, c == 'h' ? stdout : stderr);
            return c == 'h' ? 0 : 2;
        }
    }
    if (!order->socket || !order->port)
        return -1;
    (void)fputs(usage, stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct order order = {0};
    char line[LINE_SIZE + 2];
    int result = read_options(&order, argc, argv);

    if (result >= 0)
        return result;
    if (!find_server(&order))
        return 1;
    if (optind == argc)
        return isatty(STDIN_FILENO) ? converse(&order) : read_plain_lines(&order, false);
    if (!join(line, sizeof(line), argv + optind))
        return complain("command", "it must be one line of at most 1024 bytes");
    return ask(&order, line);
}
