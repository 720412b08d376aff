/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "claims.h"
#include "token.h"

/*
 * Any bytes as a token: what was taken apart lies within it and its room. And as claims: a text is an object or not,
 * and the verdict is one of three.
 */

static void check_token(struct mk_str text)
{
    char *room = malloc(TOKEN_ROOM);
    struct token t;

    require(room);
    if (jwt_token_read(text, room, &t)) {
        require(text.len <= TOKEN_MAX && t.signed_text.p == text.p && t.signed_text.len < text.len);
        require(t.algorithm < NO_ALGORITHM && t.claims.kind == JSON_OBJECT);
        require(t.signature.p >= room && t.signature.p + t.signature.len <= room + TOKEN_ROOM);
    }
    free(room);
}

static void check_claims(struct mk_str text)
{
    struct demand scope = {NULL, "scope", MK_STR("admin")};
    const struct demands demands = {.leeway_ms = 1000, .first = &scope};
    struct json root = json_parse(text), item;
    struct mk_str rest = root.text;
    char *room = malloc(text.len + 1);
    size_t count = 0;

    require(room);
    require(jwt_claims_judge(root, &demands, 1000) <= CLAIMS_LACKING);
    while (root.kind >= JSON_ARRAY && (item = json_next(&rest)).kind != JSON_NONE) {
        require(item.text.p >= text.p && item.text.p + item.text.len <= text.p + text.len);
        require(json_string(item, room).len <= item.text.len);
        require(++count <= text.len);
    }
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = exact_copy(data, size);

    check_token((struct mk_str){bytes, size});
    check_claims((struct mk_str){bytes, size});
    free(bytes);
    return 0;
}
