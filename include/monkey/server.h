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
 * The library never exits the process, prints, forks or changes signal handlers (its own threads block all
 * signals but those of their own faults, such as SIGSEGV). Call its functions from one thread at a time unless their comment says otherwise. A call at a wrong time, or of
 * the program's side inside a handler, and NULL for a server, a configuration or a text that is needed, are MK_E_INVALID, and
 * an error in the log where there is a server. Only mk_server_stop and what any thread may call are for handlers.
 */

#include <monkey/types.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_config;
struct mk_host_text;
struct mk_server;
struct mk_plugin;

/** Receives a piece of text, or one line at a time where a function passes lines. */
typedef void (*mk_text_fn)(void *arg, const char *text, size_t len);

/**
 * Services of the surrounding program for the library, because the program has rights or descriptors that
 * the library does not have. Zeroed members mean that the library does without.
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
     * @param share     set SO_REUSEPORT
     * @return a bound descriptor, not yet listening, owned by the library, or an enum mk_error.
     */
    int (*bind)(void *arg, const char *address, bool share);
    /**
     * Sockets that the program has (from systemd, its parent, or bound by itself), for Listen lines with the same address:
     * mk_address_of writes that. They stay the program's; the server has copies.
     */
    const int *inherited;
    size_t ninherited;
    /**
     * Reload the configuration (mk_config_..., mk_server_reload) soon after this call, because a plugin asks for it.
     * Any thread.
     * @return 0, or an enum mk_error: no reload will follow.
     */
    int (*reload)(void *arg);
    /**
     * Start a helper program of a plugin, which may run as another user and so need rights. Called from any thread
     * but a worker's.
     * @param name  as announced by the plugin (MK_RESOURCE_HELPER)
     * @return as mk_helper_spawn; MK_E_UNSUPPORTED: the library starts the program itself.
     */
    int (*start_helper)(void *arg, const char *name);
    /**
     * Bind a unix socket with restricted access, after the plain bind was refused with EACCES.
     * @param name  as for mk_socket_bind (MK_RESOURCE_SOCKET)
     * @return as bind; MK_E_UNSUPPORTED: the program cannot
     */
    int (*bind_socket)(void *arg, const char *name);
    /**
     * Take the lines of the error log, in place of ErrorLog. Called from any thread, several at once; the callback must not
     * block nor call the server. Which lines come is LogLevel's choice.
     * @param component  "server", "conf", "listen", "conn", "plugin", ...: the part that logs
     * @param message    "event text key=value ...", terminated, without time, level and line end; borrowed
     */
    void (*log)(void *arg, enum mk_log_level level, const char *component, const char *message);
    /**
     * Take lines of a log that a setting names "program:NAME", such as AccessLog of the plugin logger. Called from one
     * thread of the plugin at a time.
     * @param lines  one or several, each with its line end; borrowed
     */
    void (*log_lines)(void *arg, const char *name, const char *lines, size_t len);
    /** Texts that the program has in memory, for settings that name a file to read: "program:NAME". */
    const struct mk_host_text *texts;
    size_t ntexts;
    /**
     * Listening sockets of a server of this program that ended without closing them, in the order of mk_server_sockets, for
     * one with the same Listen lines that takes its place: no client is refused in between. They stay the program's; the
     * server has copies.
     */
    const int *kept;
    size_t nkept;
    unsigned restarts; /* how often one took the place of another so far: for mk_server_facts */
    const char *restart_reason; /* why, the last time; NULL: never */
};

/** A text of the program, such as a certificate. Both stay the program's; a reload reads what they are then. */
struct mk_host_text {
    const char *name;
    const char *text;
};

/* ---- For a host's start_helper ---- */

enum { MK_HELPER_USER = 64 }; /* room for the user's name, with its NUL */

/**
 * Start a helper program by posix_spawn. Its standard input is one end of a SOCK_SEQPACKET pair; its only argument is
 * the user to become, empty for none. The program must fork at once and let its first process exit, for which this
 * function waits.
 * @param name  "USER:PROGRAM": USER may be empty, PROGRAM is an absolute path
 * @param user  replaces an empty USER; "": no other user
 * @return the other end, owned by the caller, close-on-exec; or an enum mk_error. Any thread.
 */
