/* SPDX-License-Identifier: Apache-2.0 */
#include <libmonkey.h>

#include <stdio.h>

/*
 * Print the virtual hosts, workers and media types of a server.
 *
 *     cc list.c $(pkg-config --cflags --libs libmonkey) -o list
 *     ./list [ADDRESS]
 */

static void print_all(mklib_ctx ctx)
{
    struct mklib_vhost **hosts = mklib_vhost_list(ctx), *host;
    struct mklib_worker_info **workers = mklib_scheduler_worker_info(ctx), *worker;
    struct mklib_mime **mimes = mklib_mimetype_list(ctx), *mime;

    if (!hosts || !workers || !mimes)
        return;
    mklib_vhost_foreach(host, hosts)
        printf("host %s at %s: %s\n", host->name, host->document_root, host->server_names);
    mklib_worker_info_foreach(worker, workers)
        printf("worker %d: %llu connections\n", worker->pid, worker->active_connections);
    mklib_mime_foreach(mime, mimes) printf("type %s: %s\n", mime->name, mime->type);
}

int main(int argc, char **argv)
{
    mklib_ctx ctx = mklib_init(argc > 1 ? argv[1] : NULL, 2001, 0, NULL);

    if (!ctx)
        return 1;
    if (!mklib_config(ctx, MKC_WORKERS, 2, MKC_TIMEOUT, 5, NULL) ||
        !mklib_vhost_config(ctx, "files", MKV_SERVERNAME, "files.example.org", MKV_DOCUMENTROOT,
                            "/tmp", NULL) ||
        !mklib_mimetype_add(ctx, "quiz", "text/x-quiz") || !mklib_start(ctx))
        return 1;
    print_all(ctx);
    return mklib_stop(ctx) ? 0 : 1;
}
