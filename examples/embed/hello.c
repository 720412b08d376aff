/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>
#include <monkey/web.h>
#include <stdio.h>

/* cc hello.c $(pkg-config --cflags --libs monkey-web) -o hello && ./hello 127.0.0.1:8080 */
static enum mk_verdict hello(struct mk_request *r, void *greeting)
{
    return mk_reply_bytes(r, 200, "text/plain", mk_str_from(greeting));
}

int main(int argc, char **argv)
{
    static char greeting[] = "Hello\n";
    struct mk_config *config;
    struct mk_server *server;

    if (argc != 2 || mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", argv[1], "hello") != 0 ||
        mk_config_handle(config, "GET", "/", hello, greeting) != 0 ||
        mk_server_new(&server, config, NULL) != 0 || mk_server_listen(server) != 0)
        return 1;
    if (mk_server_start(server) == 0)
        (void)getchar(); /* until the end of the input */
    mk_server_free(server);
    return 0;
}
