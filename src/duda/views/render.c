/* SPDX-License-Identifier: Apache-2.0 */
#include "views/render.h"

#include "json/tree.h"
#include "kit/text/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A section that is being shown, once for each of its values. */
struct section {
    struct mk_duda_shown shown;   /* the value of this round */
    const struct cJSON *next;     /* of an array; NULL: none */
    const struct duda_list *list; /* of a struct; NULL: none */
    const struct duda_input *list_row;
    size_t at;      /* in list */
    bool is_looked; /* names are looked for in it */
};

struct render {
    const struct mk_duda_template *t;
    struct page *page;
    struct section open[MK_DUDA_VIEW_SECTIONS + 1]; /* the first: the values of the page */
    unsigned depth;
    unsigned step;
};

static bool is_none(const struct mk_duda_shown *v)
{
    return !v->item && !v->rows && !v->row;
}

/* ---- finding ---- */

static const struct cJSON *member_of(const struct cJSON *object, struct mk_str name)
{
    const struct cJSON *item = (object->type & JSON_TYPE) == cJSON_Object ? object->child : NULL;

    while (item && !(item->string && text_is(mk_str_from(item->string), name)))
        item = item->next;
    return item;
}

/* "a.b": a member of an object in the object */
static const struct cJSON *find_item(const struct cJSON *object, struct mk_str name)
{
    const struct cJSON *item = object;

    while (item && name.len > 0)
        item = member_of(item, text_cut(&name, '.'));
    return item;
}

static struct mk_duda_shown find_row(const struct duda_input *rows, const void *data,
                                     struct mk_str name)
{
    for (; rows->name; rows++) {
        if (text_is(mk_str_from(rows->name), name))
            return (struct mk_duda_shown){.row = rows, .data = (const char *)data + rows->to};
    }
    return (struct mk_duda_shown){0};
}

static struct mk_duda_shown find_in(const struct mk_duda_shown *v, struct mk_str name)
{
    if (v->item)
        return (struct mk_duda_shown){.item = find_item(v->item, name)};
    return v->rows ? find_row(v->rows, v->data, name) : (struct mk_duda_shown){0};
}

/* In the innermost section that has it. */
static struct mk_duda_shown find(const struct render *r, struct mk_str name)
{
    struct mk_duda_shown found = {0};

    if (text_is(name, MK_STR(".")))
        return r->open[r->depth].shown;
    for (unsigned i = r->depth + 1; i-- > 0 && is_none(&found);) {
        if (r->open[i].is_looked)
            found = find_in(&r->open[i].shown, name);
    }
    return found;
}

/* ---- values as texts ---- */

enum { NUMBER_ROOM = JSON_NUMBER_ROOM + 24 };

static struct mk_str text_of_item(const struct cJSON *item, char room[NUMBER_ROOM])
{
    switch (item->type & JSON_TYPE) {
    case cJSON_String:
        return mk_str_from(item->valuestring);
    case cJSON_True:
        return MK_STR("true");
    case cJSON_False:
        return MK_STR("false");
    case cJSON_Number:
        if (json_digits(item))
            return mk_str_from(json_digits(item));
        json_print_number(room, item->valuedouble);
        return mk_str_from(room);
    default:
        return (struct mk_str){NULL, 0};
    }
}

/* @return "" for what has no text. @param room  borrowed by the result */
static struct mk_str text_of(const struct mk_duda_shown *v, char room[NUMBER_ROOM])
{
    if (v->item)
        return text_of_item(v->item, room);
    if (!v->row)
        return (struct mk_str){NULL, 0};
    switch (v->row->type) {
    case DUDA_TEXT:
        return mk_str_from(*(const char *const *)v->data);
    case DUDA_INTEGER:
        (void)snprintf(room, NUMBER_ROOM, "%" PRId64, *(const int64_t *)v->data);
        return mk_str_from(room);
    case DUDA_NUMBER:
        json_print_number(room, *(const double *)v->data);
        return mk_str_from(room);
    case DUDA_FLAG:
        return *(const int *)v->data ? MK_STR("true") : MK_STR("false");
    default:
        return (struct mk_str){NULL, 0};
    }
}

static bool is_shown_item(const struct cJSON *item)
{
    switch (item->type & JSON_TYPE) {
    case cJSON_String:
        return item->valuestring[0] != '\0';
    case cJSON_Number:
        return item->valuedouble != 0;
    case cJSON_Array:
        return item->child != NULL;
    default:
        return (item->type & JSON_TYPE) == cJSON_True || (item->type & JSON_TYPE) == cJSON_Object;
    }
}

/* Does a section of it appear? */
static bool is_shown(const struct mk_duda_shown *v)
{
    if (v->item)
        return is_shown_item(v->item);
    if (!v->row)
        return v->rows != NULL;
    switch (v->row->type) {
    case DUDA_TEXT:
        return mk_str_from(*(const char *const *)v->data).len > 0;
    case DUDA_INTEGER:
        return *(const int64_t *)v->data != 0;
    case DUDA_NUMBER:
        return *(const double *)v->data != 0;
    case DUDA_FLAG:
        return *(const int *)v->data != 0;
    default:
        return ((const struct duda_list *)v->data)->count > 0;
    }
}

