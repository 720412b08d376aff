/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include "http/accept.h"

static const struct {
    const char *sentence, *rfc, *accept, *coding;
    unsigned weight;
} rows[] = {
    {"absent: identity", "RFC 9110 12.5.3", NULL, "identity", 1},
    {"absent: nothing else", "RFC 9110 12.5.3", NULL, "gzip", 0},
    {"empty: identity", "RFC 9110 12.5.3", "", "identity", 1},
    {"empty: nothing else", "RFC 9110 12.5.3", "", "br", 0},
    {"what browsers send", "RFC 9110 12.5.3", "gzip, deflate, br, zstd", "br", 1000},
    {"what they do not name", "RFC 9110 12.5.3", "gzip, deflate", "br", 0},
    {"a weight", "RFC 9110 12.4.2", "gzip;q=0.5", "gzip", 500},
    {"three digits", "RFC 9110 12.4.2", "gzip;q=0.123", "gzip", 123},
    {"a weight of one", "RFC 9110 12.4.2", "gzip;q=1.000", "gzip", 1000},
    {"a dot without digits", "RFC 9110 12.4.2", "gzip;q=1.", "gzip", 1000},
    {"not acceptable", "RFC 9110 12.4.2", "gzip;q=0", "gzip", 0},
    {"not acceptable at length", "RFC 9110 12.4.2", "gzip;q=0.000", "gzip", 0},
    {"blanks around the weight", "RFC 9110 5.6.6", "gzip ; q=0.8 , br", "gzip", 800},
    {"a capital Q", "RFC 9110 5.6.6", "gzip;Q=0.8", "gzip", 800},
    {"names in any case", "RFC 9110 8.4.1", "GZip", "gzip", 1000},
    {"x-gzip is gzip", "RFC 9110 8.4.1.3", "x-gzip;q=0.3", "gzip", 300},
    {"x-gzip is not br", "RFC 9110 8.4.1.3", "x-gzip", "br", 0},
    {"anything", "RFC 9110 12.5.3", "*", "br", 1000},
    {"anything with a weight", "RFC 9110 12.5.3", "*;q=0.2", "br", 200},
    {"a name wins over anything", "RFC 9110 12.5.3", "*;q=0.2, br;q=0.7", "br", 700},
    {"a name wins over anything: refused", "RFC 9110 12.5.3", "*, br;q=0", "br", 0},
    {"identity although anything is named", "RFC 9110 12.5.3", "*", "identity", 1},
    {"identity not mentioned", "RFC 9110 12.5.3", "gzip", "identity", 1},
    {"identity mentioned", "RFC 9110 12.5.3", "gzip;q=0.5, identity", "identity", 1000},
    {"identity refused by name", "RFC 9110 12.5.3", "gzip, identity;q=0", "identity", 0},
    {"identity refused with the rest", "RFC 9110 12.5.3", "gzip, *;q=0", "identity", 0},
    {"identity named, the rest refused", "RFC 9110 12.5.3", "identity;q=0.1, *;q=0", "identity",
     100},
    {"a weight above one", "RFC 9110 12.4.2", "gzip;q=1.5", "gzip", 0},
    {"a weight of two", "RFC 9110 12.4.2", "gzip;q=2", "gzip", 0},
    {"four digits", "RFC 9110 12.4.2", "gzip;q=0.1234", "gzip", 0},
    {"a negative weight", "RFC 9110 12.4.2", "gzip;q=-1", "gzip", 0},
    {"letters for a weight", "RFC 9110 12.4.2", "gzip;q=a", "gzip", 0},
    {"a weight without digits", "RFC 9110 12.4.2", "gzip;q=", "gzip", 0},
    {"another parameter", "RFC 9110 12.5.3", "gzip;a=1", "gzip", 0},
    {"no parameter", "RFC 9110 12.5.3", "gzip;", "gzip", 0},
    {"a malformed member does not spoil the rest", "RFC 9110 12.5.3", "gzip;q=x, br", "br", 1000},
    {"a longer name", "RFC 9110 8.4.1", "gzippy", "gzip", 0},
    {"only commas", "RFC 9110 5.6.1.2", ",,,", "gzip", 0},
};

static void weighs(void **state)
{
    struct guard area = guard_open(4096);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned weight = mk_accept_encoding(guard_str(&area, mk_str_from(rows[i].accept)),
                                             mk_str_from(rows[i].coding));

        if (weight != rows[i].weight)
            fail_msg("%s (%s): gave %u", rows[i].sentence, rows[i].rfc, weight);
    }
    guard_close(&area);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(weighs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