MK_API int mk_helper_spawn(const char *name, const char *user) MK_MUST_USE;

/* ---- For a host's bind ---- */

enum { MK_ADDRESS_TEXT = 128 }; /* room for any address as text */

/**
 * Write an address in its canonical form; "80" and "[::]:80", for example, are the same.
 * @return dst, or text itself if it is not an address. Any thread.
 */
MK_API const char *mk_address_canonical(const char *text, char dst[MK_ADDRESS_TEXT]);

/**
 * Bind a socket to an address as the server does: not listening, non-blocking, close-on-exec.
 * The file of a unix socket without a server is replaced.
 * @param share  with SO_REUSEPORT
 * @return the descriptor, or an enum mk_error with errno kept. Any thread.
 */
MK_API int mk_address_bind(const char *address, bool share) MK_MUST_USE;

/**
 * The same for a unix socket with restricted access.
 * @param name   "GROUP:unix:/path". With an empty GROUP the file has mode 0600. With the name or number of a group, or
 *               "." for the argument group, it has mode 0660
 * @param owner, group  of the file; (uid_t)-1 and (gid_t)-1: those of this process
 * @return as mk_address_bind; MK_E_NOENT: there is no such group. Any thread.
 */
MK_API int mk_socket_bind(const char *name, uid_t owner, gid_t group) MK_MUST_USE;

/**
 * Write the address of a bound socket as a Listen line has it: for a descriptor in mk_host.inherited.
 * @return 0; MK_E_INVALID: it is no socket of IPv4 or IPv6, nor of unix with a path. Any thread.
 */
MK_API int mk_address_of(int fd, char dst[MK_ADDRESS_TEXT]) MK_MUST_USE;

/** Remove the file of a unix socket without a server. Nothing happens for other addresses. Any thread. */
MK_API void mk_address_remove_stale(const char *address);

/* ---- Configuration ---- */

/** The files to read; NULL members are derived from dir. Borrowed for the call only. */
struct mk_config_files {
    size_t size;     /* sizeof(struct mk_config_files) */
    const char *dir; /* configuration directory */
    /* each of these is looked for in dir first, then as given */
    const char *server;  /* monkey.conf */
    const char *sites;   /* sites/ */
    const char *plugins; /* plugins/ */
    const char *load;    /* plugins.load */
    const char *mimes;   /* monkey.mime */
};

/**
 * Make an empty configuration: all defaults.
 * @param host  kept by reference until mk_config_free and, if a server takes it, until mk_server_free; may be NULL
 * @return 0 or MK_E_NOMEM.
 */
MK_API int mk_config_new(struct mk_config **config, const struct mk_host *host) MK_MUST_USE;
MK_API void mk_config_free(struct mk_config *config);

/**
 * Read the text files. Errors in them are kept as faults, which mk_config_check counts.
 * @return 0 or MK_E_NOMEM.
 */
MK_API int mk_config_read(struct mk_config *config,
                          const struct mk_config_files *files) MK_MUST_USE;

/**
 * Serve one directory in place of all sites, as `--one-shot` does. It is listed if there is a
 * plugin dirlisting.
 * @return 0 or MK_E_NOMEM.
 */
MK_API int mk_config_one_shot(struct mk_config *config, const char *dir) MK_MUST_USE;

/**
 * Set the folder of plugins that are loaded by name.
 * @param dir  copied. Default: plugins/ where the library was installed
 * @return 0 or MK_E_NOMEM.
 */
MK_API int mk_config_plugin_dir(struct mk_config *config, const char *dir) MK_MUST_USE;

