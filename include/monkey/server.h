/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_SERVER_H
#define MONKEY_SERVER_H

/*
 * A web server inside your program.
 *
 *     struct mk_config *config;
 *     struct mk_server *server;
 *
 *     mk_config_new(&config, NULL);
 *     mk_config_set(config, "SERVER", "Listen", "127.0.0.1:8080", "my program");
 *     mk_config_set(config, "HOST", "DocumentRoot", "/srv/www", "my program");
 *     mk_server_new(&server, config, NULL);
 *     mk_server_listen(server);
 *     mk_server_start(server);
 *     ...
 *     mk_server_stop(server, 5000);
 *     mk_server_free(server);
 *
 * The library never exits, prints, forks or changes signal handlers (its own threads block all
 * signals). Unless a function says otherwise it is called from one thread at a time.
 */

#include <monkey/types.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_config;
struct mk_server;

/** Takes a piece of text; line by line where a function speaks of lines. */
typedef void (*mk_text_fn)(void *arg, const char *text, size_t len);

/**
 * What the surrounding program does for the library, because it has rights or descriptors that
 * the library has not. Zeroed members mean the plain way.
 */
struct mk_host {
    size_t size; /* sizeof(struct mk_host) */
    void *arg;
    /**
     * Open a file by name when the plain open was refused (EACCES, EPERM). Called from the thread
     * that loads, reloads or reopens logs.
     * @param flags  as for open(2): O_RDONLY for configuration, keys and passwords; O_WRONLY |
     *               O_APPEND | O_CREAT for logs
     * @return a descriptor, owned by the library from then on, or an enum mk_error.
     */
    int (*open_file)(void *arg, const char *path, int flags, mode_t mode);
    /**
     * Bind a socket to an address, after the plain bind was refused with EACCES.
     * @param address   as in a Listen line, without flags: "80", "10.0.0.1:80", "[::1]:80", "unix:/run/x"
     * @param share     SO_REUSEPORT is to be set
     * @return a bound descriptor, not yet listening, owned by the library, or an enum mk_error.
     */
    int (*bind)(void *arg, const char *address, bool share);
    /** Listening sockets that were inherited (systemd); used for Listen lines with the same address. */
    const int *inherited;
    size_t ninherited;
    /**
     * Reload the configuration soon (mk_config_..., mk_server_reload), because a plugin asks for it. Any
     * thread, and not inside this call.
     * @return 0 or an enum mk_error: it will not.
     */
    int (*reload)(void *arg);
    /**
     * Start a helper program of a plugin, one that may need rights: it is to run as another user. Called from any thread
     * but a worker's.
     * @param name  as a plugin named it (MK_RESOURCE_HELPER)
     * @return as mk_helper_spawn; MK_E_UNSUPPORTED: the library is to start it itself.
     */
    int (*start_helper)(void *arg, const char *name);
    /**
     * Bind a unix socket that not everybody may connect to, after the plain bind was refused with EACCES.
     * @param name  as mk_socket_bind has it (MK_RESOURCE_SOCKET)
     * @return as bind; MK_E_UNSUPPORTED: it cannot
     */
    int (*bind_socket)(void *arg, const char *name);
};

/* ---- For a host's start_helper ---- */

enum { MK_HELPER_USER = 64 }; /* room for the user's name, with its NUL */

/**
 * Start a helper program by posix_spawn. Its standard input is one end of a SOCK_SEQPACKET pair, its only argument
 * the user that it is to become, empty for none. It forks at once and lets its first process exit, which is awaited here.
 * @param name  "USER:PROGRAM": USER may be empty, PROGRAM is an absolute path
 * @param user  in place of an empty USER; "": nobody else
 * @return the other end, the caller's, close-on-exec; or an enum mk_error. Any thread.
 */
MK_API int mk_helper_spawn(const char *name, const char *user) MK_MUST_USE;

/* ---- For a host's bind ---- */

enum { MK_ADDRESS_TEXT = 128 }; /* room for any address as text */

/**
 * The one way of writing an address that has several, such as "80" and "[::]:80".
 * @return dst, or text itself when it is no address. Any thread.
 */
MK_API const char *mk_address_canonical(const char *text, char dst[MK_ADDRESS_TEXT]);

/**
 * A socket bound to an address as the server binds its own: not listening, non-blocking, close-on-exec.
 * The file of a unix socket is replaced when nobody serves it.
 * @param share  with SO_REUSEPORT
 * @return the descriptor, or an enum mk_error with errno kept. Any thread.
 */
MK_API int mk_address_bind(const char *address, bool share) MK_MUST_USE;

/**
 * The same for a unix socket that not everybody may connect to.
 * @param name   "GROUP:unix:/path". GROUP is empty: the file is its owner's alone, mode 0600. GROUP is "." or an account's
 *               name or number: mode 0660, "." for the group that is given here
 * @param owner, group  whose the file becomes; (uid_t)-1 and (gid_t)-1: they stay ours
 * @return as mk_address_bind; MK_E_NOENT: there is no such group. Any thread.
 */
MK_API int mk_socket_bind(const char *name, uid_t owner, gid_t group) MK_MUST_USE;

