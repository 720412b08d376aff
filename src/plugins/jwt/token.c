/* SPDX-License-Identifier: Apache-2.0 */
#include "token.h"

#include "kit/pure/base64.h"
#include "kit/text/words.h"

/* The decoded bytes of a part; room begins after them. p NULL: they are no base64url. */
static struct mk_str decode(struct mk_str part, char **room)
{
    char *bytes = *room;
    ssize_t len = base64url_decode((uint8_t *)bytes, part.p, part.len);

    if (len <= 0)
        return (struct mk_str){NULL, 0};
    *room += len;
    return (struct mk_str){bytes, (size_t)len};
}

static bool read_header(struct mk_str text, char **room, struct token *t)
{
    struct json header = json_parse(text), algorithm = json_member(header, "alg"),
                id = json_member(header, "kid");

    if (algorithm.kind != JSON_STRING || json_member(header, "crit").kind != JSON_NONE)
        return false;
    t->algorithm = jwt_algorithm_of(algorithm.text);
    if (t->algorithm == NO_ALGORITHM)
        return false;
    if (id.kind == JSON_NONE)
        return true;
    t->id = json_string(id, *room);
    *room += t->id.len;
    return t->id.p;
}

/* Decoded, three parts take three quarters of their room, and the name of the key no more than its part. */
bool jwt_token_read(struct mk_str text, char *room, struct token *t)
{
    struct mk_str rest = text, parts[3], decoded[3];

    *t = (struct token){.algorithm = NO_ALGORITHM};
    if (text.len > TOKEN_MAX)
        return false;
    parts[0] = text_cut(&rest, '.');
    parts[1] = text_cut(&rest, '.');
    parts[2] = rest;
    for (size_t i = 0; i < 3; i++) {
        decoded[i] = decode(parts[i], &room);
        if (!decoded[i].p)
            return false;
    }
    t->signed_text = (struct mk_str){text.p, parts[0].len + 1 + parts[1].len};
    t->signature = decoded[2];
    t->claims = json_parse(decoded[1]);
    return t->claims.kind == JSON_OBJECT && read_header(decoded[0], &room, t);
}
