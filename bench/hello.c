/* SPDX-License-Identifier: Apache-2.0 */
/* The least that a CGI program does, so that what is measured is starting it. */
#include <unistd.h>

int main(void)
{
    static const char answer[] = "Content-Type: text/plain\nContent-Length: 13\n\nHello, world\n";

    return write(1, answer, sizeof(answer) - 1) == sizeof(answer) - 1 ? 0 : 1;
}
