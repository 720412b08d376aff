/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/store/dirs.h"
#include "service/request.h"

static int set_path(struct web_service *ws, const char *dir)
{
    return ws ? mk_duda_dir_set(ws, &ws->datadir, dir) : -1;
}

static const char *get_path(struct web_service *ws)
{
    return ws ? mk_duda_dir_get(ws, &ws->datadir) : NULL;
}

static char *locate(duda_request_t *dr, const char *file)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "data->locate");
    char *path = NULL;

    if (rq)
        path = mk_duda_dir_join(&rq->service->ws, &rq->service->ws.datadir, file);
    if (path && mk_duda_request_gc(rq, free, path) < 0) {
        free(path);
        path = NULL;
    }
    return path;
}

const struct duda_api_data mk_duda_data = {
    ._set_path = set_path,
    ._get_path = get_path,
    ._locate = locate,
};
