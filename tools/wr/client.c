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
    float unit; /* of times without a word for it, in us */
    const char *pattern;
};

struct tool {
    const char *name, *sign; /* what its output has, and that of those below not */
    bool is_open_loop;
    const struct row *rows;
};

static const struct row ab[] = {
    {CLIENT_REQUESTS, 1, "Complete requests: #"},
    {CLIENT_ERRORS, 1, "Failed requests: #"},
    {CLIENT_ERRORS, 1, "Write errors: #"},
    {CLIENT_ERRORS, 1, "Non-2xx responses: #"},
    {CLIENT_US, 1e6, "Time taken for tests: #"},
    {CLIENT_P50_US, 1e3, "50% #"},
    {CLIENT_P90_US, 1e3, "90% #"},
    {CLIENT_P99_US, 1e3, "99% #"},
    {CLIENT_MAX_US, 1e3, "100% #"},
    {0},
};

static const struct row siege[] = {
    {CLIENT_REQUESTS, 1, "Transactions: #"},
    {CLIENT_REQUESTS, 1, "\"transactions\": #"},
    {CLIENT_ERRORS, 1, "Failed transactions: #"},
    {CLIENT_ERRORS, 1, "\"failed_transactions\": #"},
    {CLIENT_US, 1e6, "Elapsed time: #"},
    {CLIENT_US, 1e6, "\"elapsed_time\": #"},
    {CLIENT_MAX_US, 1e6, "Longest transaction: #"},
    {CLIENT_MAX_US, 1e6, "\"longest_transaction\": #"},
    {0},
};

static const struct row wrk[] = {
    {CLIENT_REQUESTS, 1, "# requests in *"},
    {CLIENT_US, 1e6, "* requests in #"},
    {CLIENT_ERRORS, 1, "Socket errors: connect #"},
    {CLIENT_ERRORS, 1, "Socket errors: connect *, read #"},
    {CLIENT_ERRORS, 1, "Socket errors: connect *, read *, write #"},
    {CLIENT_ERRORS, 1, "Socket errors: connect *, read *, write *, timeout #"},
    {CLIENT_ERRORS, 1, "Non-2xx or 3xx responses: #"},
    {CLIENT_P50_US, 1, "50% #"},
    {CLIENT_P90_US, 1, "90% #"},
    {CLIENT_P99_US, 1, "99% #"},
    {CLIENT_P50_US, 1, "50.000% #"},
    {CLIENT_P90_US, 1, "90.000% #"},
    {CLIENT_P99_US, 1, "99.000% #"},
    {CLIENT_MAX_US, 1, "100.000% #"},
    {0},
};

static const struct row h2load[] = {
    {CLIENT_REQUESTS, 1, "requests: * total, * started, # done"},
    {CLIENT_ERRORS, 1, "requests: * total, * started, * done, * succeeded, # failed"},
    {CLIENT_US, 1e6, "finished in #"},
    {CLIENT_MAX_US, 1, "time for request: * #"},
    {0},
};

static const struct row weighttp[] = {
    {CLIENT_REQUESTS, 1, "requests: * total, * started, # done"},
    {CLIENT_ERRORS, 1, "requests: * total, * started, * done, * succeeded, # failed"},
    {CLIENT_ERRORS, 1, "requests: * total, * started, * done, * succeeded, * failed, # errored"},
    {CLIENT_US, 1e6, "finished in # sec"},
    {CLIENT_US, 1e3, "finished in * sec, # millisec"},
    {CLIENT_US, 1, "finished in * sec, * millisec and # microsec"},
    {0},
};

static const struct row hey[] = {
    {CLIENT_REQUESTS, 1, "[*] # responses"}, {CLIENT_ERRORS, 1, "[4*] # responses"},
    {CLIENT_ERRORS, 1, "[5*] # responses"},  {CLIENT_ERRORS, 1, "[#] Get"},
    {CLIENT_ERRORS, 1, "[#] Post"},          {CLIENT_US, 1e6, "Total: #"},
    {CLIENT_P50_US, 1e6, "50% in #"},        {CLIENT_P90_US, 1e6, "90% in #"},
    {CLIENT_P99_US, 1e6, "99% in #"},        {CLIENT_P50_US, 1e6, "50%% in #"},
    {CLIENT_P90_US, 1e6, "90%% in #"},       {CLIENT_P99_US, 1e6, "99%% in #"},
    {CLIENT_MAX_US, 1e6, "Slowest: #"},      {0},
};

static const struct row oha[] = {
    {CLIENT_REQUESTS, 1, "[*] # responses"},
    {CLIENT_ERRORS, 1, "[4*] # responses"},
    {CLIENT_ERRORS, 1, "[5*] # responses"},
    {GOOD_PERCENT, 1, "Success rate: #"},
    {CLIENT_US, 1e6, "Total: #"},
    {CLIENT_P50_US, 1e6, "50.00% in #"},
    {CLIENT_P90_US, 1e6, "90.00% in #"},
    {CLIENT_P99_US, 1e6, "99.00% in #"},
    {CLIENT_P50_US, 1e6, "50% in #"},
    {CLIENT_P90_US, 1e6, "90% in #"},
    {CLIENT_P99_US, 1e6, "99% in #"},
    {CLIENT_MAX_US, 1e6, "Slowest: #"},
    {0},
};

static const struct row vegeta[] = {
    {CLIENT_REQUESTS, 1, "Requests [total, rate, throughput] #"},
    {GOOD_PERCENT, 1, "Success [ratio] #"},
    {CLIENT_US, 1e6, "Duration [total, attack, wait] #"},
    {CLIENT_P50_US, 1e6, "Latencies [min, mean, 50, 90, 95, 99, max] *, *, #"},
    {CLIENT_P90_US, 1e6, "Latencies [min, mean, 50, 90, 95, 99, max] *, *, *, #"},
    {CLIENT_P99_US, 1e6, "Latencies [min, mean, 50, 90, 95, 99, max] *, *, *, *, *, #"},
    {CLIENT_MAX_US, 1e6, "Latencies [min, mean, 50, 90, 95, 99, max] *, *, *, *, *, *, #"},
    {0},
};

static const struct row k6[] = {
    {CLIENT_REQUESTS, 1, "http_reqs~: #"},
    {RATE, 1, "http_reqs~: * #"},
    {BAD_PERCENT, 1, "http_req_failed~: #"},
    {CLIENT_P50_US, 1e3, "http_req_duration~: avg=* min=* med=#"},
    {CLIENT_MAX_US, 1e3, "http_req_duration~: avg=* min=* med=* max=#"},
    {CLIENT_P90_US, 1e3, "http_req_duration~: avg=* min=* med=* max=* p(90)=#"},
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
