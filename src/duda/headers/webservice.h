/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_WEBSERVICE_H
#define DUDA_WEBSERVICE_H
#include "duda_api.h"

/* exactly one translation unit of a service has both of these: */
#define DUDA_REGISTER(app_name, app_path)                                                          \
    struct duda_webservice ws_info = {(char *)app_name, (char *)app_path}

/* `int duda_main()` is a macro so that the objects above are filled in before the service's code runs.
   It must accept `()`; accepting `(void)` and `(struct duda_api_objects *api)` too helps older services.
   Result 0: service is registered; anything else: service is skipped.                                   */
int duda_main_of_service(struct duda_api_objects *dapi);
DUDA_EXTERN_C MK_EXPORT int duda_bootstrap_service(struct duda_api_objects *dapi,
                                                   struct web_service *ws);
#define duda_main(...)                                                                             \
    duda_bootstrap_service(struct duda_api_objects *dapi, struct web_service *ws)                  \
    {                                                                                              \
        duda_take_objects(dapi, ws);                                                               \
        return duda_main_of_service(dapi);                                                         \
    }                                                                                              \
    const int duda_compiled_level = DUDA_API_LEVEL;                                                \
    int duda_main_of_service(struct duda_api_objects *dapi UNUSED_PARAM)

/* optional, by exported name, called once at server shutdown:  void duda_exit();                         */

#ifdef __cplusplus
#define DUDA_SAME_TYPE(object) (decltype(object))
#else
#define DUDA_SAME_TYPE(object)
#endif
/* [M] set the package's object pointer, in duda_main() or a function returning int that it calls, of any file; without the package
   that function ends here with -1, and the service is skipped */
#define duda_load_package(object, name)                                                            \
    do {                                                                                           \
        object = DUDA_SAME_TYPE(object) duda_load_package_by_name(name, duda_objects_given, self); \
        if (!object)                                                                               \
            return -1;                                                                             \
    } while (0)

/* services must not use the server's own message macros: in the reference these expand to an error message */
#define mk_info(...) msg->info(__VA_ARGS__)
#define mk_warn(...) msg->warn(__VA_ARGS__)
#define mk_err(...) msg->err(__VA_ARGS__)
#define mk_bug(...) msg->bug("%s", #__VA_ARGS__)
#endif
