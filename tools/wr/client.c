/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* What rows say besides the fields of a result. */
enum { RATE = CLIENT_FIELD_COUNT, GOOD_PERCENT, BAD_PERCENT, SAID_COUNT };

/*
 * A row of a table: a line that begins like this. A blank stands for any number of blanks, ~ for dots, * for a number
 * with its unit, # for the number that is meant. Rows of one field are summed, but for latencies.
 */
struct row {
    int field;
    const char *pattern;
    double unit; /* of times without a word for it, in us */
};

struct tool {
    const char *name, *sign; /* what its output has, and that of those below not */
    bool is_open_loop;
    const struct row *rows;
};

static const struct row ab[] = {
    {CLIENT_REQUESTS, "Complete requests: #", 1},
    {CLIENT_ERRORS, "Failed requests: #", 1},
    {CLIENT_ERRORS, "Write errors: #", 1},
    {CLIENT_ERRORS, "Non-2xx responses: #", 1},
    {CLIENT_US, "Time taken for tests: #", 1e6},
    {CLIENT_P50_US, "50% #", 1e3},
    {CLIENT_P90_US, "90% #", 1e3},
    {CLIENT_P99_US, "99% #", 1e3},
    {CLIENT_MAX_US, "100% #", 1e3},
    {0},
};

static const struct row siege[] = {
    {CLIENT_REQUESTS, "Transactions: #", 1},
    {CLIENT_REQUESTS, "\"transactions\": #", 1},
    {CLIENT_ERRORS, "Failed transactions: #", 1},
    {CLIENT_ERRORS, "\"failed_transactions\": #", 1},
    {CLIENT_US, "Elapsed time: #", 1e6},
    {CLIENT_US, "\"elapsed_time\": #", 1e6},
    {CLIENT_MAX_US, "Longest transaction: #", 1e6},
    {CLIENT_MAX_US, "\"longest_transaction\": #", 1e6},
    {0},
};

static const struct row wrk[] = {
    {CLIENT_REQUESTS, "# requests in *", 1},
    {CLIENT_US, "* requests in #", 1e6},
    {CLIENT_ERRORS, "Socket errors: connect #", 1},
    {CLIENT_ERRORS, "Socket errors: connect *, read #", 1},
    {CLIENT_ERRORS, "Socket errors: connect *, read *, write #", 1},
    {CLIENT_ERRORS, "Socket errors: connect *, read *, write *, timeout #", 1},
    {CLIENT_ERRORS, "Non-2xx or 3xx responses: #", 1},
    {CLIENT_P50_US, "50% #", 1},
    {CLIENT_P90_US, "90% #", 1},
    {CLIENT_P99_US, "99% #", 1},
    {CLIENT_P50_US, "50.000% #", 1},
    {CLIENT_P90_US, "90.000% #", 1},
    {CLIENT_P99_US, "99.000% #", 1},
    {CLIENT_MAX_US, "100.000% #", 1},
    {0},
};

static const struct row h2load[] = {
    {CLIENT_REQUESTS, "requests: * total, * started, # done", 1},
    {CLIENT_ERRORS, "requests: * total, * started, * done, * succeeded, # failed", 1},
    {CLIENT_US, "finished in #", 1e6},
    {CLIENT_MAX_US, "time for request: * #", 1},
    {0},
};

static const struct row weighttp[] = {
    {CLIENT_REQUESTS, "requests: * total, * started, # done", 1},
    {CLIENT_ERRORS, "requests: * total, * started, * done, * succeeded, # failed", 1},
    {CLIENT_ERRORS, "requests: * total, * started, * done, * succeeded, * failed, # errored", 1},
    {CLIENT_US, "finished in # sec", 1e6},
    {CLIENT_US, "finished in * sec, # millisec", 1e3},
    {CLIENT_US, "finished in * sec, * millisec and # microsec", 1},
    {0},
};

