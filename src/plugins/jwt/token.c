/* SPDX-License-Identifier: Apache-2.0 */
#include "claims.h"
#include "token.h"

#include "kit/pure/base64.h"
#include "kit/text/words.h"

#include <string.h>

enum { DEPTH_MAX = 16, VALUES_MAX = 1024 };

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

/* @return 0; MK_E_BAD: it is no object within bounds, or has a name twice (RFC 7515 section 4); MK_E_NOMEM */
static int read_object(struct mk_str text, const struct mk_json_value **object)
{
    static const struct mk_json_bounds bounds = {
        .size = sizeof(bounds), .depth = DEPTH_MAX, .values = VALUES_MAX};
    const int err = mk_json_read(text, &bounds, object, NULL);

    if (err < 0)
        return err == MK_E_NOMEM ? err : MK_E_BAD;
    if ((*object)->kind == MK_JSON_OBJECT)
        return 0;
    mk_json_free(*object);
    return MK_E_BAD;
}

static bool take_header(const struct mk_json_value *header, char *room, struct token *t)
{
    const struct mk_json_value *algorithm = mk_json_member(header, MK_STR("alg")),
                               *id = mk_json_member(header, MK_STR("kid"));

    if (!algorithm || algorithm->kind != MK_JSON_STRING || mk_json_member(header, MK_STR("crit")))
        return false;
    t->algorithm = jwt_algorithm_of(algorithm->text);
    if (t->algorithm == NO_ALGORITHM || !id)
        return t->algorithm != NO_ALGORITHM;
    if (!jwt_text_is_plain(id))
        return false;
    if (id->text.len > 0)
        memcpy(room, id->text.p, id->text.len);
    t->id = (struct mk_str){room, id->text.len};
    return true;
}

static int read_header(struct mk_str text, char *room, struct token *t)
{
    const struct mk_json_value *header;
    bool is_right;
    const int err = read_object(text, &header);

    if (err < 0)
        return err;
    is_right = take_header(header, room, t);
    mk_json_free(header);
    return is_right ? 0 : MK_E_BAD;
}

/* Decoded, three parts take three quarters of their room, and the name of the key no more than its part. */
int jwt_token_read(struct mk_str text, char *room, struct token *t)
{
    struct mk_str rest = text, parts[3], decoded[3];
    int err;

    *t = (struct token){.algorithm = NO_ALGORITHM};
    if (text.len > TOKEN_MAX)
        return MK_E_BAD;
    parts[0] = text_cut(&rest, '.');
    parts[1] = text_cut(&rest, '.');
    parts[2] = rest;
    for (size_t i = 0; i < 3; i++) {
        decoded[i] = decode(parts[i], &room);
        if (!decoded[i].p)
            return MK_E_BAD;
    }
    t->signed_text = (struct mk_str){text.p, parts[0].len + 1 + parts[1].len};
    t->signature = decoded[2];
    err = read_header(decoded[0], room, t);
    return err < 0 ? err : read_object(decoded[1], &t->claims);
}

void jwt_token_fini(struct token *t)
{
    mk_json_free(t->claims);
    t->claims = NULL;
}
