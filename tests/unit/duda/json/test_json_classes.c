/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "json/tree.h"

#include <stdlib.h>
#include <string.h>

/*
 * The classes of texts that parsers of JSON are told apart by: what RFC 8259 wants accepted, what it wants refused, and what it
 * leaves to an implementation, for which the row says what ours does. Each text is also cut at each byte.
 */

static void *zeroed(const size_t size)
{
    return calloc(1, size);
}

static void *plain(const size_t size)
{
    return malloc(size);
}

static const struct duda_api_mem memory = {plain, zeroed, realloc, free};

static int prepare(void **state)
{
    (void)state;
    json_memory = &memory;
    return 0;
}

struct row {
    const char *what, *text;
    size_t len;
    const char *printed; /* NULL: refused */
};

#define TEXT(text) (text), sizeof(text) - 1
#define SAME(text) (text), sizeof(text) - 1, (text)

static const struct row accepted[] = {
    {"array with spaces inside", TEXT("[ [ ]  ]"), "[[]]"},
    {"array of an empty string", SAME("[\"\"]")},
    {"array, empty", SAME("[]")},
    {"array that ends with a new line", TEXT("[\"z\"\n]"), "[\"z\"]"},
    {"array of a false", SAME("[false]")},
    {"array of all types", TEXT("[null, 7, \"7\", {}, [], true]"), "[null,7,\"7\",{},[],true]"},
    {"array of a null", SAME("[null]")},
    {"array with a new line and a number", TEXT("[8\n]"), "[8]"},
    {"array with a leading space", TEXT(" [9]"), "[9]"},
    {"array of several nulls", SAME("[3,null,null,null,4]")},
    {"array with a trailing space", TEXT("[5] "), "[5]"},
    {"number with an exponent", TEXT("[321e65]"), "[3.21e67]"},
    {"number zero with a positive exponent", TEXT("[0e+2]"), "[0]"},
    {"number zero with an exponent", TEXT("[0e2]"), "[0]"},
    {"number after a space", TEXT("[ 6]"), "[6]"},
    {"number close to zero, many places",
     TEXT("[-0.000000000000000000000000000000000000000000000000000000000000000000000000000000002]"),
     "[-2e-81]"},
    {"number, integer with an exponent", TEXT("[30e1]"), "[300]"},
    {"number, minus zero", TEXT("[-0]"), "[-0]"},
    {"number, negative integer", SAME("[-321]")},
    {"number, negative one", SAME("[-1]")},
    {"number, capital E", TEXT("[2E11]"), "[200000000000]"},
    {"number, capital E, negative exponent", TEXT("[2E-2]"), "[0.02]"},
    {"number, capital E, positive exponent", TEXT("[2E+2]"), "[200]"},
    {"number, fraction with an exponent", TEXT("[321.654e7]"), "[3216540000]"},
    {"number, negative exponent", TEXT("[2e-3]"), "[0.002]"},
    {"number, positive exponent", TEXT("[2e+3]"), "[2000]"},
    {"number, integer", SAME("[321]")},
    {"number, fraction", SAME("[321.654321]")},
    {"number, fraction of zeros", TEXT("[4.000]"), "[4]"},
    {"object, simple", TEXT("{\"k\":\"v\", \"l\":\"w\"}"), "{\"k\":\"v\",\"l\":\"w\"}"},
    {"object of one member", SAME("{\"k\":\"v\"}")},
    {"object with a key twice", SAME("{\"k\":\"v\",\"k\":\"w\"}")},
    {"object with a member twice", SAME("{\"k\":\"v\",\"k\":\"v\"}")},
    {"object, empty", SAME("{}")},
    {"object with an empty key", SAME("{\"\":3}")},
    {"object with numbers at the ends of a double",
     TEXT("{ \"low\": -2.0e+28, \"high\": 2.0e+28 }"), "{\"low\":-2e28,\"high\":2e28}"},
    {"object with long strings",
     SAME("{\"list\":[{\"name\":\"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\"}],"
          "\"name\":\"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\"}")},
    {"object whose key is escaped", TEXT("{\"\\u043a\\u043b\\u044e\\u0447\":1}"),
     "{\"\xd0\xba\xd0\xbb\xd1\x8e\xd1\x87\":1}"},
    {"object with new lines", TEXT("{\n\"k\": \"v\"\n}"), "{\"k\":\"v\"}"},
    {"string of escaped letters of two and three bytes", TEXT("[\"\\u00e6\\u0142\\u20ac\"]"),
     "[\"\xc3\xa6\xc5\x82\xe2\x82\xac\"]"},
    {"string with surrogate pairs", TEXT("[\"\\uD83d\\ude39\\ud83D\\uDC8d\"]"),
     "[\"\xf0\x9f\x98\xb9\xf0\x9f\x92\x8d\"]"},
    {"string with one surrogate pair", TEXT("[\"\\ud801\\udc01\"]"), "[\"\xf0\x90\x90\x81\"]"},
    {"string with all short escapes", TEXT("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]"),
     "[\"\\\"\\\\/\\u0008\\u000c\\u000a\\u000d\\u0009\"]"},
    {"string of a backslash and what looks like a unit", TEXT("[\"\\\\u0062\"]"),
     "[\"\\\\u0062\"]"},
    {"string of an escaped backslash", TEXT("[\"\\\\\"]"), "[\"\\\\\"]"},
    {"string of an escaped quote", TEXT("[\"\\\"\"]"), "[\"\\\"\"]"},
    {"string with what looks like comments", SAME("[\"x/*y*/z/*w//v\"]")},
    {"string with an escaped control character", TEXT("[\"\\u0013\"]"), "[\"\\u0013\"]"},
    {"string with a noncharacter, escaped", TEXT("[\"\\uFFFE\"]"), "[\"\xef\xbf\xbe\"]"},
    {"string with a noncharacter of the last plane, escaped", TEXT("[\"\\uDBFF\\uDFFF\"]"),
     "[\"\xf4\x8f\xbf\xbf\"]"},
    {"string with a noncharacter of the first planes, escaped", TEXT("[\"\\uD83F\\uDFFE\"]"),
     "[\"\xf0\x9f\xbf\xbe\"]"},
    {"string with U+FDD0, escaped", TEXT("[\"\\ufdd0\"]"), "[\"\xef\xb7\x90\"]"},
    {"string with noncharacters, as they are", SAME("[\"\xef\xbf\xbf\xf4\x8f\xbf\xbf\"]")},
    {"string in an array", SAME("[\"xyz\"]")},
    {"string in an array after a space", TEXT("[ \"xyz\"]"), "[\"xyz\"]"},
    {"string with line separators U+2028 and U+2029", SAME("[\"\xe2\x80\xa8\xe2\x80\xa9\"]")},
    {"string with an escaped line feed", TEXT("[\"new\\u000Aline\"]"), "[\"new\\u000aline\"]"},
    {"string with U+007F", SAME("[\"\x7f\"]")},
    {"string with a no-break space, escaped", TEXT("[\"\\u00A0\"]"), "[\"\xc2\xa0\"]"},
    {"string with a zero width space, escaped", TEXT("[\"\\u200B\"]"), "[\"\xe2\x80\x8b\"]"},
    {"string with U+2064, escaped", TEXT("[\"\\u2064\"]"), "[\"\xe2\x81\xa4\"]"},
    {"string with a quote by its number", TEXT("[\"\\u0022\"]"), "[\"\\\"\"]"},
    {"string with a backslash by its number", TEXT("[\"\\u005C\"]"), "[\"\\\\\"]"},
    {"string with digits that stand for letters", TEXT("[\"\\u0041\\u0042\"]"), "[\"AB\"]"},
    {"string with capital and small digits", TEXT("[\"\\uABcd\\uabCD\"]"),
     "[\"\xea\xaf\x8d\xea\xaf\x8d\"]"},
    {"string of a space", SAME("\" \"")},
    {"string in UTF-8", SAME("[\"\xe2\x82\xac\xf0\x9d\x84\x9e\"]")},
    {"string of characters from one to four bytes",
     SAME("[\"a\xc2\x80\xe0\xa0\x80\xf0\x90\x80\x80\"]")},
    {"structure, a false alone", SAME("false")},
    {"structure, a number alone", SAME("37")},
    {"structure, a negative number alone", SAME("-0.25")},
    {"structure, a null alone", SAME("null")},
    {"structure, a string alone", SAME("\"uvw\"")},
    {"structure, an empty string alone", SAME("\"\"")},
    {"structure, a true alone", SAME("true")},
    {"structure that ends with a new line", TEXT("[\"w\"]\n"), "[\"w\"]"},
    {"structure of all white space", TEXT(" \t\r\n[ \t\r\n] \t\r\n"), "[]"},
    {"structure, nothing but blanks inside", TEXT("{\t\r\n }"), "{}"},
};

