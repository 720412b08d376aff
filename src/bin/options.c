/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include "paths.h"
#include "report.h"

#include <getopt.h>
#include <stdlib.h>

enum kind {
    FILE_NAME, /* a member of struct mk_config_files */
    SETTING,   /* overrides key by what was given */
    FIXED,     /* overrides key by what is here the argument */
    PATH_SETTING,
    ONE_SHOT,
    DAEMON,
    TEST,
    JSON,
    DUMP,
    CHANGED,
    EXPLAIN,
    METHOD, /* of what is explained, as those that follow */
    FIELD,
    FROM,
    MAKE_CERT,
    BUILD,
    VERSION,
    HELP,
};

struct row {
    char letter; /* 0: long form only */
    unsigned char kind, offset;
    const char *name, *argument, *key, *help;
};

#define FILE_AT(member) .kind = FILE_NAME, .offset = offsetof(struct mk_config_files, member)
#define SETS(name) .kind = SETTING, .key = (name)

/* clang-format off */
static const struct row rows[] = {
    {'c', .name = "configdir", .argument = "DIR", FILE_AT(dir), .help = "configuration directory"},
    {'s', .name = "serverconf", .argument = "FILE", FILE_AT(server), .help = "in place of monkey.conf"},
    {'S', .name = "sites-conf-dir", .argument = "DIR", FILE_AT(sites), .help = "in place of sites/"},
    {'P', .name = "plugins-conf-dir", .argument = "DIR", FILE_AT(plugins), .help = "in place of plugins/"},
    {'l', .name = "plugin-load-conf-file", .argument = "FILE", FILE_AT(load), .help = "in place of plugins.load"},
    {'m', .name = "mimes-conf-file", .argument = "FILE", FILE_AT(mimes), .help = "in place of monkey.mime"},
    {'o', .name = "one-shot", .argument = "DIR", .kind = ONE_SHOT, .help = "serve one directory, no configuration needed"},
    {'p', .name = "port", .argument = "PORT", SETS("Listen"), .help = "listen on this port instead; repeatable"},
    {'w', .name = "workers", .argument = "N", SETS("Workers"), .help = "number of worker threads; 0: one for each CPU"},
    {'I', .name = "pid-file", .argument = "FILE", .kind = PATH_SETTING, .key = "PidFile", .help = "write the process id to this file"},
    {'u', .name = "user", .argument = "NAME", SETS("User"), .help = "become this user when started as root"},
    {0, .name = "transport", .argument = "NAME", SETS("TransportLayer"), .help = "transport of all addresses"},
    {'B', .name = "balancing-mode", .kind = FIXED, .key = "Scheduler", .argument = "Fair", .help = "force the Fair scheduler"},
    {'T', .name = "allow-shared-sockets", .kind = FIXED, .key = "SharedSockets", .argument = "on", .help = "start even if another process listens on the port"},
    {'D', .name = "daemon", .kind = DAEMON, .help = "run in the background"},
    {'t', .name = "test", .kind = TEST, .help = "check the configuration and exit"},
    {0, .name = "json", .kind = JSON, .help = "with --test and --explain: print the result as JSON"},
    {0, .name = "dump", .kind = DUMP, .help = "print the effective settings, or those of a SECTION that follows, and exit"},
    {0, .name = "changed", .kind = CHANGED, .help = "with --dump: only settings that are not as by default"},
    {0, .name = "explain", .argument = "URL", .kind = EXPLAIN, .help = "print who would answer a request, and why, and exit"},
    {'X', .name = "method", .argument = "METHOD", .kind = METHOD, .help = "method of the request to explain"},
    {'H', .name = "header", .argument = "FIELD", .kind = FIELD, .help = "field of it, such as \"Accept: text/html\"; repeatable"},
    {0, .name = "from", .argument = "ADDRESS", .kind = FROM, .help = "IP address of its client"},
    {0, .name = "json", .kind = JSON, .help = "explain in JSON"},
    {0, .name = "make-cert", .argument = "DIR", .kind = MAKE_CERT, .help = "make a self-signed certificate for the names that follow"},
    {'b', .name = "build", .kind = BUILD, .help = "print facts of the build"},
    {'v', .name = "version", .kind = VERSION, .help = "print the version"},
    {'h', .name = "help", .kind = HELP, .help = "print this"},
};
/* clang-format on */