/**
 * Add a plugin that the program has in itself (<monkey/plugin.h>): it is loaded without a Load line, before those that have
 * one, in the order of these calls. A configuration for mk_server_reload keeps the plugins of the one before it without
 * another call; a call for one of their names replaces struct and argument, any other name is a fault.
 * @param plugin    borrowed, as is what it points to, until the server is freed; MK_PLUGIN_EXPORT is not needed
 * @param argument  for mk_setup_argument, and ctx->config of a plugin without FILE sections that keeps nothing in check
 * @return 0; MK_E_INVALID: the description has a wrong size, major or name, or a plugin of that name was added or is
 *         built in; MK_E_NOMEM.
 */
MK_API int mk_config_plugin(struct mk_config *config, const struct mk_plugin *plugin,
                            void *argument) MK_MUST_USE;
/** @return the argument of mk_config_plugin for this configuration, before a server takes it; NULL: the plugin was not added to it. */
MK_API void *mk_config_argument(const struct mk_config *config, const struct mk_plugin *plugin);

/**
 * Call fn(arg) when the configuration is freed: by mk_config_free, or after the last request that was served with it, on any
 * thread. Callbacks run last-in, first-out.
 * @return 0, or MK_E_NOMEM: fn will not be called.
 */
MK_API int mk_config_on_free(struct mk_config *config, void (*fn)(void *arg),
                             void *arg) MK_MUST_USE;

/**
 * Give one setting a value that overrides the files, before or after they are read. The first value of a
 * repeatable key (Listen) replaces the file's lines; further ones are added.
 * @param section  "SERVER", "PLUGINS", "MIMETYPES", a section of a plugin's own file; or for the default site
 *                 "HOST", "HANDLERS", "ERROR_PAGES" and the sites' sections of plugins
 * @param origin   its source, for messages and the dump, e.g. "command line"
 * @return 0, MK_E_NOMEM, or MK_E_INVALID: something is NULL; a wrong key or value is a fault found by mk_config_check.
 */
MK_API int mk_config_set(struct mk_config *config, const char *section, const char *key,
                         const char *value, const char *origin) MK_MUST_USE;

/**
 * Add a setting to a site of the program. Such sites follow those of files, in the order of their first settings. The sites of
 * a configuration that was read from files need a DocumentRoot or a handler of every path; others do not.
 * @param site     its name in messages and the dump; clients name the words of its ServerName
 * @param section  "HOST", "HANDLERS", "ERROR_PAGES" or a plugin's section of sites
 * @param origin   as for mk_config_set
 * @return as mk_config_set.
 */
MK_API int mk_config_set_site(struct mk_config *config, const char *site, const char *section,
                              const char *key, const char *value, const char *origin) MK_MUST_USE;

/**
 * Prepare the configuration to replace another one: it keeps the other one's loaded plugins,
 * because a change of plugins needs a restart. Call this before mk_config_check; otherwise mk_server_reload does it.
 * @param before  borrowed until the check has ended; NULL: none
 */
MK_API void mk_config_follow(struct mk_config *config, const struct mk_config *before);

/**
 * Build and check the whole configuration. Implied by mk_server_new and mk_server_reload.
 * @return 0: usable; > 0: number of faults; MK_E_NOMEM.
 */
MK_API int mk_config_check(struct mk_config *config) MK_MUST_USE;

/**
 * Pass every fault and warning to fn, each with file, line, column, the line itself and the expected value. The
 * configuration that a server has taken keeps none.
 */
MK_API void mk_config_faults(const struct mk_config *config, mk_text_fn fn, void *arg);

/** An error or a warning in a configuration. Texts are borrowed from it; they may have any bytes. Members are added at the end. */
struct mk_config_fault {
    const char *file; /* the source of the setting, such as "command line"; NULL: it is in none */
    unsigned line, column; /* bytes, from 1; 0: of the whole file */
    struct mk_str message; /* one sentence without full stop */
    struct mk_str text;    /* the line, without its end; len 0: there is none */
    bool is_warning;
};

/** The same as members, in the same order: for editors and other programs. */
MK_API void mk_config_each_fault(const struct mk_config *config,
                                 void (*fn)(void *arg, const struct mk_config_fault *fault),
                                 void *arg);
/**
 * Where a key of [SERVER] is written, for a fault that only the surrounding program can find.
 * @param fault  out: an error without a message; file NULL if the key is not written
 */
