/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"

#include <stdarg.h>

enum { MSG_TEXT_MAX = 4096, MSG_LINE_MAX = MSG_TEXT_MAX + 128 }; /* a longer text is cut */

#define BOLD(text) ANSI_BOLD text ANSI_RESET

/* One write for a line, so that those of several threads stay apart. A standard output that is gone loses it. */
__attribute__((format(printf, 3, 0))) static void put_line(const char *colour, const char *word,
                                                           const char *fmt, va_list args)
{
    char text[MSG_TEXT_MAX], at[32], line[MSG_LINE_MAX];
    time_t now = time(NULL);
    struct tm tm;
    int n;

    if (!fmt || vsnprintf(text, sizeof(text), fmt, args) < 0 || !localtime_r(&now, &tm))
        return;
    if (strftime(at, sizeof(at), "%Y/%m/%d %H:%M:%S", &tm) == 0)
        return;
    n = snprintf(line, sizeof(line),
                 BOLD("[") "%s" BOLD("]") " " BOLD("[") "%s%s%s" BOLD("]") " %s\n", at, colour,
                 word, ANSI_RESET, text);
    if (n > 0 && fwrite(line, 1, (size_t)n, stdout) == (size_t)n)
        (void)fflush(stdout);
}

#define MSG_LEVELS(X)                                                                              \
    X(info, ANSI_GREEN, "   Info")                                                                 \
    X(warn, ANSI_YELLOW, "Warning")                                                                \
    X(err, ANSI_RED, "  Error")                                                                    \
    X(bug, ANSI_BOLD ANSI_RED, " BUG ! ")

#define MSG_CALL(name, colour, word)                                                               \
    __attribute__((format(printf, 1, 2))) static void msg_##name(const char *fmt, ...)             \
    {                                                                                              \
        va_list args;                                                                              \
                                                                                                   \
        va_start(args, fmt);                                                                       \
        put_line(colour, word, fmt, args);                                                         \
        va_end(args);                                                                              \
    }
MSG_LEVELS(MSG_CALL)

#define MSG_MEMBER(name, colour, word) .name = msg_##name,
const struct duda_api_msg mk_duda_msg = {MSG_LEVELS(MSG_MEMBER)};
