/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/ws_int.h"

#include <stdlib.h>

/* The closing handshake (RFC 6455 section 7). */

/* Section 7.4: codes that an endpoint may send. */
static bool may_be_sent(unsigned code)
{
    return (code >= 1000 && code <= 1014 && code != 1004 && code != MK_WS_NO_CODE &&
            code != MK_WS_ABNORMAL) ||
           (code >= 3000 && code <= 4999);
}

static void send_close(struct mk_ws *ws, unsigned code, struct mk_str reason)
{
    char payload[WS_CONTROL_MAX];
    const size_t len = reason.len < sizeof(payload) - 2 ? reason.len : sizeof(payload) - 2;

    payload[0] = (char)(code >> 8);
    payload[1] = (char)code;
    if (len > 0)
        memcpy(payload + 2, reason.p, len);
    if (ws_queue_control(ws, WS_CLOSE, (struct mk_str){payload, code ? len + 2 : 0}) < 0)
        ws_break(ws, code);
    mk_stream_timeout(ws->stream, ws_max(ws->spec->close_ms, MK_WS_DEFAULT_CLOSE_MS));
}

/* A cut text ends between two characters. */
static struct mk_str cut(struct mk_str reason)
{
    if (reason.len <= WS_CONTROL_MAX - 2)
        return reason;
    reason.len = WS_CONTROL_MAX - 2;
    while (reason.len > 0 && ((uint8_t)reason.p[reason.len] & 0xc0) == 0x80)
        reason.len--;
    return reason;
}

void mk_ws_close(struct mk_ws *ws, unsigned code, struct mk_str reason)
{
    if (!ws || ws->state > WS_OPEN)
        return;
    if (!may_be_sent(code))
        code = MK_WS_INTERNAL;
    ws->code = (uint16_t)code;
    ws_go(ws, WS_CLOSING);
    send_close(ws, code, cut(reason));
}

void ws_fail(struct mk_ws *ws, unsigned code, const char *why)
{
    const bool is_first = ws->state == WS_OPEN;

    if (ws->state >= WS_LEAVING)
        return;
    ws->code = (uint16_t)code;
    ws_go(ws, WS_LEAVING);
    if (is_first)
        send_close(ws, code, mk_str_from(why));
    mk_stream_run_soon(ws->stream);
}

/* Section 5.5.1. @return 0: the payload is right; the code of the error otherwise. */
static unsigned judge(struct mk_str payload, unsigned *code)
{
    struct ws_utf8 utf8 = {.left = 0};

    *code = MK_WS_NO_CODE;
    if (payload.len == 0)
        return 0;
    if (payload.len == 1)
        return MK_WS_PROTOCOL_ERROR;
    *code = (unsigned)(uint8_t)payload.p[0] << 8 | (uint8_t)payload.p[1];
    if (!may_be_sent(*code))
        return MK_WS_PROTOCOL_ERROR;
    return ws_utf8_feed(&utf8, payload.p + 2, payload.len - 2) && ws_utf8_is_whole(&utf8)
               ? 0
               : MK_WS_INVALID_TEXT;
}

/* For on_close; without memory there is no reason. */
static void keep_reason(struct mk_ws *ws, struct mk_str payload)
{
    if (!ws->gathered)
        ws->gathered = calloc(1, sizeof(*ws->gathered));
    if (!ws->gathered)
        return;
    memmove(ws->gathered->control, payload.p, payload.len);
    ws->gathered->ncontrol = (uint8_t)payload.len;
}

void ws_take_close(struct mk_ws *ws, struct mk_str payload)
{
    const bool is_first = ws->state == WS_OPEN;
    unsigned code;
    const unsigned wrong = judge(payload, &code);

    if (wrong) {
        ws_fail(ws, wrong, "a Close is malformed");
        return;
    }
    ws->has_closed = true;
    ws->code = (uint16_t)code;
    keep_reason(ws, payload);
    ws_go(ws, WS_LEAVING);
    if (is_first)
        send_close(ws, code == MK_WS_NO_CODE ? 0 : code, (struct mk_str){"", 0});
}

/* Section 7.1.1: the server closes first; but a reset by unread input would take our Close away, so a peer that broke a
 * rule is heard until it ends. */
void ws_leave(struct mk_ws *ws)
{
    if (ws->queue)
        return;
    if (ws->has_closed) {
        ws_break(ws, ws->code);
    } else if (!ws->is_shut) {
        ws->is_shut = true;
        mk_stream_shutdown(ws->stream);
    }
}
