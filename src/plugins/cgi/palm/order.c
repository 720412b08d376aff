/* SPDX-License-Identifier: Apache-2.0 */
#include "palm/order.h"

#include <string.h>

/* @return the text at the front, and moves behind it; NULL: it has no end. */
static char *take_text(char **at, size_t *left)
{
    char *text = *at, *end = *left > 0 ? memchr(text, '\0', *left) : NULL;

    if (!end)
        return NULL;
    *left -= (size_t)(end + 1 - text);
    *at = end + 1;
    return text;
}

static bool take_texts(char **texts, uint32_t count, char **at, size_t *left)
{
    for (uint32_t i = 0; i < count; i++) {
        texts[i] = take_text(at, left);
        if (!texts[i])
            return false;
    }
    texts[count] = NULL;
    return true;
}

bool order_parse(struct order *o, char *packet, size_t len)
{
    struct palm_order head;
    char *at = packet + sizeof(head);
    size_t left = len - sizeof(head);

    if (len < sizeof(head))
        return false;
    memcpy(&head, packet, sizeof(head));
    if (head.narguments == 0 || head.narguments > PALM_ARGUMENTS_MAX ||
        head.nvariables > PALM_VARIABLES_MAX)
        return false;
    memcpy(o->limits, head.limits, sizeof(o->limits));
    o->flags = head.flags;
    o->directory = take_text(&at, &left);
    o->program = take_text(&at, &left);
    return o->directory && o->program && take_texts(o->arguments, head.narguments, &at, &left) &&
           take_texts(o->variables, head.nvariables, &at, &left) && left == 0;
}
