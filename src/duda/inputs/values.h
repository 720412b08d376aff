/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_INPUTS_VALUES_H
#define MK_DUDA_INPUTS_VALUES_H

/* The values that a request gives to a route, or what is wrong with them. Of one thread. */

#include "webservice.h"

#include <monkey/types.h>

#include <stdbool.h>

enum {
    MK_DUDA_VALUES_MAX = 4 << 20, /* bytes of one request: structs, lists and copies of texts */
    MK_DUDA_FAULTS_MAX = 32,      /* that are named */
    MK_DUDA_FAULT_NAME = 160,     /* bytes of the name of one, with those of the lists around it */
    MK_DUDA_FAULT_TEXT = 400,
};

/** A wrong input. */
struct mk_duda_fault {
    enum duda_in in;
    const char *name, *detail;
};

struct mk_duda_values_block;

struct mk_duda_values {
    void *data;     /* the struct that the service sees; NULL: not read yet */
    uint64_t given; /* a bit for each row whose input the client gave */
    size_t left;    /* bytes that may still be taken */
    bool is_full;   /* more were needed */
    char *at, *end; /* what is left of the last block; the first one lies behind this struct */
    struct mk_duda_values_block *blocks;
    struct mk_duda_fault *faults; /* room for MK_DUDA_FAULTS_MAX; NULL: none yet */
    unsigned nfaults;             /* those beyond the last are left out */
};

/** @return NULL without memory. */
struct mk_duda_values *mk_duda_values_new(void) MK_MUST_USE;
/** NULL is allowed. */
void mk_duda_values_free(struct mk_duda_values *v);

/** @return zeroed memory that lives as long as the values, for any type; NULL: no memory, or more than is left. */
void *mk_duda_values_alloc(struct mk_duda_values *v, size_t size) MK_MUST_USE;
/** Likewise, with any content. */
void *mk_duda_values_take(struct mk_duda_values *v, size_t size) MK_MUST_USE;
/** @return a terminated copy; NULL as above. */
char *mk_duda_values_copy(struct mk_duda_values *v, struct mk_str text) MK_MUST_USE;

/** Add a fault; the texts are copied. @return 0 or MK_E_NOMEM. */
int mk_duda_fault_add(struct mk_duda_values *v, enum duda_in in, const char *name,
                      const char *detail) MK_MUST_USE;

#endif
