/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/sha1/sha1.h"
#include "packages/sha256/sha256.h"

DUDA_REGISTER("tests", "sha");

static void show(duda_request_t *dr, const unsigned char *bytes, int len)
{
    response->http_status(dr, 200);
    for (int i = 0; i < len; i++)
        response->printf(dr, "%02x", bytes[i]);
    response->end(dr, NULL);
}

static void one(duda_request_t *dr)
{
    unsigned char out[SHA_DIGEST_LENGTH];

    sha1->encode(dr->sr->data.data, out, dr->sr->data.len);
    show(dr, out, sizeof(out));
}

static void two(duda_request_t *dr)
{
    unsigned char out[32];

    sha256->encode((unsigned char *)dr->sr->data.data, out, (int)dr->sr->data.len);
    show(dr, out, sizeof(out));
}

#if DUDA_API_LEVEL >= 3
/* The body in pieces of 1, 2, 3 ... bytes by all three, then the codes of it under itself as key. */
static void pieces(duda_request_t *dr)
{
    unsigned char out[2][SHA_DIGEST_LENGTH + SHA256_DIGEST_LENGTH + SHA512_DIGEST_LENGTH];
    const char *body = dr->sr->data.data;
    size_t left = dr->sr->data.len;
    sha1_state_t s1;
    sha256_state_t s2;
    sha512_state_t s5;

    sha1->begin(&s1);
    sha256->begin(&s2);
    sha256->begin512(&s5);
    for (size_t n = 1; left > 0; n++) {
        size_t part = n < left ? n : left;

        sha1->add(&s1, body, part);
        sha256->add(&s2, body, part);
        sha256->add512(&s5, body, part);
        body += part;
        left -= part;
    }
    sha1->finish(&s1, out[0]);
    sha256->finish(&s2, out[0] + 20);
    sha256->finish512(&s5, out[0] + 52);
    sha1->hmac(dr->sr->data.data, dr->sr->data.len, dr->sr->data.data, dr->sr->data.len, out[1]);
    sha256->hmac(dr->sr->data.data, dr->sr->data.len, dr->sr->data.data, dr->sr->data.len,
                 out[1] + 20);
    sha256->hmac512(dr->sr->data.data, dr->sr->data.len, dr->sr->data.data, dr->sr->data.len,
                    out[1] + 52);
    show(dr, out[0], sizeof(out));
}

/* NULL is no bytes, and nothing is written to NULL. */
static void nothing(duda_request_t *dr)
{
    unsigned char out[SHA512_DIGEST_LENGTH], other[SHA512_DIGEST_LENGTH];
    sha256_state_t state = {{0}}, zero = {{0}};

    sha1->encode(NULL, NULL, 5);
    sha1->begin(NULL);
    sha1->add(NULL, "x", 1);
    sha1->finish(NULL, out);
    sha1->hmac(NULL, 0, NULL, 0, NULL);
    sha256->encode(out, other, -1);
    sha256->begin(NULL);
    sha256->begin(&state);
    sha256->add(&state, NULL, 5);
    sha256->finish(&state, NULL);
    sha256->finish(&state, out);
    sha256->hmac512(NULL, 5, NULL, 5, NULL);
    if (!sha256->same(out, other, 32) || sha256->same(out, NULL, 32) ||
        sha1->same(out, other + 1, 31) || !sha1->same(out, other, 32) ||
        memcmp(&state, &zero, sizeof(zero)) != 0)
        memset(out, 0, sizeof(out));
    show(dr, out, 32);
}

static void empty(duda_request_t *dr)
{
    unsigned char out[SHA512_DIGEST_LENGTH];

    sha256->encode512(NULL, out, 0);
    show(dr, out, sizeof(out));
}
#endif

int duda_main()
{
    duda_load_package(sha1, "sha1");
    duda_load_package(sha256, "sha256");
#if DUDA_API_LEVEL >= 3
    router->map("/one", one);
    router->map("/two", two);
    router->map("/pieces", pieces);
    router->map("/nothing", nothing);
    router->map("/empty", empty);
#else
    map->static_add_ref("/one", one);
    map->static_add_ref("/two", two);
#endif
    return 0;
}