/* Line ends and tabs stay what they are: no control bytes of the kind that page_html() replaces. */
static void put_escaped(struct page *page, struct mk_str text)
{
    while (text.len > 0) {
        size_t n = 0;

        while (n < text.len && text.p[n] != '\n' && text.p[n] != '\t' && text.p[n] != '\r')
            n++;
        page_html(page, (struct mk_str){text.p, n});
        if (n < text.len)
            page_bytes(page, (struct mk_str){text.p + n++, 1});
        text = (struct mk_str){text.p + n, text.len - n};
    }
}

/* A scheme that runs scripts begins no URL: what has another than these becomes "#". */
static bool is_safe_url(struct mk_str url)
{
    static const struct mk_str schemes[] = {MK_STR_INIT("http"), MK_STR_INIT("https"),
                                            MK_STR_INIT("mailto"), MK_STR_INIT("tel")};
    size_t n = 0;

    while (n < url.len && !strchr(":/?#", url.p[n]))
        n++;
    if (n == url.len || url.p[n] != ':')
        return true;
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        if (text_is_word((struct mk_str){url.p, n}, schemes[i]))
            return true;
    }
    return false;
}

/* ---- sections ---- */

static struct mk_duda_shown item_of(const struct section *s)
{
    const char *items = s->list->items;
    const struct duda_input *row = s->list_row->items;
    static const size_t sizes[] = {[DUDA_TEXT] = sizeof(char *),
                                   [DUDA_INTEGER] = sizeof(int64_t),
                                   [DUDA_NUMBER] = sizeof(double),
                                   [DUDA_FLAG] = sizeof(int)};

    if (s->list_row->item_size > 0)
        return (struct mk_duda_shown){.rows = row, .data = items + s->at * s->list_row->item_size};
    if (row->type < DUDA_TEXT || row->type > DUDA_FLAG)
        return (struct mk_duda_shown){0};
    return (struct mk_duda_shown){.row = row, .data = items + s->at * sizes[row->type]};
}

static struct section section_of(const struct mk_duda_shown *v)
{
    struct section s = {.shown = *v, .is_looked = true};

    if (v->item && (v->item->type & JSON_TYPE) == cJSON_Array) {
        s.shown = (struct mk_duda_shown){.item = v->item->child};
        s.next = v->item->child->next;
    } else if (v->row && v->row->type == DUDA_LIST && v->row->items) {
        s.list = v->data;
        s.list_row = v->row;
        s.shown = item_of(&s);
    }
    return s;
}

/* @return whether it has another round, which is its present one now */
static bool next_round(struct section *s)
{
    if (s->next) {
        s->shown.item = s->next;
        s->next = s->next->next;
        return true;
    }
    if (!s->list || ++s->at >= s->list->count)
        return false;
    s->shown = item_of(s);
    return true;
}

/* Templates have no more in each other than there is room for. */
static void open_section(struct render *r, struct section section)
{
    r->open[++r->depth] = section;
}

static void begin_section(struct render *r, const struct mk_duda_step *step)
{
    const struct mk_duda_shown found = find(r, step->text);
    const bool is_inverted = step->kind == MK_DUDA_STEP_INVERTED;

    if (is_shown(&found) == is_inverted)
        r->step = step->other;
    else if (is_inverted)
        open_section(r, (struct section){.shown = r->open[r->depth].shown});
    else
        open_section(r, section_of(&found));
}

/* ---- steps ---- */

static void put_value(struct render *r, const struct mk_duda_step *step)
{
    const struct mk_duda_shown found = find(r, step->text);
    char room[NUMBER_ROOM];
    const struct mk_str text = text_of(&found, room);

    if (step->kind == MK_DUDA_STEP_RAW)
        page_bytes(r->page, text);
    else
        put_escaped(r->page,
                    step->kind == MK_DUDA_STEP_URL && !is_safe_url(text) ? MK_STR("#") : text);
}

static void run_step(struct render *r)
{
    const struct mk_duda_step *step = &r->t->steps[r->step];

    switch (step->kind) {
    case MK_DUDA_STEP_TEXT:
        page_bytes(r->page, step->text);
        break;
    case MK_DUDA_STEP_SECTION:
    case MK_DUDA_STEP_INVERTED:
        begin_section(r, step);
        break;
    case MK_DUDA_STEP_END:
        if (next_round(&r->open[r->depth]))
            r->step = step->other;
        else
            r->depth--;
        break;
    default:
        put_value(r, step);
    }
    r->step++;
}

int mk_duda_render(const struct mk_duda_template *t, const struct mk_duda_shown *values,
                   struct page *page)
{
    struct render r = {.t = t, .page = page};

    r.open[0] = (struct section){.shown = *values, .is_looked = true};
    for (unsigned turns = 0; r.step < t->count && !page->failed; turns++) {
        if (turns == MK_DUDA_RENDER_TURNS)
            return MK_E_LIMIT;
        run_step(&r);
    }
    if (!page->failed)
        return 0;
    return page->len > PAGE_MAX / 2 ? MK_E_LIMIT : MK_E_NOMEM;
}
