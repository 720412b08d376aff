/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "answer.h"
#include "client.h"
#include "options.h"
#include "parse.h"
#include "proc.h"

#include <math.h>

/*
 * All that wr reads from others: what a load generator says, what a server answers, files of /proc, where processes
 * choose their names, options, and results of before. The first byte chooses.
 */

static void check_client(const char *text)
{
    struct client_result r;

    if (!client_parse(text, &r))
        return;
    require(r.tool != NULL && r.values[CLIENT_REQUESTS] >= 0 && r.values[CLIENT_ERRORS] >= 0);
    for (int i = 0; i < CLIENT_FIELD_COUNT; i++)
        require(isnan(r.values[i]) || r.values[i] >= 0);
}

static void check_proc(const char *text)
{
    struct proc_stat s;
    struct proc_machine m;
    struct proc_listener l;
    uint64_t a, b;

    if (proc_parse_stat(text, &s))
        require(strlen(s.name) < sizeof(s.name));
    (void)proc_parse_schedstat(text, &a, &b);
    (void)proc_parse_machine(text, &m);
    if (proc_parse_listener(text, &l))
        require(l.port <= UINT16_MAX);
    (void)proc_find(text, "VmHWM:", &a);
    (void)proc_find_column(text, "TcpExt:", "ListenOverflows", &a);
    (void)proc_is_in_unit(text, "nginx.service");
    for (int pid; (pid = proc_next_pid(&text)) != 0;)
        require(pid > 0);
}

static void check_options(char *text)
{
    static int steps[STEPS_MAX];
    size_t count = options_steps(text, steps);
    char *words[] = {text, NULL};
    struct place p;
    uint32_t ms;

    require(count <= STEPS_MAX);
    for (size_t i = 0; i < count; i++)
        require(steps[i] > 0);
    if (options_time(text, &ms))
        require(ms <= INT32_MAX);
    if (place_of_words(words, &p))
        require(p.host[0] != '\0' && p.port[0] != '\0' && p.path[0] == '/');
}

static void check_result(char *text)
{
    struct result r;

    if (!result_parse(text, &r))
        for (size_t i = 0; i < r.runs.count; i++)
            require(r.runs.items[i].target != NULL && r.runs.items[i].concurrency >= 0);
    runs_fini(&r.runs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned which = take_byte(&data, &size) % 5;
    char *text = malloc(size + 1);
    int status;

    require(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (which == 0)
        check_client(text);
    else if (which == 1)
        check_proc(text);
    else if (which == 2)
        check_options(text);
    else if (which == 4)
        check_result(text);
    else {
        char server[64];

        status = answer_status(text, size);
        answer_server(text, server, sizeof(server));
        require(status == 0 || (status >= 100 && status <= 599));
    }
    free(text);
    return 0;
}