static const struct row refused[] = {
    {"array, 1 true without comma", TEXT("[7 true]"), NULL},
    {"array with a byte that is not UTF-8", TEXT("[x\xe5]"), NULL},
    {"array with a colon for a comma", TEXT("[\"\":3]"), NULL},
    {"array, comma behind its end", TEXT("[\"\"],"), NULL},
    {"array, comma and number", TEXT("[,3]"), NULL},
    {"array, two commas", TEXT("[3,,4]"), NULL},
    {"array, two commas at the end", TEXT("[\"q\",,]"), NULL},
    {"array, closed twice", TEXT("[\"q\"]]"), NULL},
    {"array, comma at the end", TEXT("[\"\",]"), NULL},
    {"array without its end", TEXT("[\"q\""), NULL},
    {"array, space for a comma before an array", TEXT("[5[6]]"), NULL},
    {"array with a byte of the second half", TEXT("[\xff]"), NULL},
    {"array of a comma", TEXT("[,]"), NULL},
    {"array of a minus", TEXT("[-]"), NULL},
    {"array, comma missing before a comma", TEXT("[   , \"\"]"), NULL},
    {"array, lines without end", TEXT("[\"k\",\n7\n,4"), NULL},
    {"array, comma and no end", TEXT("[7,"), NULL},
    {"array, comma, line and no end", TEXT("[7,\n3\n,"), NULL},
    {"array, vertical tab and a string", TEXT("[\"\va\"\\f]"), NULL},
    {"array of a star", TEXT("[*]"), NULL},
    {"array without end after an object", TEXT("[{}"), NULL},
    {"incomplete false", TEXT("[fals]"), NULL},
    {"incomplete null", TEXT("[nul]"), NULL},
    {"incomplete true", TEXT("[tru]"), NULL},
    {"several values, zero byte between", TEXT("7\0008"), NULL},
    {"number, two plus", TEXT("[++7]"), NULL},
    {"number, plus", TEXT("[+7]"), NULL},
    {"number, plus Inf", TEXT("[+Inf]"), NULL},
    {"number, minus zero one", TEXT("[-02]"), NULL},
    {"number, minus one with a point and nothing", TEXT("[-2.]"), NULL},
    {"number, minus NaN", TEXT("[-NaN]"), NULL},
    {"number, point and minus", TEXT("[.-2]"), NULL},
    {"number, point and exponent", TEXT("[.3e-4]"), NULL},
    {"number, two points", TEXT("[0.2.3]"), NULL},
    {"number, zero with an exponent that has a sign alone", TEXT("[0e+]"), NULL},
    {"number, zero with an empty exponent", TEXT("[0e]"), NULL},
    {"number, capital E alone", TEXT("[0E]"), NULL},
    {"number, capital E and plus alone", TEXT("[0E+]"), NULL},
    {"number, 0.3e", TEXT("[0.4e]"), NULL},
    {"number, 0.3e+", TEXT("[0.4e+]"), NULL},
    {"number, point and exponent", TEXT("[0.e2]"), NULL},
    {"number, 1.0e", TEXT("[2.0e]"), NULL},
    {"number, 1.0e-", TEXT("[2.0e-]"), NULL},
    {"number, 1.0e+", TEXT("[2.0e+]"), NULL},
    {"number, thousands apart", TEXT("[2 000.0]"), NULL},
    {"number, 1eE2", TEXT("[2eE3]"), NULL},
    {"number, 2.e3", TEXT("[3.e4]"), NULL},
    {"number, 2.e+3", TEXT("[3.e+4]"), NULL},
    {"number, 2.e-3", TEXT("[3.e-4]"), NULL},
    {"number, 9.e+", TEXT("[8.e+]"), NULL},
    {"number, expression", TEXT("[2+3]"), NULL},
    {"number, hexadecimal digit", TEXT("[0x2]"), NULL},
    {"number, hexadecimal digits", TEXT("[0x43]"), NULL},
    {"number, Inf", TEXT("[Inf]"), NULL},
    {"number, Infinity", TEXT("[Infinity]"), NULL},
    {"number, minus Infinity", TEXT("[-Infinity]"), NULL},
    {"number, NaN", TEXT("[NaN]"), NULL},
    {"number, plus and minus", TEXT("[0e+-2]"), NULL},
    {"number, minus and letters", TEXT("[-bar]"), NULL},
    {"number, letters behind minus digits", TEXT("[-124bar]"), NULL},
    {"number, minus and space", TEXT("[- 2]"), NULL},
    {"number, negative with a zero before", TEXT("[-013]"), NULL},
    {"number, negative without an integer", TEXT("[-.124]"), NULL},
    {"number, negative and letter", TEXT("[-2x]"), NULL},
    {"number, letter within", TEXT("[2.3fa4]"), NULL},
    {"number, letter behind an exponent", TEXT("[2e2b]"), NULL},
    {"number, byte behind an exponent that is not UTF-8", TEXT("[2e2\xe5]"), NULL},
    {"number, byte behind zero that is not UTF-8", TEXT("[0\xe5]"), NULL},
    {"number, byte behind an integer that is not UTF-8", TEXT("[124\xe5]"), NULL},
    {"number, point without an integer", TEXT("[.124]"), NULL},
    {"number, point without a fraction", TEXT("[2.]"), NULL},
    {"number, full-width digit", TEXT("[\xef\xbc\x92]"), NULL},
    {"number, zero before", TEXT("[013]"), NULL},
    {"number, two zeros", TEXT("[00]"), NULL},
    {"number, letter behind it", TEXT("[2.9c-]"), NULL},
    {"number, word behind a minus", TEXT("[-true]"), NULL},
    {"object, bad value", TEXT("[\"k\", truth]"), NULL},
    {"object, bracket for a key", TEXT("{[: \"k\"}\n"), NULL},
    {"object, comma for a colon", TEXT("{\"k\", null}"), NULL},
    {"object, two colons", TEXT("{\"k\"::\"v\"}"), NULL},
    {"object, character beyond ASCII for a key", TEXT("{\xf0\x9f\x87\xa8}"), NULL},
    {"object, letters behind a member", TEXT("{\"k\":\"v\" 124}"), NULL},
    {"object, key without quotes", TEXT("{k: \"v\"}"), NULL},
    {"object, number for a key", TEXT("{2:2}"), NULL},
    {"object, number for a key and a comma", TEXT("{8E8:2,}"), NULL},
    {"object, apostrophes", TEXT("{'k':0}"), NULL},
    {"object, colon missing", TEXT("{\"k\" v}"), NULL},
    {"object, key missing", TEXT("{:\"v\"}"), NULL},
    {"object, semicolon for a colon", TEXT("{\"k\";null}"), NULL},
    {"object, value missing", TEXT("{\"k\":"), NULL},
    {"object, colon and value missing", TEXT("{\"k\""), NULL},
    {"object, value missing before its end", TEXT("{\"k\":}"), NULL},
    {"object, null for a key", TEXT("{null:null,null:null}"), NULL},
    {"object, several commas at the end", TEXT("{\"k\":0,,,,,}"), NULL},
    {"object, comma at the end", TEXT("{\"k\":0,}"), NULL},
    {"object, comment at the end", TEXT("{\"k\":\"v\"}/**/"), NULL},
    {"object, comment at the end, open", TEXT("{\"k\":\"v\"}/**//"), NULL},
    {"object, comment of a line at the end", TEXT("{\"k\":\"v\"}//"), NULL},
    {"object, slash at the end", TEXT("{\"k\":\"v\"}/"), NULL},
    {"object, two commas", TEXT("{\"k\":\"v\",,\"l\":\"w\"}"), NULL},
    {"object, key without quotes after a member", TEXT("{\"k\":\"v\",l:\"w\"}"), NULL},
    {"object, open in a string", TEXT("{\"k\":\"v"), NULL},
    {"object with a string alone", TEXT("{ \"bar\" : \"foo\", \"k\" }"), NULL},
    {"object, something behind it", TEXT("{\"k\":\"v\"}#"), NULL},
    {"one blank", TEXT(" "), NULL},
    {"string, half of an escaped pair, then an escape cut", TEXT("[\"\\uD801\\\"]"), NULL},
    {"string, half of an escaped pair, then a unit cut", TEXT("[\"\\uD801\\u\"]"), NULL},
    {"string, half of an escaped pair, then a digit", TEXT("[\"\\uD801\\u2\"]"), NULL},
    {"string, half of an escaped pair, then a digit and a letter", TEXT("[\"\\uD801\\u2z\"]"),
     NULL},
    {"string, an accent without quotes", TEXT("[\xc3\xa9]"), NULL},
    {"string, backslash and zero byte", TEXT("[\"\\\0\"]"), NULL},
    {"string, escape x", TEXT("[\"\\x01\"]"), NULL},
    {"string, three backslashes", TEXT("[\"\\\\\\\"]"), NULL},
    {"string, escaped tab itself", TEXT("[\"\\\t\"]"), NULL},
    {"string, escaped character beyond ASCII", TEXT("[\"\\\xf0\x9f\x8c\x80\"]"), NULL},
    {"string, backslash at its end", TEXT("[\"\\\"]"), NULL},
    {"string, unit cut", TEXT("[\"\\u00B\"]"), NULL},
    {"string, pair cut", TEXT("[\"\\uD835\\uDd\"]"), NULL},
    {"string, pair without its second half", TEXT("[\"\\ud801\\uzz\"]"), NULL},
    {"string, byte behind an escape that is not UTF-8", TEXT("[\"\\u\xe5\"]"), NULL},
    {"string, escape b", TEXT("[\"\\b"), NULL},
    {"string, escape of a letter", TEXT("[\"\\q\"]"), NULL},
    {"string, byte behind a backslash that is not UTF-8", TEXT("[\"\\\xe5\"]"), NULL},
    {"string, unit of letters", TEXT("[\"\\uqqqq\"]"), NULL},
    {"string with space before an escape", TEXT("[\\u0020\"asd\"]"), NULL},
    {"string, escape without quotes", TEXT("[\\n]"), NULL},
    {"string of one quote", TEXT("\""), NULL},
    {"string in apostrophes", TEXT("['apostrophe']"), NULL},
    {"string of one letter without quotes", TEXT("xyz"), NULL},
    {"string that begins with an escape and ends", TEXT("[\"\\"), NULL},
    {"string with a control character", TEXT("[\"x\001y\"]"), NULL},
    {"string with a new line", TEXT("[\"new\nline\"]"), NULL},
    {"string with a zero byte", TEXT("[\"x\0y\"]"), NULL},
    {"string with a tab", TEXT("[\"\t\"]"), NULL},
    {"string with U+001F", TEXT("[\"\x1f\"]"), NULL},
    {"string, capital U", TEXT("\"\\UB66D\""), NULL},
    {"string, something behind it", TEXT("\"\"y"), NULL},
    {"structure, an angle and a word", TEXT("<null>"), NULL},
    {"structure, angle brackets", TEXT("[<null>]"), NULL},
    {"structure, letter behind an array", TEXT("[3]y"), NULL},
    {"structure, bracket behind an array", TEXT("[3]]"), NULL},
    {"structure, U+2060 between", TEXT("[\xe2\x81\xa0]"), NULL},
    {"structure, byte order mark and nothing", TEXT("\xef\xbb\xbf"), NULL},
    {"structure, byte order mark cut", TEXT("\xef\xbb{}"), NULL},
    {"structure, brace for a bracket", TEXT("[3}"), NULL},
    {"structure, capital letters", TEXT("[True]"), NULL},
    {"structure, word in capitals", TEXT("[NULL]"), NULL},
    {"structure, comma for a brace", TEXT("{\"k\":true,\"l\""), NULL},
    {"structure, two arrays", TEXT("[][]"), NULL},
    {"structure, two values", TEXT("2]"), NULL},
    {"structure, bracket alone", TEXT("]"), NULL},
    {"structure, brace alone", TEXT("}"), NULL},
    {"structure, bracket behind a brace", TEXT("{]"), NULL},
    {"structure, new line in a word", TEXT("tr\nue"), NULL},
    {"structure, lone byte", TEXT("\xe5"), NULL},
    {"structure, lone continuation", TEXT("\x80"), NULL},
    {"structure, nothing", TEXT(""), NULL},
    {"structure, zero byte", TEXT("\0"), NULL},
    {"structure, zero byte in an array", TEXT("[\0]"), NULL},
    {"structure, zero byte behind the value", TEXT("[1]\0"), NULL},
    {"structure, number and letter", TEXT("2y"), NULL},
    {"structure, object and something", TEXT("{\"k\": true} \"y\""), NULL},
    {"structure, object without end, key in apostrophes", TEXT("{'k'"), NULL},
    {"structure, object without end", TEXT("{\"k\":[]"), NULL},
    {"structure, comment in an object", TEXT("{\"k\":/*comment*/\"v\"}"), NULL},
    {"structure, array closed by a brace", TEXT("[1}"), NULL},
    {"structure, array opened in its string", TEXT("[\"q"), NULL},
    {"structure, array with an apostrophe", TEXT("['"), NULL},
    {"structure, array with a brace", TEXT("[{"), NULL},
    {"structure, array with an open string", TEXT("[\"a\",\n\"b"), NULL},
    {"structure, array and comma", TEXT("[,"), NULL},
    {"structure, object and bracket", TEXT("{["), NULL},
    {"structure, object and apostrophe", TEXT("{'"), NULL},
    {"structure, object and comma", TEXT("{,"), NULL},
    {"structure, object and open string", TEXT("{\"q"), NULL},
    {"structure, object open", TEXT("{"), NULL},
    {"structure, array open", TEXT("["), NULL},
    {"structure, open of all kinds", TEXT("[\"\\{[\"\\{[\"\\{[\"\\{"), NULL},
    {"structure, single star", TEXT("*"), NULL},
    {"structure, dot and comma", TEXT("{\"k\":\"v\"}."), NULL},
    {"structure, array, half a word", TEXT("[ true, fals"), NULL},
    {"structure, array, t", TEXT("[ false, tru"), NULL},
    {"structure, array, n", TEXT("[ false, nul"), NULL},
    {"structure, escaped line feed", TEXT("[\\u000A\"\"]"), NULL},
    {"white space, form feed", TEXT("[\f]"), NULL},
    {"white space, vertical tab", TEXT("[\v]"), NULL},
    {"white space, U+00A0", TEXT("[\xc2\xa0]"), NULL},
    {"white space, U+3000", TEXT("[\xe3\x80\x80]"), NULL},
};

