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
MK_EXPORT duda_package_t *_duda_package_main(void);
#define duda_package_main(...)                                                                     \
    _duda_package_bootstrap(struct duda_api_objects *dapi, struct web_service *ws)                 \
    {                                                                                              \
        self = ws;                                                                                 \
        (void)dapi;                                                                                \
        return _duda_package_main();                                                               \
    }                                                                                              \
    duda_package_t *_duda_package_main(void)
#endif