/** Remove the file of a unix socket that nobody serves any more; other addresses have none. Any thread. */
MK_API void mk_address_remove_stale(const char *address);

/* ---- Configuration ---- */

/** Which files to read; NULL members are derived from dir. Borrowed for the call only. */
struct mk_config_files {
    size_t size;     /* sizeof(struct mk_config_files) */
    const char *dir; /* configuration directory */
    const char
        *server; /* monkey.conf; looked for in dir first, then as given. The same for all below */
    const char *sites;   /* sites/ */
    const char *plugins; /* plugins/ */
    const char *load;    /* plugins.load */
    const char *mimes;   /* monkey.mime */
};

/**
 * An empty configuration: all defaults.
 * @param host  kept by reference until mk_config_free and, if a server takes it, until mk_server_free; may be NULL
 * @return 0 or MK_E_NOMEM.
 */
MK_API int mk_config_new(struct mk_config **config, const struct mk_host *host) MK_MUST_USE;
MK_API void mk_config_free(struct mk_config *config);

/**
 * Read the text files. What is wrong in them is kept as faults; mk_config_check counts them.
 * @return 0 or MK_E_NOMEM.
 */
MK_API int mk_config_read(struct mk_config *config,
                          const struct mk_config_files *files) MK_MUST_USE;

/**
 * Serve one directory, in place of every site: what `--one-shot` does. It is listed when there is a
 * plugin dirlisting.
 * @return 0 or MK_E_NOMEM.
 */
MK_API int mk_config_one_shot(struct mk_config *config, const char *dir) MK_MUST_USE;

/**
 * Where plugins are that are loaded by name.
 * @param dir  copied; without this call: plugins/ where the library was installed
 * @return 0 or MK_E_NOMEM.
 */
MK_API int mk_config_plugin_dir(struct mk_config *config, const char *dir) MK_MUST_USE;

/**
 * Give one setting a value that overrides what files say, before or after they are read. A
 * repeatable key (Listen) set this way replaces the file's lines; set again it adds.
 * @param section  "SERVER", "PLUGINS", a section of a plugin's own file; or for the default site
 *                 "HOST", "HANDLERS", "ERROR_PAGES" and the sites' sections of plugins
 * @param origin   where it came from, for messages and the dump, e.g. "command line"
 * @return 0 or MK_E_NOMEM; a wrong key or value is a fault found by mk_config_check.
 */
MK_API int mk_config_set(struct mk_config *config, const char *section, const char *key,
                         const char *value, const char *origin) MK_MUST_USE;

/**
 * This configuration is to take the place of another one: plugins stay those that are loaded for it,
 * because others need a restart. Call it before mk_config_check; mk_server_reload does it otherwise.
 * @param before  borrowed until the check has ended; NULL: none
 */
MK_API void mk_config_follow(struct mk_config *config, const struct mk_config *before);

/**
 * Build and check the whole configuration. Implied by mk_server_new and mk_server_reload.
 * @return 0: usable; > 0: number of faults; MK_E_NOMEM.
 */
MK_API int mk_config_check(struct mk_config *config) MK_MUST_USE;

/** Give every fault and warning to fn, each with file, line, column, the line and what was expected. */
MK_API void mk_config_faults(const struct mk_config *config, mk_text_fn fn, void *arg);

/** Write the effective settings as configuration text, each with a comment telling where it came from. After a check. */
MK_API int mk_config_dump(const struct mk_config *config, mk_text_fn fn, void *arg);
/** The same of all sections of one name, in any case. @return also MK_E_NOENT: there is none. */
MK_API int mk_config_dump_section(const struct mk_config *config, const char *section,
                                  mk_text_fn fn, void *arg);

/** What the executable needs to know of [SERVER]. Strings are borrowed from the configuration. After a check. */
struct mk_config_facts {
    size_t size;           /* sizeof(struct mk_config_facts), set by the caller */
    const char *pid_file;  /* NULL: none */
    const char *user;      /* name or number to become; NULL: none is set */
    uint64_t fd_limit;     /* 0: leave as it is */
    unsigned graceful_ms;  /* GracefulTimeout */
    const char *error_log; /* path, "stderr" or "syslog" */
    bool core_dumps;       /* CoreDumps */
    size_t warnings;       /* among what mk_config_faults shows */
};
MK_API int mk_config_facts(const struct mk_config *config,
                           struct mk_config_facts *facts) MK_MUST_USE;

/**
 * Show something that only the surrounding program can find wrong with a key of [SERVER], in the form of mk_config_faults: with
 * file, line and column. Before the server is made.
 * @param message  one sentence without full stop
 */
MK_API void mk_config_fault_of(const struct mk_config *config, const char *key, const char *message,
                               mk_text_fn fn, void *arg);

/** What a process with more rights may be asked for by name: see struct mk_host. */
enum mk_resource {
    MK_RESOURCE_LISTEN, /* address without flags, as given to mk_host.bind */
    MK_RESOURCE_READ,   /* a file opened O_RDONLY: configuration, keys, passwords */
    MK_RESOURCE_LOG,    /* a file opened for appending, created when missing */
    MK_RESOURCE_HELPER, /* a program to start: see mk_helper_spawn */
    MK_RESOURCE_SOCKET, /* a unix socket for some: see mk_socket_bind */
};