enum { NROWS = sizeof(rows) / sizeof(rows[0]), LONG_ONLY = 256, HELP_COLUMN = 38 };

static bool takes_argument(const struct row *row)
{
    return row->argument && row->kind != FIXED;
}

static int print_build(void)
{
    char *dir = mk_path_default_config();

    if (!dir)
        return 1;
    (void)mk_print("%sconf     %s\n", mk_build_facts(), dir);
    free(dir);
    return 0;
}

static int print_help(void)
{
    (void)mk_print("Usage: monkey [OPTION]...\n\n");
    for (const struct row *row = rows; row < rows + NROWS; row++) {
        int used = row->letter ? mk_print("  -%c, ", row->letter) : mk_print("      ");

        used += mk_print("--%s %s", row->name, takes_argument(row) ? row->argument : "");
        (void)mk_print("%*s%s\n", used < HELP_COLUMN ? HELP_COLUMN - used : 1, "", row->help);
    }
    (void)mk_print(
        "\nSignals: TERM and INT stop it, a second one at once; HUP reloads; USR1 reopens logs.\n");
    return 0;
}

/* getopt's two forms of the table. */
static void make_forms(struct option *longs, char *shorts)
{
    *shorts++ = ':'; /* tell a missing argument from an unknown option */
    for (int i = 0; i < NROWS; i++) {
        bool takes = takes_argument(&rows[i]);

        longs[i] = (struct option){rows[i].name, takes ? required_argument : no_argument, NULL,
                                   LONG_ONLY + i};
        if (!rows[i].letter)
            continue;
        *shorts++ = rows[i].letter;
        if (takes)
            *shorts++ = ':';
    }
    longs[NROWS] = (struct option){0};
    *shorts = '\0';
}

static const struct row *find_row(int code)
{
    if (code >= LONG_ONLY)
        return &rows[code - LONG_ONLY];
    for (const struct row *row = rows; row < rows + NROWS; row++) {
        if (row->letter == code)
            return row;
    }
    return NULL;
}

/* @return the exit code of a misused option. */
static int refuse(const struct mk_options *options, int code, int argc, char **argv)
{
    /* musl steps past the end when a value is missing. */
    const char *word = argv[optind <= argc ? optind - 1 : argc - 1];

    if (code == ':')
        mk_report("option %s needs a value; see monkey --help", word);
    else if (optopt > 0 && optopt < LONG_ONLY)
        mk_report("unknown option -%c; see monkey --help", optopt);
    else
        mk_report("option %s is not understood; see monkey --help", word);
    return options->action == MK_ACTION_EXPLAIN || strcmp(word, "--explain") == 0
               ? MK_EXPLAIN_MISUSED
               : 1;
}

static int add_override(struct mk_options *options, const char *key, const char *value)
{
    if (options->noverrides == MK_OVERRIDES_MAX) {
        mk_report("more than %d settings on the command line", MK_OVERRIDES_MAX);
        return 1;
    }
    if (!value) {
        mk_report("out of memory");
        return 1;
    }
    options->overrides[options->noverrides++] = (struct mk_override){key, value};
    return MK_OPTIONS_GO;
}

static int set_file(struct mk_config_files *files, const struct row *row, const char *value)
{
    memcpy((char *)files + row->offset, &value, sizeof(value));
    return MK_OPTIONS_GO;
}

static int add_field(struct mk_options *options, const char *field)
{
    struct mk_explain_question *q = &options->question;

    if (q->nfields == MK_EXPLAIN_FIELDS_MAX) {
        mk_report("more than %d fields on the command line", MK_EXPLAIN_FIELDS_MAX);
        return MK_EXPLAIN_MISUSED;
    }
    options->question_fields[q->nfields++] = field;
    return MK_OPTIONS_GO;
}

