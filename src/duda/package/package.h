/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_PACKAGE_PACKAGE_H
#define MK_DUDA_PACKAGE_PACKAGE_H

#include "service/service.h"

/** A package of one service: its state is that service's alone. */
struct mk_duda_package {
    struct mk_duda_package *next;
    const char *name;
    void *api;   /* what the service's object pointer becomes */
    void *given; /* the struct duda_package of its main */
};

/** duda_load_package(): @return its API; NULL: it cannot be had, or duda_main() is over, which is logged. */
void *mk_duda_load_package(struct web_service *ws, const char *name);

/** Free what the packages of a service gave, when it has ended. */
void mk_duda_packages_free(struct mk_duda_service *s);

#endif
