/* SPDX-License-Identifier: Apache-2.0 */
#include "answers.h"

#include <monkey/plugin.h>
#include <unistd.h>

/* libmonkey: a plugin of the program, one worker. */

static enum mk_verdict on_hello(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    (void)ctx, (void)data;
    return mk_reply_bytes(r, 200, "text/plain", MK_STR(HELLO));
}

static const struct mk_plugin hello = {MK_PLUGIN("hello", "13 bytes"), .on_handle = on_hello};

static enum mk_verdict on_json(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    char text[JSON_ROOM];

    (void)ctx, (void)data;
    return mk_reply_bytes(r, 200, "application/json", (struct mk_str){text, write_json(text)});
}

static const struct mk_plugin json = {MK_PLUGIN("json", "about 1 KB"), .on_handle = on_json};

static unsigned long long *counter(struct mk_request *r)
{
    unsigned long long *bytes = mk_request_kept(r, &json);

    if (bytes)
        return bytes;
    bytes = mk_request_alloc(r, sizeof(*bytes));
    if (!bytes || mk_request_keep(r, &json, bytes) < 0)
        return NULL;
    *bytes = 0;
    return bytes;
}

static enum mk_verdict on_count(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    unsigned long long *bytes = counter(r);
    char text[COUNT_ROOM], part[65536];
    ssize_t got = MK_E_NOMEM;

    (void)ctx, (void)data;
    while (bytes && (got = mk_request_read(r, part, sizeof(part))) > 0)
        *bytes += (size_t)got;
    if (got == MK_E_AGAIN)
        return MK_VERDICT_LATER;
    if (got < 0)
        return mk_reply_error(r, 400, NULL);
    return mk_reply_bytes(r, 200, "text/plain", (struct mk_str){text, write_count(text, *bytes)});
}

static const struct mk_plugin count = {MK_PLUGIN("count", "bytes of a body"),
                                       .on_handle = on_count};

static void print_fault(void *arg, const char *text, size_t len)
{
    (void)arg;
    (void)fwrite(text, 1, len, stderr);
}

int main(int argc, char **argv)
{
    static const char *const settings[][3] = {
        {"SERVER", "Workers", "1"},
        {"SERVER", "KeepAliveTimeout", "120"},
        {"SERVER", "MaxBodySize", "100M"},
        {"SERVER", "MaxKeepAliveRequest", "1000000"},
        {"HANDLERS", "Match", "^/hello$ hello"},
        {"HANDLERS", "Match", "^/json$ json"},
        {"HANDLERS", "Match", "^/count$ count"},
    };
    static const struct mk_plugin *const plugins[] = {&hello, &json, &count};
    struct mk_config *config;
    struct mk_server *server;
    char address[64];
    int err;

    (void)snprintf(address, sizeof(address), "127.0.0.1:%s", argc > 1 ? argv[1] : "0");
    err = mk_config_new(&config, NULL);
    if (err == 0)
        err = mk_config_set(config, "SERVER", "Listen", address, "bench");
    for (size_t i = 0; err == 0 && i < sizeof(settings) / sizeof(settings[0]); i++)
        err = mk_config_set(config, settings[i][0], settings[i][1], settings[i][2], "bench");
    for (size_t i = 0; err == 0 && i < sizeof(plugins) / sizeof(plugins[0]); i++)
        err = mk_config_plugin(config, plugins[i], NULL);
    if (err == 0 && (err = mk_server_new(&server, config, NULL)) > 0)
        mk_config_faults(config, print_fault, NULL);
    if (err != 0 || mk_server_listen(server) < 0 || mk_server_start(server) < 0)
        return 1;
    for (;;)
        pause();
}
