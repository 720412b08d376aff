#include "webservice.h"

#include "packages/websocket/websocket.h"

/*
 * A chat over the WebSocket of /@NAME@/chat. A guest's first message is a name, and each one behind it goes to all.
 * The page gets "name<tab>text"; without a name it is a notice.
 *
 * With "Backplane redis://HOST" in [DUDA] of duda.conf it runs on several servers, whose guests are in one hall.
 */

DUDA_REGISTER("@NAME@", "a chat");

enum { NAME_SIZE = 80, TEXT_SIZE = 4000, BAD_NAME = 4000 };

static const char hall[] = "hall";

struct guest {
    char name[NAME_SIZE]; /* "": not said yet */
};

static void tell_all(const char *name, const void *text, size_t len)
{
    char line[NAME_SIZE + TEXT_SIZE];
    size_t at = (size_t)snprintf(line, sizeof(line), "%s\t", name);

    memcpy(line + at, text, len);
    websocket->to_room(hall, NULL, WS_OPCODE_TEXT, line, at + len);
}

static void tell_about(const struct guest *guest, const char *what)
{
    char text[NAME_SIZE + 32];

    tell_all("", text, (size_t)snprintf(text, sizeof(text), "%s %s", guest->name, what));
}

static int is_name(const unsigned char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] < ' ')
            return 0;
    }
    return len > 0 && len < NAME_SIZE;
}

static void enter(ws_request_t *wr, struct guest *guest)
{
    if (!is_name(wr->payload, wr->payload_len) || websocket->join(wr, hall) < 0) {
        websocket->close(wr, BAD_NAME, "no such name");
        return;
    }
    memcpy(guest->name, wr->payload, wr->payload_len);
    tell_about(guest, "is here");
}

static void on_message(duda_request_t *dr, ws_request_t *wr)
{
    struct guest *guest = websocket->data(wr);

    (void)dr;
    if (wr->opcode != WS_OPCODE_TEXT)
        websocket->close(wr, 1003, "text alone");
    else if (guest->name[0] == '\0')
        enter(wr, guest);
    else
        tell_all(guest->name, wr->payload, wr->payload_len);
}

static void on_close(duda_request_t *dr, ws_request_t *wr)
{
    struct guest *guest = websocket->data(wr);

    (void)dr;
    if (guest->name[0] != '\0')
        tell_about(guest, "has left");
    mem->free(guest);
}

/* A chat that must not lose messages keeps them, and would send now those that are missing. */
static void on_gap(int missed, unsigned int unsent)
{
    msg->warn("messages of other servers %s, and %u of this one may not have reached them",
              missed ? "were missed" : "came", unsent);
}

static void chat(duda_request_t *dr)
{
    const struct ws_options options = {.max_message = TEXT_SIZE,
                                       .data = mem->alloc_z(sizeof(struct guest))};

    if (!options.data) {
        response->http_status(dr, 503);
        response->end(dr, NULL);
    } else if (websocket->accept(dr, &options) < 0) {
        mem->free(options.data);
    }
}

int duda_main()
{
    duda_load_package(websocket, "websocket");
    websocket->set_callback(WS_ON_MESSAGE, on_message);
    websocket->set_callback(WS_ON_CLOSE, on_close);
    websocket->on_gap(on_gap);
    router->get("/chat", chat);
    return 0;
}