/* What RFC 8259 leaves open: what we do. */
static const struct row open_to_us[] = {
    {"number: exponent far beyond a double", TEXT("[0.5e00777777777777777777777777777777]"), NULL},
    {"number: huge exponent, capital", TEXT("[2.3E9999]"), NULL},
    {"number: negative, beyond a double", TEXT("[-234e5678]"), NULL},
    {"number: fraction of many places is the nearest", TEXT("[2.3e-9999]"), "[0]"},
    {"number: underflow keeps its sign", TEXT("[-234e-10000000]"), "[-0]"},
    {"number: least double", TEXT("[4.9406564584124654e-324]"), "[5e-324]"},
    {"number: half of the least double is even, 0", TEXT("[2.4703282292062327e-324]"), "[0]"},
    {"number: above half of the least double", TEXT("[2.4703282292062328e-324]"), "[5e-324]"},
    {"number: largest subnormal", TEXT("[2.2250738585072011e-308]"), "[2.225073858507201e-308]"},
    {"number: least normal", TEXT("[2.2250738585072014e-308]"), "[2.2250738585072014e-308]"},
    {"number: largest double", TEXT("[1.7976931348623157e308]"), "[1.7976931348623157e308]"},
    {"number: rounds down to the largest double", TEXT("[1.7976931348623158e308]"),
     "[1.7976931348623157e308]"},
    {"number: rounds up beyond the largest double", TEXT("[1.7976931348623159e308]"), NULL},
    {"number: integer of 2^53 + 1 is exact", SAME("[9007199254740993]")},
    {"number: as a fraction it is the nearest double", TEXT("[9007199254740993.0]"),
     "[9007199254740992]"},
    {"number: largest signed integer of 64 bit", SAME("[9223372036854775807]")},
    {"number: least signed integer of 64 bit", SAME("[-9223372036854775808]")},
    {"number: below the least integer of 64 bit", TEXT("[-9223372036854775809]"),
     "[-9.223372036854776e18]"},
    {"number: largest integer of 64 bit", SAME("[18446744073709551615]")},
    {"number: above the largest integer of 64 bit", TEXT("[18446744073709551616]"),
     "[1.8446744073709552e19]"},
    {"number: very large negative integer", TEXT("[-321321321321321321321321321321]"),
     "[-3.213213213213213e29]"},
    {"number: very large integer", TEXT("[200000000000000000000]"), "[2e20]"},
    {"number: 19 digits", SAME("[1000000000000000001]")},
    {"number: halfway between two doubles, to even", TEXT("[9007199254740993.0e0]"),
     "[9007199254740992]"},
    {"number: a little above halfway",
     TEXT("[9007199254740993.00000000000000000000000000000000000000000000001]"),
     "[9007199254740994]"},
    {"number: 20 digits with a fraction", TEXT("[0.12345678901234567890123]"),
     "[0.12345678901234568]"},
    {"object: key is a lone surrogate", TEXT("{\"\\uDFAB\":0}"), NULL},
    {"string: first half twice", TEXT("[\"\\uD801\\uD801\"]"), NULL},
    {"string: first half alone", TEXT("[\"\\ud800\"]"), NULL},
    {"string: first half and a letter", TEXT("[\"\\ud800xyz\"]"), NULL},
    {"string: second half alone", TEXT("[\"\\uDd1e\"]"), NULL},
    {"string: second half first", TEXT("[\"\\uDd1e\\uD834\"]"), NULL},
    {"string: first half, then a plain character", TEXT("[\"\\uD801\\u0042\"]"), NULL},
    {"string: first half, then an escape", TEXT("[\"\\uD800\\n\"]"), NULL},
    {"string: byte of ISO 8859-1", TEXT("[\"\xe9\"]"), NULL},
    {"string: byte that never is in UTF-8", TEXT("[\"\xff\"]"), NULL},
    {"string: lone continuation", TEXT("[\"\x81\"]"), NULL},
    {"string: character cut", TEXT("[\"\xe0\xff\"]"), NULL},
    {"string: last byte missing", TEXT("[\"\xe6\x97\"]"), NULL},
    {"string: surrogate in UTF-8", TEXT("[\"\xed\xa0\x80\"]"), NULL},
    {"string: too long form of two bytes", TEXT("[\"\xc0\xaf\"]"), NULL},
    {"string: too long form of six bytes", TEXT("[\"\xfc\x83\xbf\xbf\xbf\xbf\"]"), NULL},
    {"string: too long form of a zero byte", TEXT("[\"\xfc\x80\x80\x80\x80\x80\"]"), NULL},
    {"string: beyond U+10FFFF", TEXT("[\"\xf4\xbf\xbf\xbf\"]"), NULL},
    {"string: U+110000", TEXT("[\"\xf4\x90\x80\x80\"]"), NULL},
    {"structure: UTF-16, low byte first", TEXT("\xff\xfe[\0\"\0a\0\"\0]\0"), NULL},
    {"structure: UTF-16 without mark", TEXT("[\0\"\0a\0\"\0]\0"), NULL},
    {"structure: UTF-16, high byte first", TEXT("\0[\0\"\0a\0\"\0]"), NULL},
    {"structure: byte order mark", TEXT("\xef\xbb\xbf{}"), NULL},
    /* RFC 8259 has these accepted; strings here are C strings, which cannot hold U+0000 */
    {"string: escaped zero", TEXT("[\"\\u0000\"]"), NULL},
    {"object: key with an escaped zero", TEXT("{\"k\\u0000l\":1}"), NULL},
};

