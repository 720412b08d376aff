/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/plain/monkey_time.h"

size_t mk_duda_time_text(char dst[MK_DUDA_TIME_HUMAN_MAX], time_t t)
{
    struct tm tm;

    dst[0] = 0;
    return localtime_r(&t, &tm)
               ? strftime(dst, MK_DUDA_TIME_HUMAN_MAX, "[%d/%b/%Y %H:%M:%S %z]", &tm)
               : 0;
}

int mk_duda_time_unix(void)
{
    return (int)mk_duda_xtime.now();
}

int mk_duda_time_to_gmt(char **buf, time_t t)
{
    enum { ROOM = 32 };
    struct tm tm;
    char text[ROOM];
    size_t len;

    if (t == 0)
        t = mk_duda_xtime.now();
    if (!buf || !gmtime_r(&t, &tm))
        return -1;
    len = strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT\r\n", &tm);
    if (len > 0 && !*buf)
        *buf = malloc(ROOM);
    if (len == 0 || !*buf)
        return -1;
    memcpy(*buf, text, len + 1);
    return (int)len;
}

mk_pointer *mk_duda_time_human(void)
{
    static _Thread_local char text[MK_DUDA_TIME_HUMAN_MAX];
    static _Thread_local mk_pointer pointer;

    pointer = (mk_pointer){.data = text, .len = mk_duda_time_text(text, mk_duda_xtime.now())};
    return &pointer;
}
