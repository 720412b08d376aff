#include "webservice.h"

#include <dirent.h>

/*
 * Files in the folder data: GET /@NAME@/files lists them, POST stores those of a form, and GET /@NAME@/files/NAME sends one. A
 * file is written while it arrives, so that its size needs no memory.
 */

DUDA_REGISTER("@NAME@", "files");

/* A form that is being received: the file of its part gets its name when all of it is on the disk. */
struct upload {
    char path[MK_MAX_PATH], fresh[MK_MAX_PATH];
    int fd, status; /* -1: none; of the answer */
};

/* No path, nothing hidden: a client chooses the name. */
static int is_name(const char *name)
{
    return name && *name && *name != '.' && strlen(name) < 200 && !strpbrk(name, "/\n\r");
}

static int fail(struct upload *u, int status)
{
    u->status = status;
    return -2;
}

static int begin(duda_request_t *dr, const struct duda_part *part, void *arg)
{
    struct upload *u = arg;

    if (!is_name(part->filename))
        return fail(u, 400);
    snprintf(u->path, sizeof(u->path), "%s%s", data->get_path(), part->filename);
    if ((size_t)snprintf(u->fresh, sizeof(u->fresh), "%s.new-XXXXXX", data->get_path()) >=
        sizeof(u->fresh))
        return fail(u, 500);
    u->fd = mkstemp(u->fresh);
    return u->fd < 0 ? fail(u, 507) : 0;
}

static int take(duda_request_t *dr, const struct duda_part *part, const char *bytes, size_t length,
                void *arg)
{
    struct upload *u = arg;

    return write(u->fd, bytes, length) == (ssize_t)length ? 0 : fail(u, 507);
}

static int finish(duda_request_t *dr, const struct duda_part *part, void *arg)
{
    struct upload *u = arg;
    int fd = u->fd;

    if (rename(u->fresh, u->path) < 0)
        return fail(u, 507);
    u->fd = -1;
    close(fd);
    return 0;
}

/* Also when the client has left: then dr is NULL. */
static void done(duda_request_t *dr, int error, void *arg)
{
    struct upload *u = arg;
    int status = error == DUDA_FORM_OK ? 201 : u->status ? u->status : 400;

    if (u->fd >= 0) {
        close(u->fd);
        unlink(u->fresh);
    }
    mem->free(u);
    if (dr && status == 201)
        response->send(dr, status, "text/plain", "stored\n");
    else if (dr)
        response->problem(dr, status, "The file is not stored", NULL);
}

static void add_files(duda_request_t *dr)
{
    static const struct duda_receiver receiver = {
        .begin = begin, .data = take, .end = finish, .done = done};
    struct upload *u = mem->alloc_z(sizeof(*u));

    if (u) {
        u->fd = -1;
        if (form->receive(dr, &receiver, u) == 0)
            return;
        mem->free(u);
    }
    response->problem(dr, 415, "A form with files is expected", NULL);
}

static void give(duda_request_t *dr)
{
    char *name = param->get(dr, "name");
    int is_sent = is_name(name) && response->sendfile(dr, data->locate(name)) == 0;

    response->header(dr, "Content-Type", "application/octet-stream");
    response->header(dr, "X-Content-Type-Options", "nosniff");
    response->http_status(dr, is_sent ? 200 : 404);
    response->end(dr, NULL);
}

/* A name a line. */
static void list(duda_request_t *dr)
{
    DIR *folder = opendir(data->get_path());
    struct dirent *entry;

    if (!folder) {
        response->problem(dr, 500, "The folder is missing", NULL);
        return;
    }
    response->http_status(dr, 200);
    response->header(dr, "Content-Type", "text/plain; charset=utf-8");
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
    router->early("POST", "/files", add_files);
    router->get("/files", list);
    router->get("/files/:name", give);
    return 0;
}
