/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/monkey.hpp>
#include <monkey/server.h>
#include <monkey/web.h>

#include <cstdio>
#include <stdexcept>
#include <string>

/*
 * Handlers in C++17, which may throw.
 *
 *     c++ -std=c++17 hello.cpp $(pkg-config --cflags --libs monkey-web) -o hello && ./hello 127.0.0.1:8080
 */
static mk_verdict hello(mk_request *r, void *)
{
    const std::string text = "Hello from C++\n";

    return mk_reply_bytes(r, 200, "text/plain", {text.data(), text.size()});
}

static mk_verdict fail(mk_request *, void *)
{
    throw std::runtime_error("nothing to see");
}

static mk_verdict fail_late(mk_request *r, void *)
{
    mk_reply reply;

    if (mk_reply_begin(&reply, r, 200) == 0)
        (void)!mk_reply_end(&reply, 100);
    throw 5;
}

int main(int argc, char **argv)
{
    mk_config *config;
    mk_server *server;

    if (argc != 2 || mk_config_new(&config, nullptr) != 0 ||
        mk_config_set(config, "SERVER", "Listen", argv[1], "hello") != 0 ||
        mk_config_handle(config, "GET", "/", monkey::guarded<hello>, nullptr) != 0 ||
        mk_config_handle(config, "GET", "/fail", monkey::guarded<fail>, nullptr) != 0 ||
        mk_config_handle(config, "GET", "/late", monkey::guarded<fail_late>, nullptr) != 0 ||
        mk_server_new(&server, config, nullptr) != 0 || mk_server_listen(server) != 0 ||
        mk_server_start(server) != 0)
        return 1;
    (void)std::getchar(); /* until the end of the input */
    mk_server_free(server);
    return 0;
}
