/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <monkey/websocket.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "../lib/embedded.h"

/* Threads of a program send to a group and by handles while connections come and go, and the server reloads and ends. */

enum { CLIENTS = 3, SENDERS = 2, BEFORE_RELOAD = 15, BEFORE_END = 40, PATIENCE_S = 30 };

static struct {
    struct mk_ws_group *group;
    pthread_mutex_t mutex;
    struct mk_ws_handle *handle; /* of the newest connection; under mutex */
    struct sockaddr_in address;
    atomic_uint nopens, naccepted, ncloses, nlate;
    atomic_bool is_over, is_wrong;
} crowd = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- the application ---- */

static void keep_handle(struct mk_ws_handle *newest)
{
    struct mk_ws_handle *old;

    (void)pthread_mutex_lock(&crowd.mutex);
    old = crowd.handle;
    crowd.handle = newest;
    (void)pthread_mutex_unlock(&crowd.mutex);
    mk_ws_handle_put(old);
}

static struct mk_ws_handle *newest_handle(void)
{
    struct mk_ws_handle *h;

    (void)pthread_mutex_lock(&crowd.mutex);
    h = crowd.handle ? mk_ws_handle_get(crowd.handle) : NULL;
    (void)pthread_mutex_unlock(&crowd.mutex);
    return h;
}

static void on_open(struct mk_ws *ws)
{
    if (mk_ws_group_join(crowd.group, ws) < 0)
        atomic_store(&crowd.is_wrong, true);
    keep_handle(mk_ws_handle(ws));
    atomic_fetch_add(&crowd.nopens, 1);
}

static void on_close(struct mk_ws *ws, unsigned code, struct mk_str reason)
{
    (void)ws, (void)code, (void)reason;
    atomic_fetch_add(&crowd.ncloses, 1);
}

static const struct mk_ws_spec chat = {
    .size = sizeof(chat),
    .on_open = on_open,
    .on_close = on_close,
    .max_queue = 4096,
    .policy = MK_WS_DROP_OLD,
};

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    struct mk_ws *ws;
    enum mk_verdict verdict = mk_ws_accept(r, &chat, NULL, &ws);

    (void)ctx, (void)data;
    if (ws)
        atomic_fetch_add(&crowd.naccepted, 1);
    return verdict;
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("crowd", "joins all to a group"),
    .check_site = embedded_route,
    .on_handle = on_handle,
};

/* ---- threads ---- */

static void send_by_handle(void)
{
    struct mk_ws_handle *h = newest_handle();
    int err = h ? mk_ws_handle_send(h, MK_WS_BINARY, MK_STR("by handle")) : 0;

    if (err < 0 && err != MK_E_PEER)
        atomic_store(&crowd.is_wrong, true);
    mk_ws_handle_put(h);
}

/* Until the group tells of the server's end, and some times after. */
static void *send_on(void *arg)
{
    unsigned nlate = 0;

    (void)arg;
    while (nlate < 10) {
        int err = mk_ws_group_send(crowd.group, MK_WS_TEXT, MK_STR("to all"));

        if (err == MK_E_PEER)
            nlate++;
        else if (err < 0)
            atomic_store(&crowd.is_wrong, true);
        send_by_handle();
        (void)usleep(200);
    }
    atomic_fetch_add(&crowd.nlate, nlate);
    return NULL;
}

/* By a reset, by Close, or by the end of the stream alone. */
static void leave(int fd, unsigned how)
{
    static const char close_frame[] = "\x88\x80\0\0\0\0";
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    if (how == 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    else if (how == 1)
        (void)send(fd, close_frame, sizeof(close_frame) - 1, MSG_NOSIGNAL);
    (void)close(fd);
}

static void *come_and_go(void *arg)
{
    static const char opening[] =
        "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    char bytes[512];

    (void)arg;
    for (unsigned i = 0; !atomic_load(&crowd.is_over); i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
        if (connect(fd, (const struct sockaddr *)&crowd.address, sizeof(crowd.address)) == 0 &&
            send(fd, opening, sizeof(opening) - 1, MSG_NOSIGNAL) > 0)
            for (unsigned n = 0; n < 3 && recv(fd, bytes, sizeof(bytes), 0) > 0; n++)
                continue;
        leave(fd, i % 3);
    }
    return NULL;
}

/* ---- */

static void wait_for_opens(unsigned count)
{
    for (unsigned i = 0; atomic_load(&crowd.nopens) < count; i++) {
        assert_true(i < PATIENCE_S * 1000);
        (void)usleep(1000);
    }
}

static void threads_send_while_connections_come_and_the_server_ends(void **state)
{
    struct mk_server *server = embedded_server(embedded_config("2", &plugin, NULL));
    pthread_t threads[SENDERS + CLIENTS];

    (void)state;
    crowd.address = (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        .sin_port = htons((uint16_t)mk_server_port(server, 0)),
    };
    crowd.group = mk_ws_group_new(server);
    assert_non_null(crowd.group);
    assert_int_equal(mk_server_start(server), 0);
    for (unsigned i = 0; i < SENDERS + CLIENTS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, i < SENDERS ? send_on : come_and_go, NULL), 0);
    wait_for_opens(BEFORE_RELOAD);
    assert_int_equal(mk_server_reload(server, embedded_config("2", NULL, NULL)), 0);
    wait_for_opens(BEFORE_END);
    atomic_store(&crowd.is_over, true);
    mk_server_free(server);
    for (unsigned i = 0; i < SENDERS + CLIENTS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    keep_handle(NULL);
    mk_ws_group_free(crowd.group);
    assert_false(atomic_load(&crowd.is_wrong));
    assert_int_equal(atomic_load(&crowd.ncloses), atomic_load(&crowd.naccepted));
    assert_int_equal(atomic_load(&crowd.nlate), SENDERS * 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_send_while_connections_come_and_the_server_ends)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
