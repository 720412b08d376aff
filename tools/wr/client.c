/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include "number.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* What rows say besides the fields of a result. */
enum { RATE = CLIENT_FIELD_COUNT, GOOD_PERCENT, BAD_PERCENT, SAID_COUNT };

/*
 * Rows of a tool, a line each: the letter of a field, the power of ten in us of times without a word for their unit, a
 * blank, and how a line of the output begins. There a blank stands for any number of blanks, ~ for dots, * for a number
 * with its unit, # for the number that is meant. Rows of one field are summed, but for latencies.
 * One text has no pointers that are to be relocated.
 */
static const char letters[SAID_COUNT + 1] = {
    [CLIENT_REQUESTS] = 'r', [CLIENT_ERRORS] = 'e', [CLIENT_US] = 't',     [CLIENT_P50_US] = '5',
    [CLIENT_P90_US] = '9',   [CLIENT_P99_US] = 'c', [CLIENT_MAX_US] = 'm', [RATE] = 'R',
    [GOOD_PERCENT] = 'G',    [BAD_PERCENT] = 'B',
};

struct tool {
    const char *name, *sign; /* what its output has, and that of those below not */
    bool is_open_loop;
    const char *rows;
};

static const char ab[] = "r0 Complete requests: #\n"
                         "e0 Failed requests: #\n"
                         "e0 Write errors: #\n"
                         "e0 Non-2xx responses: #\n"
                         "t6 Time taken for tests: #\n"
                         "53 50% #\n"
                         "93 90% #\n"
                         "c3 99% #\n"
                         "m3 100% #\n";

static const char siege[] = "r0 Transactions: #\n"
                            "r0 \"transactions\": #\n"
                            "e0 Failed transactions: #\n"
                            "e0 \"failed_transactions\": #\n"
                            "t6 Elapsed time: #\n"
                            "t6 \"elapsed_time\": #\n"
                            "m6 Longest transaction: #\n"
                            "m6 \"longest_transaction\": #\n";

static const char wrk[] = "r0 # requests in *\n"
                          "t6 * requests in #\n"
                          "e0 Socket errors: connect #\n"
                          "e0 Socket errors: connect *, read #\n"
                          "e0 Socket errors: connect *, read *, write #\n"
                          "e0 Socket errors: connect *, read *, write *, timeout #\n"
                          "e0 Non-2xx or 3xx responses: #\n"
                          "50 50% #\n"
                          "90 90% #\n"
                          "c0 99% #\n"
                          "50 50.000% #\n"
                          "90 90.000% #\n"
                          "c0 99.000% #\n"
                          "m0 100.000% #\n";

static const char h2load[] = "r0 requests: * total, * started, # done\n"
                             "e0 requests: * total, * started, * done, * succeeded, # failed\n"
                             "t6 finished in #\n"
                             "m0 time for request: * #\n";

static const char weighttp[] =
    "r0 requests: * total, * started, # done\n"
    "e0 requests: * total, * started, * done, * succeeded, # failed\n"
    "e0 requests: * total, * started, * done, * succeeded, * failed, # errored\n"
    "t6 finished in # sec\n"
    "t3 finished in * sec, # millisec\n"
    "t0 finished in * sec, * millisec and # microsec\n";

static const char hey[] = "r0 [*] # responses\n"
                          "e0 [4*] # responses\n"
                          "e0 [5*] # responses\n"
                          "e0 [#] Get\n"
                          "e0 [#] Post\n"
                          "t6 Total: #\n"
                          "56 50% in #\n"
                          "96 90% in #\n"
                          "c6 99% in #\n"
                          "56 50%% in #\n"
                          "96 90%% in #\n"
                          "c6 99%% in #\n"
                          "m6 Slowest: #\n";

static const char oha[] = "r0 [*] # responses\n"
                          "e0 [4*] # responses\n"
                          "e0 [5*] # responses\n"
                          "G0 Success rate: #\n"
                          "t6 Total: #\n"
                          "56 50.00% in #\n"
                          "96 90.00% in #\n"
                          "c6 99.00% in #\n"
                          "56 50% in #\n"
                          "96 90% in #\n"
                          "c6 99% in #\n"
                          "m6 Slowest: #\n";

static const char vegeta[] = "r0 Requests [total, rate, throughput] #\n"
                             "G0 Success [ratio] #\n"
                             "t6 Duration [total, attack, wait] #\n"
                             "56 Latencies [min, mean, 50, 90, 95, 99, max] *, *, #\n"
                             "96 Latencies [min, mean, 50, 90, 95, 99, max] *, *, *, #\n"
                             "c6 Latencies [min, mean, 50, 90, 95, 99, max] *, *, *, *, *, #\n"
                             "m6 Latencies [min, mean, 50, 90, 95, 99, max] *, *, *, *, *, *, #\n";

static const char k6[] = "r0 http_reqs~: #\n"
                         "R0 http_reqs~: * #\n"
                         "B0 http_req_failed~: #\n"
                         "53 http_req_duration~: avg=* min=* med=#\n"
                         "m3 http_req_duration~: avg=* min=* med=* max=#\n"
                         "93 http_req_duration~: avg=* min=* med=* max=* p(90)=#\n";

static const struct tool tools[] = {
    {"ab", "This is ApacheBench", false, ab},
    {"wrk2", "HdrHistogram - Recorded Latency", true, wrk},
    {"wrk", " threads and ", false, wrk},
    {"h2load", "time for request:", false, h2load},
    {"weighttp", " microsec, ", false, weighttp},
    {"vegeta", "[total, rate, throughput]", true, vegeta},
    {"oha", "Success rate:", false, oha},
    {"hey", "Response time histogram:", false, hey},
    {"k6", "http_req_duration", false, k6},
    {"siege", "ransactions\":", false, siege},
    {"siege", "Transactions:", false, siege},
};