/* What the options of one question say; which of them were given shows in its members. */
static int apply_question(struct mk_options *options, const struct row *row, const char *given)
{
    struct mk_explain_question *q = &options->question;

    switch ((enum kind)row->kind) {
    case EXPLAIN:
        options->action = MK_ACTION_EXPLAIN;
        q->url = given;
        break;
    case METHOD:
        q->method = given;
        break;
    case FIELD:
        return add_field(options, given);
    default: /* FROM */
        q->from = given;
    }
    return MK_OPTIONS_GO;
}

static bool has_question(const struct mk_explain_question *q)
{
    return q->method || q->from || q->nfields > 0;
}

static int apply(struct mk_options *options, const struct row *row, const char *given)
{
    switch ((enum kind)row->kind) {
    case FILE_NAME:
        return set_file(&options->files, row, given);
    case SETTING:
        return add_override(options, row->key, given);
    case FIXED:
        return add_override(options, row->key, row->argument);
    case PATH_SETTING:
        return add_override(options, row->key, mk_path_absolute(given));
    case ONE_SHOT:
        options->one_shot = mk_path_absolute(given);
        return options->one_shot ? MK_OPTIONS_GO : 1;
    case DAEMON:
        options->daemon = true;
        return MK_OPTIONS_GO;
    case TEST:
        options->action = MK_ACTION_TEST;
        return MK_OPTIONS_GO;
    case JSON:
        options->is_json = true;
        return MK_OPTIONS_GO;
    case DUMP:
        options->action = MK_ACTION_DUMP;
        return MK_OPTIONS_GO;
    case CHANGED:
        options->is_changed = true;
        return MK_OPTIONS_GO;
    case EXPLAIN:
    case METHOD:
    case FIELD:
    case FROM:
        return apply_question(options, row, given);
    case MAKE_CERT:
        options->action = MK_ACTION_MAKE_CERT;
        options->cert_dir = given;
        return MK_OPTIONS_GO;
    case BUILD:
        return print_build();
    case VERSION:
        (void)mk_print("monkey %s\n", mk_version());
        return 0;
    case HELP:
        return print_help();
    }
    return 1;
}

/* An option that says more about another one is alone. */
static const char *alone(const struct mk_options *options)
{
    if (options->is_json && options->action != MK_ACTION_TEST &&
        options->action != MK_ACTION_EXPLAIN)
        return "--json needs --test or --explain";
    if (options->is_changed && options->action != MK_ACTION_DUMP)
        return "--changed needs --dump";
    return NULL;
}

int mk_options_parse(struct mk_options *options, int argc, char **argv)
{
    struct option longs[NROWS + 1];
    char shorts[2 * NROWS + 2];
    int code, result;

    make_forms(longs, shorts);
    options->question.size = sizeof(options->question);
    options->question.fields = options->question_fields;
    opterr = 0;
    while ((code = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        const struct row *row = find_row(code);

        if (!row)
            return refuse(options, code, argc, argv);
        result = apply(options, row, optarg);
        if (result != MK_OPTIONS_GO)
            return result;
    }
    if (alone(options)) {
        mk_report("option %s; see monkey --help", alone(options));
        return 1;
    }
    if (options->action == MK_ACTION_DUMP && optind < argc)
        options->section = argv[optind++];
    if (options->action == MK_ACTION_MAKE_CERT) {
        options->cert_names = (const char *const *)argv + optind;
    } else if (optind < argc) {
        mk_report("\"%s\" is not an option; see monkey --help", argv[optind]);
        return options->action == MK_ACTION_EXPLAIN ? MK_EXPLAIN_MISUSED : 1;
    }
    if (options->action != MK_ACTION_EXPLAIN && has_question(&options->question)) {
        mk_report("-X, -H and --from are for --explain; see monkey --help");
        return MK_EXPLAIN_MISUSED;
    }
    return MK_OPTIONS_GO;
}
