/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>
#include <monkey/web.h>
#include <stdio.h>

/* cc json_echo.c $(pkg-config --cflags --libs monkey-web) -o json_echo && ./json_echo 127.0.0.1:8080 */
static enum mk_verdict echo(struct mk_request *r, void *arg)
{
    struct mk_str body;
    struct mk_json j;
    int err = mk_request_body(r, 65536, &body);

    (void)arg;
    if (err < 0)
        return mk_reply_refusal(r, err); /* waits for more, too */
    mk_json_begin_reply(&j, r, 1 << 20);
    mk_json_object(&j);
    mk_json_key(&j, MK_STR("name"));
    mk_json_text(&j, mk_path_value(r, MK_STR("name")));
    mk_json_key(&j, MK_STR("length"));
    mk_json_uint(&j, body.len);
    mk_json_key(&j, MK_STR("body"));
    mk_json_text(&j, body);
    mk_json_close(&j);
    return mk_reply_json(r, 200, &j);
}

int main(int argc, char **argv)
{
    struct mk_config *config;
    struct mk_server *server;

    if (argc != 2 || mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", argv[1], "json_echo") != 0 ||
        mk_config_handle(config, "POST", "/echo/:name", echo, NULL) != 0 ||
        mk_server_new(&server, config, NULL) != 0 || mk_server_listen(server) != 0)
        return 1;
    if (mk_server_start(server) == 0)
        (void)getchar(); /* until the end of the input */
    mk_server_free(server);
    return 0;
}
