/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_MONKEY_TEXT_H
#define MK_DUDA_OBJECTS_MONKEY_TEXT_H

#include "objects/objects.h"

/* Calls of the object `monkey` on texts. Results that are texts or lists are owned by the caller; NULL arguments find nothing. */

void mk_duda_pointer_set(mk_pointer *p, char *str);
void mk_duda_pointer_print(mk_pointer p);
char *mk_duda_pointer_to_buf(mk_pointer p);
/** @param p  its data has room for 24 bytes: decimal digits, CR LF and a NUL that p->len does not count */
int mk_duda_str_itop(uint64_t value, mk_pointer *p);
int mk_duda_str_search(const char *hay, const char *needle, int sensitive);
/** @param len  bytes of hay; negative: all */
int mk_duda_str_search_n(const char *hay, const char *needle, int sensitive, int len);
int mk_duda_str_char_search(const char *str, int c, int len);
char *mk_duda_str_build(char **buf, unsigned long *len, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
char *mk_duda_str_dup(const char *str);
char *mk_duda_str_copy_substr(const char *str, int from, int to);
struct mk_list *mk_duda_str_split_line(const char *line);
void mk_duda_str_split_free(struct mk_list *list);

#endif
