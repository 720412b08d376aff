/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_LIBMONKEY_H
#define MONKEY_LIBMONKEY_H

/*
 * The library interface of Monkey 1.0 to 1.5 (2012), for programs that were written for it: libmonkey(3). New programs use
 * <monkey/server.h>. In libmonkey-2012: pkg-config --cflags --libs libmonkey.
 *
 *     static int data(const mklib_session *session, const char *vhost, const char *url, const char *get,
 *                     unsigned long get_len, const char *post, unsigned long post_len, unsigned int *status,
 *                     const char **content, unsigned long *content_len, char *header)
 *     {
 *         *content = "Hello\n";
 *         *content_len = 6;
 *         return MKLIB_TRUE;
 *     }
 *
 *     mklib_ctx ctx = mklib_init(NULL, 2001, 0, NULL);
 *
 *     mklib_callback_set(ctx, MKCB_DATA, data);
 *     mklib_start(ctx);
 *     ...
 *     mklib_stop(ctx);
 *
 * A program has any number of contexts. Functions may be called from any thread; those that return a list, from one thread
 * at a time for each context. Misuse is answered with MKLIB_FALSE or NULL and a warning on standard error.
 */

#include <monkey/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MKLIB_FALSE = 0, MKLIB_TRUE = 1 };

/** A server: a handle, not an address. A call with the handle of a freed context is refused. */
typedef struct mklib_ctx_t *mklib_ctx;

/** A request, valid in cb_data and cb_close. */
typedef void mklib_session;

struct mklib_vhost {
    const char *name;          /* as in mklib_vhost_config; "default": that of mklib_init */
    const char *document_root; /* "/dev/null": no files */
    const char *server_names;  /* separated by blanks */
};

struct mklib_worker_info {
    unsigned long long active_connections;
    int pid; /* of the worker's thread, as the kernel numbers it */
};

struct mklib_mime {
    const char *name; /* the extension without the dot */
    const char *type;
};

/** Transports, for mklib_init. */
enum { MKLIB_LIANA = 1, MKLIB_LIANA_SSL = 2 };

/** Keys of mklib_config: their type and the default. */
enum mklib_mkc {
    MKC_WORKERS = 1,         /* int: threads; 1 */
    MKC_TIMEOUT,             /* int: seconds for the head of a request; 15 */
    MKC_USERDIR,             /* char *: folder of a user's home; NULL, the default: none */
    MKC_INDEXFILE,           /* char *: names, separated by blanks; NULL, the default: none */
    MKC_HIDEVERSION,         /* int: MKLIB_TRUE */
    MKC_RESUME,              /* int: answer requests for ranges; MKLIB_TRUE */
    MKC_KEEPALIVE,           /* int: MKLIB_TRUE */
    MKC_KEEPALIVETIMEOUT,    /* int: seconds; 15 */
    MKC_MAXKEEPALIVEREQUEST, /* int: requests on a connection; 50 */
    /* int: KB of a request, its head (at most 1 MB) and its body; 32, but 8 MB for a body while it is not set */
    MKC_MAXREQUESTSIZE,
    MKC_SYMLINK,        /* int: follow symbolic links; MKLIB_FALSE */
    MKC_DEFAULTMIMETYPE /* char *: of files with an unknown extension; "text/plain" */
};

/** Keys of mklib_vhost_config. */
enum mklib_mkv {
    MKV_SERVERNAME = 1, /* char *: names of the host, separated by blanks */
    MKV_DOCUMENTROOT    /* char *: its files; without it there are none */
};

/** Callbacks of mklib_callback_set. */
enum mklib_cb { MKCB_IPCHECK = 1, MKCB_URLCHECK, MKCB_DATA, MKCB_CLOSE };

/*
 * Callbacks run on the threads of the workers, with more than one worker at the same time, and must not block: other
 * connections of the worker wait meanwhile.
 */

/** A connection was accepted. @param ip  the client's address. @return MKLIB_FALSE: close the connection. */
typedef int (*cb_ipcheck)(const char *ip);
/** A request arrived. @param url  its path, decoded and normalised, without query. @return MKLIB_FALSE: answer 403. */
typedef int (*cb_urlcheck)(const char *url);
/**
 * Answer a request. Its body was received whole.
 * @param vhost        the name of the virtual host
 * @param url          the path, decoded and normalised, of any length
 * @param get, post    the query and the body; NULL: there is none. Terminated after their length, for the call only
 * @param status       out: the status of the answer, 200 to 599; 200 at first
 * @param content      out: the body of the answer. The library copies up to 1 MB; longer ones stay valid until cb_close
 * @param content_len  out: its length; 0 at first
 * @param header       out: room for 256 bytes: header lines without the last line end, "Content-Type: text/html"; empty at first
 * @return MKLIB_FALSE: a file of the virtual host is the answer, or 404.
 */
