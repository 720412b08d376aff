/* SPDX-License-Identifier: Apache-2.0 */
#include "http/status.h"

/*
 * RFC 9110 section 15 and, for 428 to 511, RFC 6585; the most frequent first. One string, each
 * entry three digits and a reason, to stay small.
 */
static const char reasons[] = "200OK\0"
                              "304Not Modified\0"
                              "206Partial Content\0"
                              "404Not Found\0"
                              "100Continue\0"
                              "101Switching Protocols\0"
                              "103Early Hints\0"
                              "201Created\0"
                              "202Accepted\0"
                              "203Non-Authoritative Information\0"
                              "204No Content\0"
                              "205Reset Content\0"
                              "300Multiple Choices\0"
                              "301Moved Permanently\0"
                              "302Found\0"
                              "303See Other\0"
                              "307Temporary Redirect\0"
                              "308Permanent Redirect\0"
                              "400Bad Request\0"
                              "401Unauthorized\0"
                              "402Payment Required\0"
                              "403Forbidden\0"
                              "405Method Not Allowed\0"
                              "406Not Acceptable\0"
                              "407Proxy Authentication Required\0"
                              "408Request Timeout\0"
                              "409Conflict\0"
                              "410Gone\0"
                              "411Length Required\0"
                              "412Precondition Failed\0"
                              "413Content Too Large\0"
                              "414URI Too Long\0"
                              "415Unsupported Media Type\0"
                              "416Range Not Satisfiable\0"
                              "417Expectation Failed\0"
                              "421Misdirected Request\0"
                              "422Unprocessable Content\0"
                              "425Too Early\0"
                              "426Upgrade Required\0"
                              "428Precondition Required\0"
                              "429Too Many Requests\0"
                              "431Request Header Fields Too Large\0"
                              "451Unavailable For Legal Reasons\0"
                              "500Internal Server Error\0"
                              "501Not Implemented\0"
                              "502Bad Gateway\0"
                              "503Service Unavailable\0"
                              "504Gateway Timeout\0"
                              "505HTTP Version Not Supported\0"
                              "507Insufficient Storage\0"
                              "511Network Authentication Required\0";

static struct mk_str class_reason(unsigned status)
{
    switch (status / 100) {
    case 1:
        return MK_STR("Informational");
    case 2:
        return MK_STR("Success");
    case 3:
        return MK_STR("Redirection");
    case 4:
        return MK_STR("Client Error");
    case 5:
        return MK_STR("Server Error");
    default:
        return MK_STR("Unknown");
    }
}

static unsigned status_of(const char *entry)
{
    return (unsigned)((entry[0] - '0') * 100 + (entry[1] - '0') * 10 + entry[2] - '0');
}

struct mk_str mk_status_reason(unsigned status)
{
    for (const char *entry = reasons; *entry; entry += strlen(entry) + 1) {
        if (status_of(entry) == status)
            return mk_str_from(entry + 3);
    }
    return class_reason(status);
}

bool mk_status_has_content(unsigned status)
{
    return status >= 200 && status != 204 && status != 304;
}
