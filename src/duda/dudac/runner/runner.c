/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include <monkey/ask.h>
#include <monkey/events.h>
#include <monkey/server.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

/*
 * The program of `dudac test`, compiled with the tests of a service:
 *
 *     tests list               a line "FILE:NAME" for each test
 *     tests run FOLDER NUMBER  one of them, from 0, with the configuration of a folder; exit code 0: passed, 1: failed,
 *                              2: the server does not start
 */

/* ---- what a test has made ---- */

struct kept {
    struct kept *next;
    struct duda_answer answer;
    char text[];
};

static struct {
    struct duda_test *first, **last;
    struct mk_server *server;
    struct kept *kept;
    int is_failed;
} runner = {.last = &runner.first};

static struct kept *keep(size_t size)
{
    struct kept *kept = calloc(1, sizeof(*kept) + size);

    if (!kept)
        abort();
    kept->next = runner.kept;
    runner.kept = kept;
    return kept;
}

static void free_kept(void)
{
    while (runner.kept) {
        struct kept *next = runner.kept->next;

        free(runner.kept);
        runner.kept = next;
    }
}

/* ---- for tests ---- */

void duda_test_add(struct duda_test *test)
{
    *runner.last = test;
    runner.last = &test->next;
}

void duda_test_fail(const char *file, int line, const char *condition)
{
    runner.is_failed = 1;
    printf("%s:%d: not so: %s\n", file, line, condition);
}

int duda_test_is_text(const char *file, int line, const char *actual, const char *expected)
{
    if (actual && expected ? strcmp(actual, expected) == 0 : actual == expected)
        return 1;
    runner.is_failed = 1;
    printf("%s:%d: \"%s\" instead of \"%s\"\n", file, line, actual ? actual : "(NULL)",
           expected ? expected : "(NULL)");
    return 0;
}

static struct mk_str str_of(const char *text)
{
    return (struct mk_str){text, text ? strlen(text) : 0};
}

static void copy(char *to, struct mk_str s)
{
    if (s.len > 0)
        memcpy(to, s.p, s.len);
    to[s.len] = '\0';
}

static const struct duda_answer *keep_answer(const struct mk_answer *from)
{
    struct kept *kept = keep(from->fields.len + from->body.len + 2);
    char *body = kept->text + from->fields.len + 1;

    copy(kept->text, from->fields);
    copy(body, from->body);
    kept->answer = (struct duda_answer){(int)from->status, kept->text, body, from->body.len};
    return &kept->answer;
}

const struct duda_answer *duda_test_ask(const char *method, const char *target, const char *fields,
                                        const char *body, size_t len)
{
    const struct mk_question question = {.size = sizeof(question),
                                         .method = str_of(method),
                                         .target = str_of(target),
                                         .fields = str_of(fields),
                                         .body = {body, body ? len : 0}};
    const struct mk_answer none = {.size = sizeof(none)};
    struct mk_answer *answer = NULL;
    int err = mk_server_ask_wait(runner.server, &question, &answer);
    const struct duda_answer *kept = keep_answer(answer ? answer : &none);

    if (err == 0 && answer)
        err = answer->error;
    if (err < 0) {
        runner.is_failed = 1;
        printf("%s %s: %s\n", method, target, mk_error_text(err));
    }
    mk_answer_free(answer);
    return kept;
}

const struct duda_answer *duda_test_ask_text(const char *method, const char *target,
                                             const char *fields, const char *text)
{
    return duda_test_ask(method, target, fields, text, text ? strlen(text) : 0);
}

const char *duda_test_field(const struct duda_answer *answer, const char *name)
{
    size_t len = strlen(name);

    for (const char *line = answer->fields, *end; (end = strstr(line, "\r\n")); line = end + 2) {
        const char *value = line + len + 1;
        char *text;

        if (strncasecmp(line, name, len) != 0 || line[len] != ':')
            continue;
        value += strspn(value, " \t");
        text = keep((size_t)(end - value) + 1)->text;
        copy(text, (struct mk_str){value, (size_t)(end - value)});
        return text;
    }
    return NULL;
}

/* ---- the program ---- */

static void print_fault(void *arg, const char *text, size_t len)
{
    (void)arg;
    (void)fwrite(text, 1, len, stdout);
}

static void print_line(void *arg, enum mk_log_level level, const char *component,
                       const char *message)
{
    (void)arg;
    if (level <= MK_LOG_WARN)
        printf("%s %s\n", component, message);
}

static const struct mk_host host = {.size = sizeof(host), .log = print_line};

/* There is no listening socket: nobody else can ask. */
static int start(const char *folder)
{
    const struct mk_config_files files = {.size = sizeof(files), .dir = folder};
    struct mk_config *config;
    int err;

    if (mk_config_new(&config, &host) < 0)
        return -1;
    if (mk_config_read(config, &files) < 0) {
        mk_config_free(config);
        return -1;
    }
    err = mk_server_new(&runner.server, config, &host);
    if (err > 0) { /* the configuration is still ours */
        mk_config_faults(config, print_fault, NULL);
        mk_config_free(config);
    }
    if (err != 0)
        return -1;
    if (mk_server_start(runner.server) == 0)
        return 0;
    printf("%s\n", mk_server_why(runner.server));
    mk_server_free(runner.server);
    return -1;
}

#ifdef __SANITIZE_ADDRESS__
/* What a worker holds is not lost, but the sanitizer does not look into mappings. */
static void look_into_mapping_of(const void *p)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    uintptr_t from, to;
    char line[512];

    while (maps && fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) == 2 && from <= (uintptr_t)p &&
            (uintptr_t)p < to)
            __lsan_register_root_region((const void *)from, to - from);
    }
    if (maps)
        (void)fclose(maps);
}

/* Before the server ends: values of global->init() have no function that frees them, and are lost with the worker's thread. */
static void check_leaks(void)
{
    look_into_mapping_of(mk_server_worker(runner.server, 0));
    __lsan_do_leak_check();
}
#else
static void check_leaks(void)
{
}
#endif

static int run(const char *folder, const struct duda_test *test)
{
    if (start(folder) < 0)
        return 2;
    test->function();
    free_kept();
    check_leaks();
    mk_server_free(runner.server);
    return runner.is_failed;
}

static int list(void)
{
    for (const struct duda_test *test = runner.first; test; test = test->next)
        printf("%s:%s\n", test->file, test->name);
    return 0;
}

static const struct duda_test *find(const char *number)
{
    const struct duda_test *test = runner.first;

    for (long n = strtol(number, NULL, 10); test && n > 0; n--)
        test = test->next;
    return test;
}

int main(int argc, char **argv)
{
    const struct duda_test *test = argc == 4 ? find(argv[3]) : NULL;

    (void)setvbuf(stdout, NULL, _IOLBF, 0); /* what came before a crash is seen */
    if (argc == 2)
        return list();
    return test ? run(argv[2], test) : 2;
}
