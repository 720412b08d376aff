/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/ask.h>
#include <monkey/server.h>

#include <stdio.h>
#include <string.h>

/*
 * A server in this program answers a request from memory: no connection, no client.
 *
 *     cc ask.c $(pkg-config --cflags --libs monkey) -o ask
 *     ./ask /srv/www /index.html
 */

static void print(FILE *to, struct mk_str s)
{
    if (s.len > 0)
        (void)fwrite(s.p, 1, s.len, to);
}

static void print_fault(void *arg, const char *text, size_t len)
{
    (void)arg;
    print(stderr, (struct mk_str){text, len});
}

static struct mk_server *start(const char *root)
{
    struct mk_config *config;
    struct mk_server *server;
    int err;

    if (mk_config_new(&config, NULL) < 0)
        return NULL;
    (void)!mk_config_set(config, "SERVER", "Listen", "127.0.0.1:0", "ask");
    (void)!mk_config_set(config, "HOST", "DocumentRoot", root, "ask");
    err = mk_server_new(&server, config, NULL);
    if (err > 0) { /* the configuration has errors and is still ours */
        mk_config_faults(config, print_fault, NULL);
        mk_config_free(config);
    }
    if (err != 0)
        return NULL;
    if (mk_server_listen(server) < 0 || mk_server_start(server) < 0) {
        fprintf(stderr, "%s\n", mk_server_why(server));
        mk_server_free(server);
        return NULL;
    }
    return server;
}

int main(int argc, char **argv)
{
    struct mk_question question = {.size = sizeof(question)};
    struct mk_server *server = argc == 3 ? start(argv[1]) : NULL;
    struct mk_answer *answer;
    int err;

    if (!server)
        return 2;
    question.target = (struct mk_str){argv[2], strlen(argv[2])};
    err = mk_server_ask_wait(server, &question, &answer);
    if (err == 0) {
        fprintf(stderr, "%u\n", answer->status);
        print(stderr, answer->fields);
        print(stdout, answer->body);
        err = answer->error;
    }
    mk_answer_free(answer);
    mk_server_free(server);
    return err == 0 ? 0 : 1;
}
