/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "kit/tls/names.h"
#include "sni.h"

/* The name in a client hello, and whose it is. Input: the content of the extension server_name. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const known[] = {"a.example", "*.example", "*.deep.example"};
    char *bytes = exact_copy(data, size);
    struct mk_str name = openssl_sni_parse((unsigned char *)bytes, size);
    struct tls_names names = {0};
    unsigned value;

    if (name.p) {
        require(name.p > bytes && name.p + name.len == bytes + size);
        for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            require(tls_names_add(&names, mk_str_from(known[i]), i) == 0);
        tls_names_sort(&names);
        require(!tls_names_find(&names, name, &value) || value <= 2);
        tls_names_fini(&names);
    }
    free(bytes);
    return 0;
}