/** Name every resource that this configuration uses or was read from. After a check. */
MK_API void mk_config_resources(const struct mk_config *config,
                                void (*fn)(void *arg, enum mk_resource kind, const char *name),
                                void *arg);

/**
 * Give fn a sentence for each folder of the configuration that this process, as the user that it is now, may not
 * enter. The server logs the same when it starts. After a check.
 */
MK_API void mk_config_unreachable(const struct mk_config *config, mk_text_fn fn, void *arg);

/**
 * Let a plugin carry out a command of its own, without a server and whatever the configuration says of plugins.
 * @param plugin  by name: built in, or from the plugin directory
 * @param words   the command and its arguments, terminated by NULL
 * @param text    out: what came of it or why not, for people; terminated
 * @return 0; MK_E_NOENT: the plugin cannot be loaded; MK_E_UNSUPPORTED: it has no such command; what it returned.
 */
MK_API int mk_config_command(struct mk_config *config, const char *plugin, const char *const *words,
                             char *text, size_t size) MK_MUST_USE;

/* ---- Server ---- */

/**
 * Make a server from a configuration, which is taken (also on failure, but see below).
 * @return 0; > 0: number of faults, the configuration stays the caller's so that they can be shown; MK_E_NOMEM.
 */
MK_API int mk_server_new(struct mk_server **server, struct mk_config *config,
                         const struct mk_host *host) MK_MUST_USE;

/**
 * Open logs and listening sockets; nothing is accepted yet. Call before dropping privileges.
 * @return 0, or an error after logging the reason; mk_server_why() has the sentence.
 */
MK_API int mk_server_listen(struct mk_server *server) MK_MUST_USE;

/** Why the last call failed: a sentence, valid until the next call. Never NULL. */
MK_API const char *mk_server_why(const struct mk_server *server);

/** Start the workers. @return 0 or an error; on failure nothing runs. */
MK_API int mk_server_start(struct mk_server *server) MK_MUST_USE;

/**
 * Change to another configuration without refusing or cutting a connection. Checked whole first. What is wrong
 * with it is in the error log too, and counted (mk_server_facts).
 * @param config  taken on success; otherwise the caller's, and the old one stays in force
 * @return 0; > 0: number of faults; an enum mk_error (mk_server_why says more).
 */
MK_API int mk_server_reload(struct mk_server *server, struct mk_config *config) MK_MUST_USE;

/** A configuration could not even be read, for want of memory for example: log and count this as a reload that failed. */
MK_API void mk_server_reload_failed(struct mk_server *server, const char *why);

/** The configuration in force, until the next reload. */
MK_API const struct mk_config *mk_server_config(const struct mk_server *server);

/** Reopen log files by name, after somebody renamed them. @return 0 or the first error. */
MK_API int mk_server_reopen_logs(struct mk_server *server);

/**
 * Begin to stop: listening ends, idle connections close, requests in flight are answered for at
 * most grace_ms milliseconds. Returns at once. Called again it shortens the grace; 0 ends at once.
 */
MK_API void mk_server_stop(struct mk_server *server, unsigned grace_ms);
/** The same, with the reason for the error log: "signal TERM". */
MK_API void mk_server_stop_because(struct mk_server *server, unsigned grace_ms, const char *why);

/**
 * Wait until the workers have ended after mk_server_stop.
 * @param timeout_ms  at most so long; -1 for ever
 * @return 0, or MK_E_TIMEOUT.
 */
MK_API int mk_server_wait(struct mk_server *server, int timeout_ms) MK_MUST_USE;

/** A descriptor that becomes readable when all workers have ended; owned by the server. */
MK_API int mk_server_fd(const struct mk_server *server);

/** Stop at once if running, close everything and free the server with its configuration. NULL is allowed. */
MK_API void mk_server_free(struct mk_server *server);

/** Name every address that listens, as text with the real port, e.g. "127.0.0.1:2001". */
MK_API void mk_server_addresses(const struct mk_server *server, mk_text_fn fn, void *arg);

/** Counters of one worker; each only ever grows, but connections. Any thread may read. */
struct mk_worker_stats {
    size_t size; /* sizeof(struct mk_worker_stats), set by the caller */
    uint64_t accepted, requests, bytes_in, bytes_out, refused, turns;
    uint64_t connections; /* open now */
};
MK_API unsigned mk_server_workers(const struct mk_server *server);
/** @return 0 or MK_E_INVALID when there is no such worker. */
MK_API int mk_server_stats(const struct mk_server *server, unsigned worker,
                           struct mk_worker_stats *stats) MK_MUST_USE;

/** "2.0.0" of the library in use. */
MK_API const char *mk_version(void);
/** Facts of the build, one a line: compiler, libc, options, plugins, and where plugins are looked for. */
MK_API const char *mk_build_facts(void);

#ifdef __cplusplus
}
#endif

#endif
