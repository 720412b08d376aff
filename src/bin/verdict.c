/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict.h"

#include "kit/text/escape.h"
#include "report.h"

#include <string.h>

enum { PART = 256 }; /* bytes of a text that are escaped at once */

static bool as_json, has_one;

/* Where a part may end: not within a character. */
static size_t part_of(struct mk_str text)
{
    size_t len = 0;

    while (len < text.len && len < PART) {
        const size_t one = text_utf8((struct mk_str){text.p + len, text.len - len});

        len += one ? one : 1;
    }
    return len;
}

static void print_string(const char *name, struct mk_str text)
{
    char part[(PART + 4) * TEXT_JSON_GROWTH];

    (void)mk_print("\"%s\": \"", name);
    for (size_t len; text.len > 0; text.p += len, text.len -= len) {
        len = part_of(text);
        (void)mk_print("%.*s", (int)text_json(part, (struct mk_str){text.p, len}), part);
    }
    (void)mk_print("\"");
}

static struct mk_str text_of(const char *text)
{
    return (struct mk_str){text, strlen(text)};
}

static void print_place(const struct mk_config_fault *fault)
{
    if (!fault->file)
        return;
    (void)mk_print(", ");
    print_string("file", text_of(fault->file));
    if (fault->line > 0)
        (void)mk_print(", \"line\": %u", fault->line);
    if (fault->line > 0 && fault->column > 0)
        (void)mk_print(", \"column\": %u", fault->column);
    if (fault->text.len == 0)
        return;
    (void)mk_print(", ");
    print_string("text", fault->text);
}

static void print_fault(void *arg, const struct mk_config_fault *fault)
{
    (void)arg;
    (void)mk_print("%s\n  {\"severity\": \"%s\", ", has_one ? "," : "",
                   fault->is_warning ? "warning" : "error");
    has_one = true;
    print_string("message", fault->message);
    print_place(fault);
    (void)mk_print("}");
}

void mk_verdict_begin(bool is_json)
{
    as_json = is_json;
    if (as_json)
        (void)mk_print("{\"faults\": [");
}

void mk_verdict_faults(const struct mk_config *config)
{
    if (as_json)
        mk_config_each_fault(config, print_fault, NULL);
    else
        mk_config_faults(config, mk_report_text, NULL);
}

void mk_verdict_of_key(const struct mk_config *config, const char *key, const char *message)
{
    struct mk_config_fault fault;

    if (!as_json) {
        mk_config_fault_of(config, key, message, mk_report_text, NULL);
        return;
    }
    mk_config_place(config, key, &fault);
    fault.message = text_of(message);
    print_fault(NULL, &fault);
}

void mk_verdict_error(const char *message)
{
    if (as_json)
        print_fault(NULL, &(struct mk_config_fault){.message = text_of(message)});
    else
        mk_report("%s", message);
}

void mk_verdict_warning(void *arg, const char *text, size_t len)
{
    const struct mk_str line = {text, len - (len > 0 && text[len - 1] == '\n')};

    if (as_json)
        print_fault(NULL, &(struct mk_config_fault){.message = line, .is_warning = true});
    else
        mk_report_text(arg, text, len);
}

void mk_verdict_end(bool is_fine, size_t warnings)
{
    if (as_json)
        (void)mk_print("%s], \"is_fine\": %s}\n", has_one ? "\n" : "", is_fine ? "true" : "false");
    else if (is_fine && warnings == 0)
        (void)mk_print("configuration is fine\n");
    else if (is_fine)
        (void)mk_print("configuration is fine, with %zu warning%s\n", warnings,
                       warnings == 1 ? "" : "s");
}