static const struct row hey[] = {
    {CLIENT_REQUESTS, "[*] # responses", 1}, {CLIENT_ERRORS, "[4*] # responses", 1},
    {CLIENT_ERRORS, "[5*] # responses", 1},  {CLIENT_ERRORS, "[#] Get", 1},
    {CLIENT_ERRORS, "[#] Post", 1},          {CLIENT_US, "Total: #", 1e6},
    {CLIENT_P50_US, "50% in #", 1e6},        {CLIENT_P90_US, "90% in #", 1e6},
    {CLIENT_P99_US, "99% in #", 1e6},        {CLIENT_P50_US, "50%% in #", 1e6},
    {CLIENT_P90_US, "90%% in #", 1e6},       {CLIENT_P99_US, "99%% in #", 1e6},
    {CLIENT_MAX_US, "Slowest: #", 1e6},      {0},
};

static const struct row oha[] = {
    {CLIENT_REQUESTS, "[*] # responses", 1},
    {CLIENT_ERRORS, "[4*] # responses", 1},
    {CLIENT_ERRORS, "[5*] # responses", 1},
    {GOOD_PERCENT, "Success rate: #", 1},
    {CLIENT_US, "Total: #", 1e6},
    {CLIENT_P50_US, "50.00% in #", 1e6},
    {CLIENT_P90_US, "90.00% in #", 1e6},
    {CLIENT_P99_US, "99.00% in #", 1e6},
    {CLIENT_P50_US, "50% in #", 1e6},
    {CLIENT_P90_US, "90% in #", 1e6},
    {CLIENT_P99_US, "99% in #", 1e6},
    {CLIENT_MAX_US, "Slowest: #", 1e6},
    {0},
};

static const struct row vegeta[] = {
    {CLIENT_REQUESTS, "Requests [total, rate, throughput] #", 1},
    {GOOD_PERCENT, "Success [ratio] #", 1},
    {CLIENT_US, "Duration [total, attack, wait] #", 1e6},
    {CLIENT_P50_US, "Latencies [min, mean, 50, 90, 95, 99, max] *, *, #", 1e6},
    {CLIENT_P90_US, "Latencies [min, mean, 50, 90, 95, 99, max] *, *, *, #", 1e6},
    {CLIENT_P99_US, "Latencies [min, mean, 50, 90, 95, 99, max] *, *, *, *, *, #", 1e6},
    {CLIENT_MAX_US, "Latencies [min, mean, 50, 90, 95, 99, max] *, *, *, *, *, *, #", 1e6},
    {0},
};

static const struct row k6[] = {
    {CLIENT_REQUESTS, "http_reqs~: #", 1},
    {RATE, "http_reqs~: * #", 1},
    {BAD_PERCENT, "http_req_failed~: #", 1},
    {CLIENT_P50_US, "http_req_duration~: avg=* min=* med=#", 1e3},
    {CLIENT_MAX_US, "http_req_duration~: avg=* min=* med=* max=#", 1e3},
    {CLIENT_P90_US, "http_req_duration~: avg=* min=* med=* max=* p(90)=#", 1e3},
    {0},
};

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
            (word != *at && isalpha((unsigned char)*end)))
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

static bool match(const char *line, const struct row *row, double *value)
{
    while (is_blank(*line) || *line == '{')
        line++;
    for (const char *p = row->pattern; *p; p++)
        if (!match_one(*p, &line, row->unit, value))
            return false;
    return true;
}

/* ---- all of it ---- */

static bool is_latency(int field)
{
    return field >= CLIENT_P50_US && field <= CLIENT_MAX_US;
}

static void take_line(const char *line, const struct row *rows, double *said)
{
    double value;

    for (const struct row *row = rows; row->pattern; row++) {
        if (!match(line, row, &value))
            continue;
        if (isnan(said[row->field]) || is_latency(row->field))
            said[row->field] = value;
        else
            said[row->field] += value;
    }
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
        said[CLIENT_ERRORS] = fmax(isnan(said[CLIENT_ERRORS]) ? 0 : said[CLIENT_ERRORS],
                                   round(said[CLIENT_REQUESTS] * bad / 100));
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
