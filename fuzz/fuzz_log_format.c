/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format.h"

/*
 * Any bytes as the text of a log's format, and as what a client sent: a line that fits has one line end, its last
 * byte, and of the client's bytes nothing that could end it or a quoted text. Written in two parts it is the same line.
 * Input: one byte, how much of the rest is the format; the client's bytes.
 */

enum { ROOM = 64 << 10 };

static struct logger_entry entry_of(const struct mk_request_facts *facts, struct mk_str sent,
                                    const struct mk_note *note)
{
    static const struct mk_note number = {.name = "n", .number = 1234567, .decimals = 3};
    struct logger_entry e = {
        .facts = facts,
        .peer = MK_STR("192.0.2.7"),
        .user = sent,
        .subject = sent,
        .time = MK_STR("now"),
        .day = MK_STR("today"),
        .zone = MK_STR("Z"),
    };

    for (size_t i = 0; i < LOGGER_HEADERS_MAX; i++)
        e.headers[i] = sent;
    for (size_t i = 0; i < MK_VARIABLE_COUNT; i++)
        e.variables[i] = sent;
    for (size_t i = 0; i < LOGGER_NOTES_MAX; i++)
        e.notes[i] = i % 2 ? &number : note;
    return e;
}

/* Which control bytes a custom format has between its fields, the administrator says; a client never does. */
static void check_line(const char *line, size_t len, struct mk_str format)
{
    require(len > 0 && line[len - 1] == '\n');
    for (size_t i = 0; i + 1 < len; i++) {
        unsigned char c = (unsigned char)line[i];

        require(c != '\n' || memchr(format.p, '\\', format.len));
        require(c >= ' ' || memchr(format.p, c, format.len) || memchr(format.p, '\\', format.len));
        require(c < 0x7f || memchr(format.p, c, format.len));
    }
}

/* As for a tunnel, whose end fills the gaps. */
static void check_parts(const struct logger_format *format, const struct logger_entry *e,
                        struct mk_str line)
{
    static char early[ROOM], late[ROOM];
    struct logger_text t = {.at = early, .end = early + sizeof(early)};
    struct logger_gaps gaps;
    struct mk_str first;

    logger_format_early(format, e, &t, &gaps);
    require(!t.full);
    first = (struct mk_str){early, (size_t)(t.at - early)};
    t = (struct logger_text){.at = late, .end = late + sizeof(late)};
    logger_format_late(first, gaps.all, gaps.count, e, &t);
    require(!t.full && (size_t)(t.at - late) == line.len && memcmp(late, line.p, line.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct logger_format format;
    static char room[ROOM];
    struct mk_template_piece pieces[MK_TEMPLATE_MAX];
    struct mk_template from;
    struct mk_str wrong;
    size_t len = take_byte(&data, &size) * 4;
    const char *why = NULL;
    char *text, *bytes;

    len = len < size ? len : size;
    text = exact_copy(data, len);
    bytes = exact_copy(data + len, size - len);
    from.pieces = pieces;
    if (mk_template_read(pieces, &from.count, (struct mk_str){text, len}, MK_TEMPLATE_PRICES,
                         &wrong) < 0) {
        /* refused before */
    } else if (logger_format_compile(&format, &from, &why) == 0) {
        struct mk_str sent = {bytes, size - len};
        const struct mk_request_facts facts = {.size = sizeof(facts),
                                               .method = sent,
                                               .target = sent,
                                               .path = sent,
                                               .query = sent,
                                               .host = sent,
                                               .minor = 1,
                                               .status = 200,
                                               .body_sent = 1,
                                               .site_name = ""};
        const struct mk_note note = {.name = "t", .text = sent};
        const struct logger_entry e = entry_of(&facts, sent, &note);
        struct logger_text t = {.at = room, .end = room + sizeof(room)};

        logger_format_line(&format, &e, &t);
        require(t.at <= t.end);
        if (!t.full) {
            check_line(room, (size_t)(t.at - room), (struct mk_str){text, len});
            check_parts(&format, &e, (struct mk_str){room, (size_t)(t.at - room)});
        }
    } else {
        require(why != NULL);
    }
    free(bytes);
    free(text);
    return 0;
}
