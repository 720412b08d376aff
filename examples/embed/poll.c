/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>
#include <monkey/web.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

/*
 * A server in the loop of a program, which waits with poll(2) for its own things too: each line of the standard
 * input is what GET / answers from then on. No thread is started, so no lock is needed. The end of the input stops.
 *
 *     cc poll.c $(pkg-config --cflags --libs monkey-web) -o poll && ./poll 127.0.0.1:8080
 */

struct word {
    char text[256];
    size_t len;
};

static enum mk_verdict say(struct mk_request *r, void *arg)
{
    const struct word *word = arg;
    char *copy =
        mk_request_alloc(r, word->len); /* the answer may leave after the next line has come */

    if (!copy)
        return mk_reply_error(r, 503, NULL);
    memcpy(copy, word->text, word->len);
    return mk_reply_bytes(r, 200, "text/plain", (struct mk_str){copy, word->len});
}

static void read_word(struct word *word, struct mk_server *server)
{
    ssize_t n = read(STDIN_FILENO, word->text, sizeof(word->text));

    if (n > 0)
        word->len = (size_t)n;
    else
        mk_server_stop(server, 1000);
}

static void loop(struct mk_server *server, struct word *word)
{
    struct pollfd fds[] = {{.fd = mk_server_poll_fd(server), .events = POLLIN},
                           {.fd = STDIN_FILENO, .events = POLLIN}};

    do {
        if (poll(fds, 2, mk_server_wait_ms(server)) > 0 && fds[1].revents) {
            read_word(word, server);
            fds[1].fd = word->len > 0 ? fds[1].fd : -1;
        }
    } while (mk_server_turn(server, 0) > 0);
}

int main(int argc, char **argv)
{
    struct word word = {.text = "nothing yet\n", .len = 12};
    struct mk_config *config;
    struct mk_server *server;

    if (argc != 2 || mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", argv[1], "poll") != 0 ||
        mk_config_set(config, "SERVER", "Workers", "1", "poll") != 0 ||
        mk_config_handle(config, "GET", "/", say, &word) != 0 ||
        mk_server_new(&server, config, NULL) != 0 || mk_server_listen(server) != 0 ||
        mk_server_start_here(server) != 0)
        return 1;
    loop(server, &word);
    mk_server_free(server);
    return 0;
}
