/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TARGET_ANSWER_HEAD_H
#define KIT_TARGET_ANSWER_HEAD_H

/** MaxAnswerHead of those who have programs or backends, for rows of settings. */
enum {
    ANSWER_HEAD_LEAST = 4 << 10,
    ANSWER_HEAD_DEFAULT = 64 << 10, /* as ANSWER_HEAD_USUAL */
    ANSWER_HEAD_MOST = 1 << 20,
};
#define ANSWER_HEAD_USUAL "64K"

#endif