MK_API void mk_config_place(const struct mk_config *config, const char *key,
                            struct mk_config_fault *fault);

/**
 * Write the settings in force as configuration text, each with a comment that names its source.
 * @return 0; MK_E_NOMEM; MK_E_INVALID: not checked yet, or a server has taken it
 */
MK_API int mk_config_dump(const struct mk_config *config, mk_text_fn fn, void *arg) MK_MUST_USE;
/** The same for all sections of one name, in any case. @return also MK_E_NOENT: there is none. */
MK_API int mk_config_dump_section(const struct mk_config *config, const char *section,
                                  mk_text_fn fn, void *arg) MK_MUST_USE;
/**
 * The same for settings that are not as by default.
 * @param section  NULL: all
 * @return as mk_config_dump_section.
 */
MK_API int mk_config_dump_changed(const struct mk_config *config, const char *section,
                                  mk_text_fn fn, void *arg) MK_MUST_USE;

/** A request to explain. All members are borrowed for the call. */
struct mk_explain_question {
    size_t size;     /* sizeof(struct mk_explain_question) */
    const char *url; /* "http://HOST[:PORT]/PATH", "https://...", or "/PATH" for the default site */
    const char *method;        /* NULL: "GET" */
    const char *const *fields; /* "Name: value"; a Host takes the place of the URL's */
    size_t nfields;
    const char *from; /* the client's IP address; NULL: 127.0.0.1 */
    bool as_json;
    /** Called before the request is asked, when all files of plugins have been read: the time to drop rights. NULL: nothing. */
    void (*on_ready)(void *arg);
    void *arg;
};

/**
 * Write who would answer a request and why: address, site, location, what each plugin says, the file, the answer's status and
 * fields, each with the line of the setting that decides. The server's own code decides, but nothing listens, no log is
 * written, no program is started and no backend is asked. On one thread, which waits for passwords to be checked.
 * @param why  out, with MK_E_INVALID: what was expected; static
 * @return > 0: the status; 0: known to the handler alone, a program or a backend; MK_E_PEER: nobody answers, since no address
 *         has the port or the connection would be closed; MK_E_INVALID: the question is malformed, or the configuration was
 *         not checked, has faults or was taken; MK_E_NOMEM.
 */
MK_API int mk_config_explain(struct mk_config *config, const struct mk_explain_question *question,
                             mk_text_fn fn, void *arg, const char **why) MK_MUST_USE;

/** Facts of [SERVER] for the executable. Strings are borrowed from the configuration. After a check. */
struct mk_config_facts {
    size_t size;           /* sizeof(struct mk_config_facts), set by the caller */
    const char *pid_file;  /* NULL: none */
    const char *user;      /* name or number to become; NULL: none is set */
    uint64_t fd_limit;     /* 0: unchanged */
    unsigned graceful_ms;  /* GracefulTimeout */
    const char *error_log; /* path, "stderr" or "syslog" */
    bool core_dumps;       /* CoreDumps */
    size_t warnings;       /* number of warnings among the faults */
    int restart;           /* Restart: 1 on, 0 off, -1 as the program thinks best */
};
MK_API int mk_config_facts(const struct mk_config *config,
                           struct mk_config_facts *facts) MK_MUST_USE;

/**
 * Report an error of a key of [SERVER] that only the surrounding program can find, in the form of mk_config_faults: with
 * file, line and column. Before mk_server_new.
 * @param message  one sentence without full stop
 */
MK_API void mk_config_fault_of(const struct mk_config *config, const char *key, const char *message,
                               mk_text_fn fn, void *arg);

/** Resources that a process with more rights may be asked for by name; see struct mk_host. */
enum mk_resource {
    MK_RESOURCE_LISTEN, /* address without flags, as given to mk_host.bind */
    MK_RESOURCE_READ,   /* a file opened O_RDONLY: configuration, keys, passwords */
    MK_RESOURCE_LOG,    /* a file opened for appending, created when missing */
    MK_RESOURCE_HELPER, /* a program to start: see mk_helper_spawn */
    MK_RESOURCE_SOCKET, /* a unix socket with restricted access: see mk_socket_bind */
};

