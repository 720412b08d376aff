/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_ORDER_H
#define PROXY_ORDER_H

#include <monkey/plugin.h>

/** The hook: `drain ENTRY SERVER`, `undrain ENTRY SERVER`, or nothing for a list of all. */
int proxy_order(const struct mk_context *ctx, const struct mk_str *words, size_t nwords,
                mk_order_fn tell, void *arg);

#endif
