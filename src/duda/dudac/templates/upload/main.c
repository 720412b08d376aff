#include "webservice.h"

#include <dirent.h>

/* Files in the folder data: GET /@NAME@/files lists them, PUT and GET /@NAME@/files/NAME store and send one. */

DUDA_REGISTER("@NAME@", "files");

static void refuse(duda_request_t *dr, int status)
{
    response->http_status(dr, status);
    response->end(dr, NULL);
}

/* No path, nothing hidden: a client chooses the name. */
static int is_name(const char *name)
{
    return name && *name && *name != '.' && strlen(name) < 200 && !strpbrk(name, "/\n\r");
}

/* A file is there whole or not at all: it gets its name when all of it is on the disk. */
static int store(const char *path, const void *data, size_t len)
{
    char fresh[MK_MAX_PATH];
    int fd, is_whole;

    if ((size_t)snprintf(fresh, sizeof(fresh), "%s.XXXXXX", path) >= sizeof(fresh))
        return -1;
    fd = mkstemp(fresh);
    if (fd < 0)
        return -1;
    is_whole = write(fd, data, len) == (ssize_t)len && fsync(fd) == 0;
    close(fd);
    if (is_whole && rename(fresh, path) == 0)
        return 0;
    unlink(fresh);
    return -1;
}

static void take(duda_request_t *dr, const char *path)
{
    unsigned long len = 0;
    void *data = request->get_data(dr, &len);

    gc->add(dr, data);
    refuse(dr, store(path, data ? data : "", len) == 0 ? 201 : 507);
}

static void give(duda_request_t *dr, char *path)
{
    response->http_header(dr, "Content-Type: application/octet-stream");
    response->http_header(dr, "X-Content-Type-Options: nosniff");
    response->http_status(dr, response->sendfile(dr, path) == 0 ? 200 : 404);
    response->end(dr, NULL);
}

/* /files/:name */
static void one_file(duda_request_t *dr)
{
    char *name = param->get(dr, "name"), *path;

    if (!is_name(name) || !(path = data->locate(name))) {
        refuse(dr, 400);
    } else if (request->is_put(dr)) {
        take(dr, path);
    } else if (request->is_get(dr) || request->is_head(dr)) {
        give(dr, path);
    } else {
        response->http_header(dr, "Allow: GET, HEAD, PUT");
        refuse(dr, 405);
    }
}

/* /files: a name a line */
static void all_files(duda_request_t *dr)
{
    DIR *folder = opendir(data->get_path());
    struct dirent *entry;

    if (!folder) {
        refuse(dr, 500);
        return;
    }
    response->http_status(dr, 200);
    response->http_header(dr, "Content-Type: text/plain; charset=utf-8");
    while ((entry = readdir(folder))) {
        if (is_name(entry->d_name))
            response->printf(dr, "%s\n", entry->d_name);
    }
    closedir(folder);
    response->end(dr, NULL);
}

int duda_main()
{
    if (!data->get_path()) {
        msg->err("@NAME@ needs its folder data");
        return -1;
    }
    router->map("/files/:name", one_file);
    router->map("/files", all_files);
    return 0;
}