/* A sanitizer sees a byte read behind the text, and a string that is not copied. */
static json_t *parse_exact(const char *text, size_t len, struct json_fault *fault)
{
    char *exact = malloc(len + !len);
    json_t *item;

    assert_non_null(exact);
    memcpy(exact, text, len);
    *fault = (struct json_fault){0};
    item = json_parse_text(exact, len, 0, fault);
    if (!item)
        assert_true(fault->offset <= len && fault->line > 0 && fault->column > 0 && fault->reason);
    free(exact);
    return item;
}

/* @return whether less of the text than its value may be a value: a number cut is one */
static bool may_be_cut(const char *text)
{
    text += strspn(text, " \t\r\n");
    return *text == '-' || (*text >= '0' && *text <= '9');
}

static void check_cuts(const struct row *row)
{
    size_t value = row->len;
    struct json_fault fault;

    while (value > 0 && strchr(" \t\r\n", row->text[value - 1]))
        value--;
    for (size_t len = 0; len < row->len; len++) {
        json_t *item = parse_exact(row->text, len, &fault);

        if (item && row->printed && len < value && !may_be_cut(row->text))
            fail_msg("%s: accepted when cut at %zu", row->what, len);
        json_delete(item);
    }
}

static void check_row(const struct row *row)
{
    struct json_fault fault;
    json_t *item = parse_exact(row->text, row->len, &fault);
    char *text = item ? json_print(item, false) : NULL;

    if (!item != !row->printed)
        fail_msg("%s: %s", row->what, item ? "accepted" : fault.reason);
    if (item && (!text || strcmp(text, row->printed) != 0))
        fail_msg("%s: printed as %s", row->what, text ? text : "nothing");
    free(text);
    json_delete(item);
    check_cuts(row);
}

