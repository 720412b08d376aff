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
duda_package_t *_duda_package_main(void);
MK_EXPORT duda_package_t *_duda_package_bootstrap(struct duda_api_objects *dapi,
                                                  struct web_service *ws);
extern MK_EXPORT const int _duda_api_level; /* for which it was compiled */
#define duda_package_main(...)                                                                     \
    _duda_package_bootstrap(struct duda_api_objects *dapi, struct web_service *ws)                 \
    {                                                                                              \
        _duda_take_objects(dapi, ws);                                                              \
        return _duda_package_main();                                                               \
    }                                                                                              \
    const int _duda_api_level = DUDA_API_LEVEL;                                                    \
    duda_package_t *_duda_package_main(void)
#endif