/** Pass the name of every resource that this configuration uses or was read from to fn. After a check. */
MK_API void mk_config_resources(const struct mk_config *config,
                                void (*fn)(void *arg, enum mk_resource kind, const char *name),
                                void *arg);

/**
 * Pass a sentence to fn for each folder of the configuration that this process, with its current user, may not
 * enter. The server logs the same when it starts. After a check.
 */
MK_API void mk_config_unreachable(const struct mk_config *config, mk_text_fn fn, void *arg);

/**
 * Let a plugin carry out a command of its own, without a server and regardless of the configured plugins.
 * @param plugin  by name: built in, or from the plugin directory
 * @param words   the command and its arguments, terminated by NULL
 * @param text    out: the result or the reason of a failure, for people; terminated
 * @return 0; MK_E_NOENT: the plugin cannot be loaded; MK_E_UNSUPPORTED: it has no such command; or the command's error.
 */
MK_API int mk_config_command(struct mk_config *config, const char *plugin, const char *const *words,
                             char *text, size_t size) MK_MUST_USE;

/* ---- Server ---- */

/**
 * Make a server from a configuration, which is taken, also on failure, except with faults. Calls that would change, serve or
 * free one that a server has do nothing, with MK_E_INVALID.
 * @return 0; > 0: number of faults, and the caller keeps the configuration to show them; MK_E_NOMEM.
 */
MK_API int mk_server_new(struct mk_server **server, struct mk_config *config,
                         const struct mk_host *host) MK_MUST_USE;

/**
 * Open logs and listening sockets; nothing is accepted yet. Call before dropping privileges. The error log gets the warnings
 * of the configuration, unless it is standard error: there the program prints them (mk_config_faults).
 * @return 0, or an error after logging the reason; mk_server_why() returns the sentence.
 */
MK_API int mk_server_listen(struct mk_server *server) MK_MUST_USE;

/** @return the reason for which the last call failed: a sentence, valid until the next call, never NULL. */
MK_API const char *mk_server_why(const struct mk_server *server);

/**
 * Pass each listening socket to fn, but for inherited ones: for mk_host.kept of a server that may have to take the place of
 * this one. They stay the server's; who keeps copies of them closes those before the server stops. The thread that reloads.
 */
MK_API void mk_server_sockets(const struct mk_server *server, void (*fn)(void *arg, int fd),
                              void *arg);

/**
 * Write what the calling thread is doing for a request: ` plugin=NAME hook=NAME target="PATH"`, as far as each is known,
 * terminated, peer's bytes escaped. Async-signal-safe: for the handler of SIGSEGV and the like.
 * @return bytes written, less than size. Any thread.
 */
MK_API size_t mk_thread_doing(char *text, size_t size);

/** Start the workers. @return 0 or an error; on failure nothing runs. */
MK_API int mk_server_start(struct mk_server *server) MK_MUST_USE;

/**
 * Start without threads of workers: the only worker (set Workers 1) turns on the calling thread, in a loop of the
 * program. The loop waits until mk_server_poll_fd is readable or mk_server_wait_ms has passed, and calls
 * mk_server_turn, which calls handlers too. Without other work, `mk_server_wait(server, -1)` is such a loop.
 *
 * mk_server_turn, mk_server_wait_ms and mk_server_reload are for this thread alone, and not inside a handler;
 * mk_server_ask_wait would wait for itself here: MK_E_INVALID. What other threads may call wakes the descriptor. While
 * the worker turns, SIGPIPE is blocked.
 * @return as mk_server_start; MK_E_INVALID: there are several workers.
 */
MK_API int mk_server_start_here(struct mk_server *server) MK_MUST_USE;

/**
 * @return a descriptor that is readable when mk_server_turn has something to do: for poll, epoll or a library's loop. It is
 *         the server's and stays the same. MK_E_INVALID: not started by mk_server_start_here.
 */
MK_API int mk_server_poll_fd(const struct mk_server *server);

