/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TEXT_SET_H
#define KIT_TEXT_SET_H

#include <monkey/plugin.h>

/*
 * Which of many texts stand in a path: all of them are found in one pass, however many there are (Aho and Corasick 1975).
 *
 * The texts are the branches of a tree. A node knows its children, and where the longest end of its own text is that begins
 * another one. The nodes near the root, where a search is most of the time, have a row that tells the next state for each
 * byte. Memory: 13 bytes for each node, of which there are at most as many as the texts have bytes, and at most 256 KB for
 * the rows. Built once, read by all threads.
 */

struct text_set {
    uint8_t columns[256]; /* by byte, in any case of ASCII letters */
    uint32_t ncolumns, nnodes;
    uint32_t *rows; /* by column the next state; at column 0 the text of `ends` */
    uint32_t
        ncells; /* of all rows. A state below it is the offset of a row, above it stands for a node */
    uint32_t *
        siblings; /* by node: the next child of its parent, 0: none; and a bit: it has no children itself */
    uint32_t *shorter; /* by node: the state where the search goes on when no child fits */
    uint32_t *ends;    /* by node: 1 + the first text that ends here; 0: none does */
    uint8_t *reached;  /* by node: the column that leads to it */
    uint32_t *next;    /* by text: 1 + the next one that ends with it; 0: none does */
};

/**
 * @param items  not empty, letters in lower case; borrowed for this call
 * @return 0 or MK_E_NOMEM.
 */
int text_set_build(struct text_set *t, struct mk_setup *setup, const struct mk_str *items,
                   uint32_t count) MK_MUST_USE;

/** Bytes of a set of texts. */
#define TEXT_SET_FOUND_SIZE(count) (((count) + 7) / 8)

/**
 * @param found  the texts that stand in the path, a bit each, text i as bit i % 8 of byte i / 8; zeroed by the caller
 */
void text_set_find(const struct text_set *t, struct mk_str path, uint8_t *found);

/** @return the first text of the set from one on; count: there is none. */
uint32_t text_set_next(const uint8_t *found, uint32_t from, uint32_t count);

#endif