typedef int (*cb_data)(const mklib_session *session, const char *vhost, const char *url,
                       const char *get, unsigned long get_len, const char *post,
                       unsigned long post_len, unsigned int *status, const char **content,
                       unsigned long *content_len, char *header);
/** A request has ended: it was answered, or its connection closed. Called once for each request that passed cb_urlcheck, refused or not. */
typedef void (*cb_close)(const mklib_session *session);

/**
 * Make a server with the defaults of enum mklib_mkc.
 * @param address       to listen on: an IP address or "unix:/path"; NULL: every address
 * @param port          0: 2001; ignored for a unix socket
 * @param plugins       MKLIB_LIANA or 0; MKLIB_LIANA_SSL: TLS by the plugin tls, with the certificate `cert.pem` and its key
 *                      `key.pem` in plugins/tls of the installed configuration, as `monkey --make-cert` writes them
 * @param documentroot  the files of the default virtual host; NULL: none
 * @return the context, freed by mklib_stop; NULL: a wrong argument, or no memory.
 */
MK_API mklib_ctx mklib_init(const char *address, unsigned int port, unsigned int plugins,
                            const char *documentroot);

/** Set a callback before the start. @param func  of the type for cb; NULL removes it. @return MKLIB_FALSE: the server runs, or cb is unknown. */
MK_API int mklib_callback_set(mklib_ctx ctx, const enum mklib_cb cb, void *func);

/**
 * Set keys of enum mklib_mkc, each with its value, terminated by NULL, before the start.
 * @return MKLIB_FALSE: the server runs, a key is unknown, or a value is wrong; then the call changed nothing.
 */
MK_API int mklib_config(mklib_ctx ctx, ...) __attribute__((sentinel));

/**
 * Add a virtual host, with keys of enum mklib_mkv, each with its value, terminated by NULL, before the start.
 * @return as mklib_config; also MKLIB_FALSE: there is one of this name.
 */
MK_API int mklib_vhost_config(mklib_ctx ctx, const char *name, ...) __attribute__((sentinel));

/** Start the server in threads of its own. @return MKLIB_FALSE: it runs already, or cannot start. */
MK_API int mklib_start(mklib_ctx ctx);

/**
 * Stop the server and free the context with its lists. Requests in flight have a second.
 * @return MKLIB_FALSE: it does not run, was stopped before, or this is a callback of it.
 */
MK_API int mklib_stop(mklib_ctx ctx);

/** @return the virtual hosts, terminated by NULL, valid until the next such call or mklib_stop; NULL: no memory. */
MK_API struct mklib_vhost **mklib_vhost_list(mklib_ctx ctx);
/** @return the workers, likewise; NULL also if the server does not run. */
MK_API struct mklib_worker_info **mklib_scheduler_worker_info(mklib_ctx ctx);
/** @return the media types by extension, likewise. */
MK_API struct mklib_mime **mklib_mimetype_list(mklib_ctx ctx);

/** Add a media type before the start. @param name  the extension without the dot. @return MKLIB_FALSE: it is known, or wrong, or the server runs. */
MK_API int mklib_mimetype_add(mklib_ctx ctx, const char *name, const char *type);

/**
 * Get a header field of a request, in cb_data or cb_close.
 * @param key    its name, in any case
 * @param value  out: malloc'd, for free(); NULL: the field is absent or empty
 * @return 0, or -1: no memory, or an argument is NULL.
 */
MK_API int mklib_get_request_header(const mklib_session *session, const char *key, char **value);

/* Walk a list: both are pointers of the caller, and list is at the end of the list afterwards. */
#define mklib_vhost_foreach(cur, list) for ((cur) = *(list)++; (cur); (cur) = *(list)++)
#define mklib_worker_info_foreach(cur, list) mklib_vhost_foreach(cur, list)
#define mklib_mime_foreach(cur, list) mklib_vhost_foreach(cur, list)
#define mklib_mimetype_foreach(cur, list) mklib_vhost_foreach(cur, list)

#ifdef __cplusplus
}
#endif

#endif