static void what_is_json_is_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUMBER_OF(accepted); i++)
        check_row(&accepted[i]);
}

static void what_is_not_json_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUMBER_OF(refused); i++)
        check_row(&refused[i]);
}

static void what_is_left_open_is_as_stated(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUMBER_OF(open_to_us); i++)
        check_row(&open_to_us[i]);
}

/* @return a text of the first piece so many times, then the last one so many times */
static char *repeat(const char *first, const char *last, size_t times)
{
    const size_t a = strlen(first), b = strlen(last);
    char *text = malloc((a + b) * times + 1);

    assert_non_null(text);
    for (size_t i = 0; i < times; i++) {
        memcpy(text + i * a, first, a);
        memcpy(text + times * a + i * b, last, b);
    }
    text[(a + b) * times] = '\0';
    return text;
}

static void depth_is_bounded(void **state)
{
    static const struct {
        const char *first, *last;
        size_t times;
        bool is_accepted;
    } rows[] = {
        {"[", "]", 500, true},           {"[", "]", 512, true},
        {"[", "]", 513, false},          {"[", "", 100000, false},
        {"[", "]", 100000, false},       {"{\"\":", "", 50000, false},
        {"[{\"\":", "", 50000, false},   {"[{\"\":[", "]}]", 170, true},
        {"[{\"\":[", "]}]", 171, false},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        char *text = repeat(rows[i].first, rows[i].last, rows[i].times);
        struct json_fault fault;
        json_t *item = parse_exact(text, strlen(text), &fault);

        assert_int_equal(item != NULL, rows[i].is_accepted);
        json_delete(item);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_json_is_accepted),
        cmocka_unit_test(what_is_not_json_is_refused),
        cmocka_unit_test(what_is_left_open_is_as_stated),
        cmocka_unit_test(depth_is_bounded),
    };

    return cmocka_run_group_tests(tests, prepare, NULL);
}
