/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_OPTIONS_H
#define MK_BIN_OPTIONS_H

#include <monkey/server.h>

#include <stdbool.h>

/* The command line. */

enum mk_action {
    MK_ACTION_RUN,
    MK_ACTION_TEST,
    MK_ACTION_DUMP,
    MK_ACTION_EXPLAIN,
    MK_ACTION_MAKE_CERT
};

enum {
    MK_OVERRIDES_MAX = 32,
    MK_EXPLAIN_FIELDS_MAX = 64,
    MK_EXPLAIN_MISUSED = 2, /* exit code: a question that is none */
};

/** A setting of [SERVER] given as an option; borrowed from the command line or kept for good. */
struct mk_override {
    const char *key, *value;
};

struct mk_options {
    enum mk_action action;
    bool daemon;
    bool is_json;                        /* MK_ACTION_TEST, MK_ACTION_EXPLAIN */
    bool is_changed;                     /* MK_ACTION_DUMP: without what is as by default */
    const char *section;                 /* MK_ACTION_DUMP: that one alone; NULL: all */
    struct mk_explain_question question; /* MK_ACTION_EXPLAIN */
    const char *question_fields[MK_EXPLAIN_FIELDS_MAX];
    const char *one_shot;          /* directory to serve without a configuration; NULL: none */
    const char *cert_dir;          /* MK_ACTION_MAKE_CERT: where to... */
    const char *const *cert_names; /* ...and for whom, terminated by NULL */
    struct mk_config_files files;  /* as given; mk_files_settle makes them absolute */
    const char *plugin_dir; /* beside an executable that was just built; NULL: the installed one */
    struct mk_override overrides[MK_OVERRIDES_MAX];
    size_t noverrides;
};

/** mk_options_parse answers so when the program is to go on; anything else is its exit code. */
enum { MK_OPTIONS_GO = -1 };

/**
 * Read the command line. Prints what --help and the like ask for, and the reason of a refusal.
 * @param options  zeroed by the caller
 * @return MK_OPTIONS_GO or the exit code.
 */
int mk_options_parse(struct mk_options *options, int argc, char **argv) MK_MUST_USE;

#endif
