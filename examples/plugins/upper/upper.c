/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/plugin.h>

#include <strings.h>

/* A filter that turns text into capitals, whatever its source. */

static int upper_change(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                        bool last)
{
    size_t n = *in_len < *out_len ? *in_len : *out_len;
    bool all = n == *in_len;

    (void)state;
    for (size_t i = 0; i < n; i++)
        out[i] = (char)(in[i] >= 'a' && in[i] <= 'z' ? in[i] - 'a' + 'A' : in[i]);
    *in_len = *out_len = n;
    return last && all;
}

static int upper_on_head(struct mk_request *r, const struct mk_context *ctx, struct mk_head *head)
{
    struct mk_str type = mk_head_get(head, MK_STR("Content-Type"));
    int err;

    (void)r;
    (void)ctx;
    if (type.len < 5 || strncasecmp(type.p, "text/", 5) != 0)
        return 0;
    err = mk_head_filter(head, upper_change, NULL);
    return err == MK_E_INVALID ? 0 : err; /* an answer without a body needs no filter */
}

static const struct mk_plugin upper = {
    MK_PLUGIN("upper", "says everything in capitals"),
    .on_head = upper_on_head,
};
MK_PLUGIN_EXPORT(upper);
