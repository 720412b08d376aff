/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>
#include <monkey/web.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Files of any size from a form, written to a folder as they arrive. The page shows the progress.
 *
 *     cc upload.c $(pkg-config --cflags --libs monkey-web) -o upload && ./upload 127.0.0.1:8080 $PWD/pages /tmp
 *     curl -F file=@large.iso http://127.0.0.1:8080/upload
 */

enum { FILES = 10 };

static const char *folder;

struct file {
    char path[200];
    char name[200]; /* the client's, to be shown only */
    uint64_t bytes;
};

struct upload {
    struct mk_multipart *parts;
    struct file files[FILES];
    unsigned count;
    int fd; /* of the last file while it grows; -1 */
    bool is_whole;
};

static int begin_part(void *arg, const struct mk_part *part)
{
    struct upload *u = arg;
    struct file *file = &u->files[u->count];

    if (!part->filename.p || part->filename.len == 0)
        return 0; /* a value, or an empty choice */
    if (u->count == FILES)
        return MK_E_LIMIT;
    (void)snprintf(file->name, sizeof(file->name), "%.*s", (int)part->filename.len,
                   part->filename.p);
    (void)snprintf(file->path, sizeof(file->path), "%s/upload-XXXXXX", folder);
    u->fd = mkstemp(file->path);
    if (u->fd < 0)
        return MK_E_SYS;
    u->count++;
    return 0;
}

static int take_bytes(void *arg, struct mk_str bytes)
{
    struct upload *u = arg;

    while (u->fd >= 0 && bytes.len > 0) {
        ssize_t written = write(u->fd, bytes.p, bytes.len);

        if (written < 0)
            return MK_E_SYS;
        u->files[u->count - 1].bytes += (size_t)written;
        bytes.p += written;
        bytes.len -= (size_t)written;
    }
    return 0;
}

static int end_part(void *arg)
{
    struct upload *u = arg;

    if (u->fd >= 0)
        close(u->fd);
    u->fd = -1;
    return 0;
}

/* A file of an upload that was broken off is of no use. */
static void end(void *arg)
{
    struct upload *u = arg;

    (void)end_part(u);
    for (unsigned i = 0; !u->is_whole && i < u->count; i++)
        (void)unlink(u->files[i].path);
    mk_multipart_free(u->parts);
    free(u);
}

static int begin(struct mk_request *r, struct upload **out)
{
    static const struct mk_multipart_calls calls = {sizeof(calls), begin_part, take_bytes,
                                                    end_part};
    struct upload *u = calloc(1, sizeof(*u));
    int err = u ? mk_request_on_end(r, end, u) : MK_E_NOMEM;

    if (err < 0) {
        free(u);
        return err;
    }
    u->fd = -1;
    *out = u;
    err = mk_request_keep(r, &folder, u);
    return err < 0 ? err
                   : mk_multipart_new(&u->parts, mk_request_header(r, MK_STR("Content-Type")),
                                      &calls, u);
}

static int receive(struct mk_request *r, struct upload *u)
{
    char bytes[16384];
    ssize_t got;
    int err = 0;

    while (err == 0 && (got = mk_request_read(r, bytes, sizeof(bytes))) != 0)
        err = got < 0 ? (int)got : mk_multipart_feed(u->parts, bytes, (size_t)got);
    return err == 0 ? mk_multipart_end(u->parts) : err;
}

static enum mk_verdict show(struct mk_request *r, const struct upload *u)
{
    struct mk_json j;

    mk_json_begin_reply(&j, r, 65536);
    mk_json_array(&j);
    for (unsigned i = 0; i < u->count; i++) {
        mk_json_object(&j);
        mk_json_key(&j, MK_STR("name"));
        mk_json_text(&j, mk_str_from(u->files[i].name));
        mk_json_key(&j, MK_STR("bytes"));
        mk_json_uint(&j, u->files[i].bytes);
        mk_json_close(&j);
    }
    mk_json_close(&j);
    return mk_reply_json(r, 201, &j);
}

/* Called again when more has arrived. */
static enum mk_verdict upload(struct mk_request *r, void *arg)
{
    struct upload *u = mk_request_kept(r, &folder);
    int err = u ? 0 : begin(r, &u);

    (void)arg;
    if (err == 0)
        err = receive(r, u);
    if (err < 0)
        return mk_reply_refusal(r, err); /* waits for more, too */
    u->is_whole = true;
    return show(r, u);
}

int main(int argc, char **argv)
{
    struct mk_config *config;
    struct mk_server *server;

    if (argc != 4 || mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", argv[1], "upload") != 0 ||
        mk_config_set(config, "SERVER", "MaxBodySize", "20G", "upload") != 0 ||
        mk_config_set(config, "HOST", "DocumentRoot", argv[2], "upload") != 0 ||
        mk_config_set(config, "SERVER", "IndexFile", "upload.html", "upload") != 0 ||
        mk_config_handle(config, "POST", "/upload", upload, NULL) != 0 ||
        mk_server_new(&server, config, NULL) != 0 || mk_server_listen(server) != 0)
        return 1;
    folder = argv[3];
    if (mk_server_start(server) == 0) {
        printf("http://127.0.0.1:%u/\n", mk_server_port(server, 0));
        (void)fflush(stdout);
        (void)getchar(); /* until the end of the input */
    }
    mk_server_free(server);
    return 0;
}
