/* SPDX-License-Identifier: Apache-2.0 */
#include <libmonkey.h>
#include <stdio.h>
#include <string.h>

/* cc hello.c $(pkg-config --cflags --libs libmonkey) -o hello && ./hello [ADDRESS], until the end of its input */

static int hello(const mklib_session *session, const char *vhost, const char *url, const char *get,
                 unsigned long get_len, const char *post, unsigned long post_len,
                 unsigned int *status, const char **content, unsigned long *len, char *header)
{
    (void)session, (void)vhost, (void)url, (void)get, (void)get_len, (void)post, (void)post_len;
    (void)status;
    *content = "Hello\n";
    *len = 6;
    strcpy(header, "Content-Type: text/plain");
    return MKLIB_TRUE;
}

int main(int argc, char **argv)
{
    mklib_ctx ctx = mklib_init(argc > 1 ? argv[1] : NULL, 2001, 0, NULL);

    if (!ctx || !mklib_callback_set(ctx, MKCB_DATA, hello) || !mklib_start(ctx))
        return 1;
    puts("running");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return mklib_stop(ctx) ? 0 : 1;
}