/* ---- one line ---- */

static bool is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* A blank may stand before the word for a unit, but not before another word that begins like it. */
static double unit_of(const char **at, double otherwise)
{
    static const struct {
        const char *word;
        double us;
    } units[] = {{"us", 1},  {"\xc2\xb5s", 1}, {"ns", 1e-3}, {"ms", 1e3},
                 {"s", 1e6}, {"m", 60e6},      {"h", 3600e6}};
    const char *word = *at + (**at == ' ');

    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        const char *end = word + strlen(units[i].word);

        if (strncmp(word, units[i].word, (size_t)(end - word)) != 0 ||
            (word != *at && is_letter(*end)))
            continue;
        *at = end;
        return units[i].us;
    }
    return otherwise;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number with its unit; Go writes several of them together, as in 1m2.5s. */
static bool take_value(const char **at, double unit, double *value)
{
    *value = 0;
    if (!is_digit(**at))
        return false;
    for (int parts = 0; parts < 3 && is_digit(**at); parts++) {
        double number = 0, place = 1;

        for (; is_digit(**at); (*at)++)
            number = number * 10 + (**at - '0');
        if (**at == '.')
            for ((*at)++; is_digit(**at); (*at)++)
                number += (**at - '0') * (place /= 10);
        *value += number * unit_of(at, unit);
    }
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* One sign of a pattern. */
static bool match_one(char sign, const char **line, double unit, double *value)
{
    double skipped;

    if (sign == '#')
        return take_value(line, unit, value);
    if (sign == '*')
        return take_value(line, 1, &skipped);
    if (sign == ' ' || sign == '~') {
        while (sign == ' ' ? is_blank(**line) : **line == '.')
            (*line)++;
        return true;
    }
    return *(*line)++ == sign;
}

/* @param pattern  ends at the end of its line */
static bool match(const char *line, const char *pattern, double unit, double *value)
{
    while (is_blank(*line) || *line == '{')
        line++;
    for (; *pattern != '\n'; pattern++)
        if (!match_one(*pattern, &line, unit, value))
            return false;
    return true;
}

/* ---- all of it ---- */

static bool is_latency(int field)
{
    return field >= CLIENT_P50_US && field <= CLIENT_MAX_US;
}

static void take_row(const char *line, const char *row, double *said)
{
    static const double units[] = {['0' - '0'] = 1, ['3' - '0'] = 1e3, ['6' - '0'] = 1e6};
    int field = (int)(strchr(letters, row[0]) - letters);
    double value = 0;

    if (!match(line, row + 3, units[row[1] - '0'], &value))
        return;
    if (isnan(said[field]) || is_latency(field))
        said[field] = value;
    else
        said[field] += value;
}

static void take_line(const char *line, const char *rows, double *said)
{
    for (; *rows; rows = strchr(rows, '\n') + 1)
        take_row(line, rows, said);
}

static const struct tool *tool_of(const char *text)
{
    for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++)
        if (strstr(text, tools[i].sign))
            return &tools[i];
    return NULL;
}

/* What a tool says in another way. */
static void derive(double *said)
{
    double bad = isnan(said[GOOD_PERCENT]) ? said[BAD_PERCENT] : 100 - said[GOOD_PERCENT];

    if (isnan(said[CLIENT_US]) && said[RATE] > 0)
        said[CLIENT_US] = said[CLIENT_REQUESTS] / said[RATE] * 1e6;
    if (!isnan(bad) && bad >= 0)
        said[CLIENT_ERRORS] = number_larger(isnan(said[CLIENT_ERRORS]) ? 0 : said[CLIENT_ERRORS],
                                            number_whole(said[CLIENT_REQUESTS] * bad / 100 + 0.5));
    if (isnan(said[CLIENT_ERRORS]))
        said[CLIENT_ERRORS] = 0;
}

bool client_parse(const char *text, struct client_result *r)
{
    const struct tool *tool = tool_of(text);
    double said[SAID_COUNT];

    if (!tool)
        return false;
    for (int i = 0; i < SAID_COUNT; i++)
        said[i] = NAN;
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        take_line(line, tool->rows, said);
    if (isnan(said[CLIENT_REQUESTS]))
        return false;
    derive(said);
    r->tool = tool->name;
    r->is_open_loop = tool->is_open_loop;
    memcpy(r->values, said, sizeof(r->values));
    return true;
}

int client_parse_by(const char *expression, const char *text, struct client_result *r)
{
    regex_t compiled;
    regmatch_t groups[2];
    double sum = NAN;

    if (regcomp(&compiled, expression, REG_EXTENDED | REG_NEWLINE) != 0)
        return -2;
    while (compiled.re_nsub > 0 && regexec(&compiled, text, 2, groups, 0) == 0 &&
           groups[0].rm_eo > 0) {
        const char *at = text + groups[1].rm_so;
        double value;

        if (groups[1].rm_so >= 0 && take_value(&at, 1, &value))
            sum = isnan(sum) ? value : sum + value;
        text += groups[0].rm_eo;
    }
    regfree(&compiled);
    *r = (struct client_result){.tool = "other"};
    for (int i = 0; i < CLIENT_FIELD_COUNT; i++)
        r->values[i] = NAN;
    r->values[CLIENT_REQUESTS] = sum;
    return isnan(sum) ? -1 : 0;
}