/**
 * The time after which mk_server_turn is due although the descriptor is not readable: timeouts, work left over. It changes
 * with each call of the server, so ask before each wait.
 * @return milliseconds; 0: now; -1: without limit, also when the server has ended or this is not its thread.
 */
MK_API int mk_server_wait_ms(struct mk_server *server);

/**
 * Let the worker take one turn: it accepts, reads, answers and writes what is ready, a bounded share of it.
 * @param max_wait_ms  0: do not block; otherwise wait so long for something to do; -1: without limit
 * @return 1: the server goes on; 0: it has ended after mk_server_stop; MK_E_INVALID: not started by mk_server_start_here,
 *         another thread, or inside a handler.
 */
MK_API int mk_server_turn(struct mk_server *server, int max_wait_ms) MK_MUST_USE;

/**
 * Change to another configuration without refusing or closing a connection. The new one is checked completely first.
 * Its errors are logged too, and a failed reload is counted (mk_server_facts).
 * @param config  taken on success; otherwise the caller keeps it and the old one stays in force
 * @return 0; > 0: number of faults; an enum mk_error (mk_server_why has the reason).
 */
MK_API int mk_server_reload(struct mk_server *server, struct mk_config *config) MK_MUST_USE;

/** Log and count a failed reload whose configuration could not even be read, for example without memory. */
MK_API void mk_server_reload_failed(struct mk_server *server, const char *why);

/** @return the configuration in force, borrowed until the next reload. */
MK_API const struct mk_config *mk_server_config(const struct mk_server *server);

/** Open log files again by name, after they were renamed. @return 0 or the first error. */
MK_API int mk_server_reopen_logs(struct mk_server *server) MK_MUST_USE;

/**
 * Begin a graceful stop: listening ends, idle connections are closed, requests in flight have at
 * most grace_ms milliseconds. Returns at once. Another call shortens the time; 0 stops at once.
 */
MK_API void mk_server_stop(struct mk_server *server, unsigned grace_ms);
/** The same, with the reason for the error log: "signal TERM". */
MK_API void mk_server_stop_because(struct mk_server *server, unsigned grace_ms, const char *why);

/**
 * Wait until the workers have ended after mk_server_stop. After mk_server_start_here this thread takes the turns meanwhile.
 * @param timeout_ms  -1: no limit
 * @return 0, or MK_E_TIMEOUT.
 */
MK_API int mk_server_wait(struct mk_server *server, int timeout_ms) MK_MUST_USE;

/** @return a descriptor that becomes readable when all workers have ended; owned by the server. */
MK_API int mk_server_fd(const struct mk_server *server);

/** Stop at once if running, close everything and free the server with its configuration. NULL is allowed. */
MK_API void mk_server_free(struct mk_server *server);

/** Pass every listening address to fn, as text with the real port, e.g. "127.0.0.1:2001". */
MK_API void mk_server_addresses(const struct mk_server *server, mk_text_fn fn, void *arg);

/**
 * @param index  of the listening addresses, from 0, in the order of the Listen lines
 * @return its port, the real one after "Listen 127.0.0.1:0"; 0: a unix socket, or there is no such address.
 */
MK_API unsigned mk_server_port(const struct mk_server *server, unsigned index);

/** Counters of one worker; they never decrease, except connections. Any thread may read. */
struct mk_worker_stats {
    size_t size; /* sizeof(struct mk_worker_stats), set by the caller */
    uint64_t accepted, requests, bytes_in, bytes_out, refused, turns;
    uint64_t connections; /* open now */
};
MK_API unsigned mk_server_workers(const struct mk_server *server);
/** @return 0, or MK_E_INVALID: there is no such worker. */
MK_API int mk_server_stats(const struct mk_server *server, unsigned worker,
                           struct mk_worker_stats *stats) MK_MUST_USE;

/** @return the version of the library in use, "2.0.0". */
MK_API const char *mk_version(void);
/** @return facts of the build, one a line: compiler, libc, options, plugins, and the folder of plugins. */
MK_API const char *mk_build_facts(void);

#ifdef __cplusplus
}
#endif

#endif
