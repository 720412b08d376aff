/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/settings.h"

#include "kit/text/words.h"

static const char *const client_cert_names[] = {"off", "optional", "on", NULL};

/* What is older is broken (RFC 8996), so there is no way to ask for it. */
static int parse_protocols(struct mk_setup *setup, const struct mk_setting *s)
{
    struct tls_settings *t = mk_setup_settings(setup);
    struct mk_str rest = s->value, word;

    t->protocols = 0;
    for (word = text_next_word(&rest); word.len > 0; word = text_next_word(&rest)) {
        if (text_is_word(word, MK_STR("TLSv1.2")))
            t->protocols |= TLS_PROTOCOL_1_2;
        else if (text_is_word(word, MK_STR("TLSv1.3")))
            t->protocols |= TLS_PROTOCOL_1_3;
        else
            return mk_setup_refuse(setup, s, "TLSv1.2, TLSv1.3 or both");
    }
    return t->protocols ? 0 : mk_setup_refuse(setup, s, "TLSv1.2, TLSv1.3 or both");
}

#define T(member) offsetof(struct tls_settings, member)

static const struct mk_field fields[] = {
    {.name = "CertificateFile",
     .type = MK_FIELD_PATH,
     .flags = MK_FIELD_REPEAT,
     .offset = T(certificates)},
    {.name = "KeyFile",
     .alias = "RSAKeyFile",
     .type = MK_FIELD_PATH,
     .flags = MK_FIELD_REPEAT,
     .offset = T(keys)},
    {.name = "CertificateChainFile", .type = MK_FIELD_PATH, .offset = T(chain)},
    {.name = "OCSPFile", .type = MK_FIELD_PATH, .flags = MK_FIELD_REPEAT, .offset = T(ocsp)},
    {.name = "DHParameterFile", .type = MK_FIELD_PATH, .offset = T(dh)},
    {.name = "CheckClientCert",
     .type = MK_FIELD_ENUM,
     .names = client_cert_names,
     .offset = T(client_cert),
     .fallback = "off"},
    {.name = "CAFile", .type = MK_FIELD_PATH, .offset = T(ca)},
    {.name = "CRLFile", .type = MK_FIELD_PATH, .flags = MK_FIELD_REPEAT, .offset = T(crls)},
    {.name = "Protocols", .type = MK_FIELD_CUSTOM, .parse = parse_protocols},
    {.name = "Ciphers", .type = MK_FIELD_STRING, .offset = T(ciphers)},
    {.name = "Ciphersuites", .type = MK_FIELD_STRING, .offset = T(ciphersuites)},
    {.name = "SessionTickets", .type = MK_FIELD_BOOL, .offset = T(tickets), .fallback = "on"},
    {.name = "KernelTLS", .type = MK_FIELD_BOOL, .offset = T(kernel), .fallback = "off"},
};

#define B(member) offsetof(struct tls_backend_settings, member)

static const struct mk_field backend_fields[] = {
    {.name = "Backend", .type = MK_FIELD_WORDS, .flags = MK_FIELD_REPEAT, .offset = B(names)},
    {.name = "Verify", .type = MK_FIELD_BOOL, .offset = B(verify), .fallback = "on"},
    {.name = "CAFile", .type = MK_FIELD_PATH, .offset = B(ca)},
    {.name = "CertificateFile", .type = MK_FIELD_PATH, .offset = B(certificate)},
    {.name = "KeyFile", .alias = "RSAKeyFile", .type = MK_FIELD_PATH, .offset = B(key)},
};

const struct mk_section_spec tls_section = MK_SECTION(
    "TLS", MK_SECTION_FILE | MK_SECTION_SITE | MK_SECTION_INHERIT, struct tls_settings, fields);
const struct mk_section_spec tls_backend_section =
    MK_SECTION("TLS_BACKEND", MK_SECTION_FILE | MK_SECTION_REPEAT, struct tls_backend_settings,
               backend_fields);
const struct mk_section_spec *const tls_sections[] = {&tls_section, &tls_backend_section, NULL};
