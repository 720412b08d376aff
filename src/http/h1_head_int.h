/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_H1_HEAD_INT_H
#define MK_HTTP_H1_HEAD_INT_H

#include "http/h1_head.h"

/* The parser finds lines and pieces (h1_head.c); these give them their meaning. */

/** Find the form of h->target and its pieces. @return a fault, or MK_H1_FAULT_NONE. */
enum mk_h1_fault mk_h1_target_judge(struct mk_h1_head *h, const char *buf);

/** Judge the fields that frame the message and rule the connection, when all are there. */
enum mk_h1_fault mk_h1_fields_judge(struct mk_h1_head *h, const char *buf);

#endif
