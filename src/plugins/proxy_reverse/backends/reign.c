/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/backend_int.h"

#include <stdlib.h>

struct proxy_reign *proxy_reign_get(struct proxy_reign *reign)
{
    counted_get(&reign->refs);
    return reign;
}

void proxy_reign_put(struct proxy_reign *reign)
{
    if (reign && counted_put(&reign->refs))
        free(reign);
}

int proxy_reign_begin(struct proxy_config *config, const struct proxy_config *old)
{
    config->reign = calloc(1, sizeof(*config->reign));
    if (!config->reign)
        return MK_E_NOMEM;
    counted_init(&config->reign->refs, 1);
    config->before = old && old->reign ? proxy_reign_get(old->reign) : NULL;
    if (config->before)
        config->before->is_over = true;
    return 0;
}

void proxy_reign_end(struct proxy_config *config)
{
    /* Nobody followed: this configuration was refused, or the server ends. */
    if (config->before && !config->reign->is_over)
        config->before->is_over = false;
    proxy_reign_put(config->before);
    proxy_reign_put(config->reign);
    config->before = config->reign = NULL;
}
