/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DIRLISTING_ANSWER_H
#define DIRLISTING_ANSWER_H

#include "render.h"

#include <monkey/request.h>

/**
 * Answer with a listing, as HTML or as JSON. The head leaves at once; the directory is read beside the worker,
 * in the offload pool, but for its first entries.
 * @param html, json  live as long as the request
 * @param room        for large listings; referred to
 * @param fd          of the directory; borrowed
 */
enum mk_verdict dirlisting_answer(struct mk_request *r, const struct dirlisting_theme *html,
                                  const struct dirlisting_theme *json, struct dirlisting_room *room,
                                  int fd);

#endif
