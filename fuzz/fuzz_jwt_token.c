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
    if (jwt_token_read(text, room, &t) == 0) {
        require(text.len <= TOKEN_MAX && t.signed_text.p == text.p && t.signed_text.len < text.len);
        require(t.algorithm < NO_ALGORITHM && t.claims->kind == MK_JSON_OBJECT);
        require(t.signature.p >= room && t.signature.p + t.signature.len <= room + TOKEN_ROOM);
        require(!t.id.p || (t.id.p >= room && t.id.p + t.id.len <= room + TOKEN_ROOM));
        jwt_token_fini(&t);
    }
    free(room);
}

static void check_claims(struct mk_str text)
{
    struct demand scope = {NULL, "scope", MK_STR("admin")};
    const struct demands demands = {.leeway_ms = 1000, .first = &scope};
    const struct mk_json_value *root;

    if (mk_json_read(text, NULL, &root, NULL) < 0)
        return;
    require(jwt_claims_judge(root, &demands, 1000) <= CLAIMS_LACKING);
    mk_json_free(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = exact_copy(data, size);

    check_token((struct mk_str){bytes, size});
    check_claims((struct mk_str){bytes, size});
    free(bytes);
    return 0;
}
