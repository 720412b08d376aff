/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/limits.h"
#include "http/proxy_head.h"

/*
 * The header of the PROXY protocol: every beginning of it must ask for more until the verdict, which then
 * stays whatever follows.
 */

static ssize_t feed(struct mk_proxy_head *h, const uint8_t *data, size_t len)
{
    char *buf = exact_copy(data, len);
    ssize_t ret = mk_proxy_head_parse(h, buf, len);

    free(buf);
    return ret;
}

static void require_same(const struct mk_proxy_head *a, const struct mk_proxy_head *b)
{
    require(a->has_source == b->has_source && a->source_port == b->source_port);
    require(memcmp(a->source_ip, b->source_ip, sizeof(a->source_ip)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { V2_HEAD = 16 };
    struct mk_proxy_head whole, part;
    ssize_t ret = feed(&whole, data, size), again = MK_E_AGAIN;

    require(ret == MK_E_AGAIN || ret == MK_E_BAD || (ret > 0 && (size_t)ret <= size));
    require(ret <= V2_HEAD + MK_LIMIT_PROXY_HEAD);
    for (size_t len = 0; len <= size && again == MK_E_AGAIN; len++)
        again = feed(&part, data, len);
    require(again == ret);
    if (ret > 0)
        require_same(&whole, &part);
    else
        require(size < V2_HEAD + MK_LIMIT_PROXY_HEAD || ret == MK_E_BAD);
    return 0;
}
