/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>
#include <monkey/web.h>
#include <stdio.h>
#include <uv.h>

/*
 * A server in a loop of libuv, beside a timer of the program: GET / answers how often that has fired. The end of the
 * standard input stops the server, and the loop ends with it.
 *
 *     cc uv.c $(pkg-config --cflags --libs monkey-web libuv) -o uv && ./uv 127.0.0.1:8080
 */

struct program {
    struct mk_server *server;
    uv_poll_t poll;   /* the server's descriptor */
    uv_timer_t due;   /* the server's next turn without it */
    uv_timer_t ticks; /* the program's own */
    uv_pipe_t input;
    unsigned count;
};

static enum mk_verdict say(struct mk_request *r, void *arg)
{
    const struct program *p = arg;
    char *text = mk_request_alloc(r, 16);

    if (!text)
        return mk_reply_error(r, 503, NULL);
    return mk_reply_bytes(
        r, 200, "text/plain",
        (struct mk_str){text, (size_t)snprintf(text, 16, "%u ticks\n", p->count)});
}

static void on_due(uv_timer_t *timer);

static void close_one(uv_handle_t *handle, void *arg)
{
    (void)arg;
    uv_close(handle, NULL);
}

static void turn(struct program *p)
{
    int wait_ms;

    if (mk_server_turn(p->server, 0) <= 0) {
        uv_walk(p->poll.loop, close_one, NULL);
        return;
    }
    wait_ms = mk_server_wait_ms(p->server);
    if (wait_ms < 0)
        uv_timer_stop(&p->due);
    else
        uv_timer_start(&p->due, on_due, (uint64_t)wait_ms, 0);
}

static void on_due(uv_timer_t *timer)
{
    turn(timer->data);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    turn(poll->data);
}

static void on_tick(uv_timer_t *timer)
{
    struct program *p = timer->data;

    p->count++;
}

static void give_room(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
    static char room[256];

    (void)handle, (void)size;
    *buffer = uv_buf_init(room, sizeof(room));
}

static void on_input(uv_stream_t *input, ssize_t n, const uv_buf_t *buffer)
{
    struct program *p = input->data;

    (void)buffer;
    if (n >= 0)
        return;
    uv_read_stop(input);
    mk_server_stop(p->server, 1000);
    turn(p);
}

static void watch(struct program *p, uv_loop_t *loop)
{
    uv_poll_init(loop, &p->poll, mk_server_poll_fd(p->server));
    uv_timer_init(loop, &p->due);
    uv_timer_init(loop, &p->ticks);
    uv_pipe_init(loop, &p->input, 0);
    p->poll.data = p->due.data = p->ticks.data = p->input.data = p;
    uv_poll_start(&p->poll, UV_READABLE, on_readable);
    uv_timer_start(&p->ticks, on_tick, 10, 10);
    if (uv_pipe_open(&p->input, 0) == 0)
        uv_read_start((uv_stream_t *)&p->input, give_room, on_input);
    turn(p);
}

int main(int argc, char **argv)
{
    struct program p = {.count = 0};
    struct mk_config *config;

    if (argc != 2 || mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", argv[1], "uv") != 0 ||
        mk_config_set(config, "SERVER", "Workers", "1", "uv") != 0 ||
        mk_config_handle(config, "GET", "/", say, &p) != 0 ||
        mk_server_new(&p.server, config, NULL) != 0 || mk_server_listen(p.server) != 0 ||
        mk_server_start_here(p.server) != 0)
        return 1;
    watch(&p, uv_default_loop());
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    mk_server_free(p.server);
    return 0;
}
