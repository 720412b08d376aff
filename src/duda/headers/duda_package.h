/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_COMPAT_PACKAGE_H
#define DUDA_COMPAT_PACKAGE_H
#include "duda_api.h"
typedef struct duda_package {
    char *name, *version;
    void *api; /* what the service's object pointer becomes */
    void *handler;
    struct mk_list _head;
} duda_package_t;
/* entry point: `duda_package_t *duda_package_main() { ... }`, a macro in the same style as duda_main();
   all core objects and `self` are usable inside and afterwards                                       */
duda_package_t *duda_main_of_package(void);
MK_EXPORT duda_package_t *duda_bootstrap_package(struct duda_api_objects *dapi,
                                                 struct web_service *ws);
#define duda_package_main(...)                                                                     \
    duda_bootstrap_package(struct duda_api_objects *dapi, struct web_service *ws)                  \
    {                                                                                              \
        duda_take_objects(dapi, ws);                                                               \
        return duda_main_of_package();                                                             \
    }                                                                                              \
    const int duda_compiled_level = DUDA_API_LEVEL;                                                \
    duda_package_t *duda_main_of_package(void)
#endif
