/* SPDX-License-Identifier: Apache-2.0 */
#include "ahead.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum {
    UNSENT_MAX = 128 << 10,
    UNSENT_MIN = 16 << 10,
    GATHERED_MIN = 1024 + 2 * H2_FRAME_HEAD + H2_FRAME_MAX, /* heads, and a frame */
    AHEAD_US = 2000, /* a worker with other connections comes back after such a time */
    LOOK_MS = 50,
};

static void set_unsent(struct http2_ahead *a, int fd, uint32_t unsent)
{
    a->unsent = unsent;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &(int){(int)unsent}, sizeof(int));
}

static uint32_t clamp(uint64_t value, uint32_t least, uint32_t most)
{
    return value < least ? least : value > most ? most : (uint32_t)value;
}

/* What is under way arrives within a round trip, as the client's line and window let it: so much of it does in a short time. */
static uint32_t leaves_soon(int fd)
{
    struct tcp_info info = {.tcpi_rtt = 0};
    socklen_t len = sizeof(info);
    uint64_t under_way;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0 || info.tcpi_rtt == 0)
        return UNSENT_MAX;
    under_way = (uint64_t)info.tcpi_unacked * info.tcpi_snd_mss;
    return clamp(under_way * AHEAD_US / info.tcpi_rtt, UNSENT_MIN, UNSENT_MAX);
}

void http2_ahead_begin(struct http2_ahead *a, int fd)
{
    set_unsent(a, fd, UNSENT_MAX);
}

void http2_ahead_follow(struct http2_ahead *a, int fd, struct h2_channel *channel)
{
    const bool is_shared = h2_turns_are_shared(&channel->session.turns);
    const int64_t now_ms = channel->session.now_ms;
    uint32_t unsent;

    if ((!is_shared && a->unsent == UNSENT_MAX) || now_ms - a->looked_ms < LOOK_MS)
        return;
    a->looked_ms = now_ms;
    unsent = is_shared ? leaves_soon(fd) : UNSENT_MAX;
    channel->most = clamp(unsent, GATHERED_MIN, H2_CHANNEL_OUT);
    if (unsent != a->unsent)
        set_unsent(a, fd, unsent);
}
