/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/ws_int.h"

#include <stdlib.h>

/* Pieces of frames become messages. A message that came in one piece is not copied. */

void ws_gathered_free(struct mk_ws *ws)
{
    if (ws->gathered)
        free(ws->gathered->bytes);
    free(ws->gathered);
    ws->gathered = NULL;
}

/* @return NULL: no memory, and the connection was closed. */
static struct ws_gathered *gathered(struct mk_ws *ws)
{
    if (!ws->gathered)
        ws->gathered = calloc(1, sizeof(*ws->gathered));
    if (!ws->gathered)
        ws_fail(ws, MK_WS_INTERNAL, "out of memory");
    return ws->gathered;
}

/* Room grows with the bytes that came: what a head announces costs nothing. */
static bool append(struct ws_gathered *g, struct mk_str bytes)
{
    if (g->len + bytes.len > g->room) {
        const size_t room = g->len + bytes.len + g->len / 2;
        char *grown = realloc(g->bytes, room);

        if (!grown)
            return false;
        g->bytes = grown;
        g->room = room;
    }
    if (bytes.len > 0)
        memcpy(g->bytes + g->len, bytes.p, bytes.len);
    g->len += bytes.len;
    return true;
}

/* ---- messages ---- */

static void deliver(struct mk_ws *ws, unsigned kind, struct mk_str bytes, bool is_last)
{
    const struct mk_ws_spec *spec = ws->spec;

    if (ws->state != WS_OPEN)
        return;
    if (spec->on_piece)
        spec->on_piece(ws, (enum mk_ws_kind)kind, bytes, is_last);
    else if (spec->on_message)
        spec->on_message(ws, (enum mk_ws_kind)kind, bytes);
}

/* Section 8.1. */
static bool is_text(struct ws_utf8 *utf8, struct mk_str bytes, bool is_last)
{
    return ws_utf8_feed(utf8, bytes.p, bytes.len) && (!is_last || ws_utf8_is_whole(utf8));
}

static void take_whole(struct mk_ws *ws, const struct ws_piece *piece)
{
    struct ws_utf8 utf8 = {.left = 0};

    if (piece->bytes.len > ws_max(ws->spec->max_message, MK_WS_DEFAULT_MAX))
        ws_fail(ws, MK_WS_TOO_LARGE, "a message is too large");
    else if (piece->opcode == WS_TEXT && !is_text(&utf8, piece->bytes, true))
        ws_fail(ws, MK_WS_INVALID_TEXT, "a text is not UTF-8");
    else
        deliver(ws, piece->opcode, piece->bytes, true);
}

static void pass_on(struct mk_ws *ws, struct ws_gathered *g, struct mk_str bytes, bool is_last)
{
    if (ws->spec->on_piece) {
        deliver(ws, g->kind, bytes, is_last);
        return;
    }
    if (!append(g, bytes))
        ws_fail(ws, MK_WS_INTERNAL, "out of memory");
    else if (is_last)
        deliver(ws, g->kind, (struct mk_str){g->bytes ? g->bytes : "", g->len}, true);
}

/* @return what the piece belongs to; NULL: no memory, and the connection was closed. */
static struct ws_gathered *message_of(struct mk_ws *ws, const struct ws_piece *piece)
{
    struct ws_gathered *g = gathered(ws);

    if (g && piece->is_first && piece->opcode != WS_CONTINUATION)
        g->kind = piece->opcode;
    return g;
}

static void take_bytes(struct mk_ws *ws, struct ws_gathered *g, struct mk_str bytes, bool is_last)
{
    g->total += bytes.len;
    if (g->total > ws_max(ws->spec->max_message, MK_WS_DEFAULT_MAX))
        ws_fail(ws, MK_WS_TOO_LARGE, "a message is too large");
    else if (g->kind == MK_WS_TEXT && !is_text(&g->utf8, bytes, is_last))
        ws_fail(ws, MK_WS_INVALID_TEXT, "a text is not UTF-8");
    else
        pass_on(ws, g, bytes, is_last);
}

static void take_part(struct mk_ws *ws, const struct ws_piece *piece)
{
    const bool is_last = piece->is_last && piece->is_final;
    struct ws_gathered *g = message_of(ws, piece);

    if (!g)
        return;
    take_bytes(ws, g, piece->bytes, is_last);
    if (is_last)
        ws_gathered_free(ws);
}

static bool is_reading(const struct mk_ws *ws)
{
    return ws->state == WS_OPEN || ws->state == WS_CLOSING;
}

/* A small message may become a large one: its parts are counted as they come. */
static void take_packed(struct mk_ws *ws, const struct ws_piece *piece)
{
    const bool is_last = piece->is_last && piece->is_final;
    struct ws_gathered *g = message_of(ws, piece);
    struct mk_str input = piece->bytes;
    char bytes[WS_UNPACKED_ROOM];
    size_t len;
    int got = 1;

    if (!g)
        return;
    while (got == 1 && is_reading(ws)) {
        got = ws_unpack(ws->pack, &input, is_last, bytes, &len);
        if (got == 1 || got == 0)
            take_bytes(ws, g, (struct mk_str){bytes, len}, got == 0);
    }
    if (got == MK_E_BAD)
        ws_fail(ws, MK_WS_INVALID_TEXT, "a message is not compressed as agreed");
    else if (got == MK_E_NOMEM)
        ws_fail(ws, MK_WS_INTERNAL, "out of memory");
    if (is_last)
        ws_gathered_free(ws);
}

/* ---- control frames ---- */

static void take_control(struct mk_ws *ws, unsigned opcode, struct mk_str payload)
{
    if (opcode == WS_CLOSE)
        ws_take_close(ws, payload);
    else if (opcode == WS_PING && ws->state == WS_OPEN)
        (void)ws_queue_control(ws, WS_PONG, payload);
}

static void take_control_part(struct mk_ws *ws, const struct ws_piece *piece)
{
    struct ws_gathered *g = gathered(ws);

    if (!g)
        return;
    if (piece->is_first)
        g->ncontrol = 0;
    if (piece->bytes.len > 0)
        memcpy(g->control + g->ncontrol, piece->bytes.p, piece->bytes.len);
    g->ncontrol = (uint8_t)(g->ncontrol + piece->bytes.len);
    if (!piece->is_last)
        return;
    take_control(ws, piece->opcode, (struct mk_str){g->control, g->ncontrol});
    if (!ws->frames.in_message && !ws->has_closed)
        ws_gathered_free(ws);
}

static void take_piece(struct mk_ws *ws, const struct ws_piece *piece)
{
    const bool is_whole = piece->is_first && piece->is_last;

    if (ws_is_control(piece->opcode) && is_whole)
        take_control(ws, piece->opcode, piece->bytes);
    else if (ws_is_control(piece->opcode))
        take_control_part(ws, piece);
    else if (piece->is_packed)
        take_packed(ws, piece);
    else if (is_whole && piece->is_final && piece->opcode != WS_CONTINUATION)
        take_whole(ws, piece);
    else
        take_part(ws, piece);
}

void ws_take_input(struct mk_ws *ws, char *bytes, size_t len)
{
    while (is_reading(ws)) {
        struct ws_piece piece;
        const char *why;
        size_t used;
        int got = ws_frames_next(&ws->frames, bytes, len, &used, &piece, &why);

        if (got == MK_E_AGAIN)
            return;
        if (got < 0) {
            ws_fail(ws, got == MK_E_LIMIT ? MK_WS_TOO_LARGE : MK_WS_PROTOCOL_ERROR, why);
            return;
        }
        take_piece(ws, &piece);
        bytes += used;
        len -= used;
    }
}
