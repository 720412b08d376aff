/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/set.h"

#include <stdlib.h>

enum { ROOT, FEW_CELLS = 2048, MAX_CELLS = 65536 };
enum { ENDS, UNKNOWN, FIRST_COLUMN }; /* columns: no byte; bytes that no text has; the others */
static const uint32_t leaf = UINT32_C(1) << 31;

struct item {
    struct mk_str text;
    uint32_t number;
};

/* What is only needed to build; nodes stand in the order of the texts, a first child right behind its parent. */
struct builder {
    struct text_set *t;
    struct item *items; /* sorted */
    uint32_t count;
    uint32_t longest;
    uint32_t nrows;
    uint32_t *branch;  /* by depth: the node on the way to the present text */
    uint32_t *depths;  /* by node */
    uint32_t *levels;  /* by depth: how many nodes are above it */
    uint32_t *ordered; /* nodes by depth */
    uint32_t *ranks;   /* by node: its place among them */
};

/* Beginnings come first, and of the same texts the one with the lower number. */
static int compare(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    size_t len = x->text.len < y->text.len ? x->text.len : y->text.len;
    int order = memcmp(x->text.p, y->text.p, len);

    if (order == 0)
        order = (x->text.len > y->text.len) - (x->text.len < y->text.len);
    return order ? order : x->number < y->number ? -1 : 1;
}

/* How much of an item is a beginning of the one before. */
static size_t same_beginning(const struct item *items, uint32_t i)
{
    struct mk_str a, b;
    size_t n = 0;

    if (i == 0)
        return 0;
    a = items[i - 1].text;
    b = items[i].text;
    while (n < a.len && n < b.len && a.p[n] == b.p[n])
        n++;
    return n;
}

/* Sorts and counts. */
static void look_at_items(struct builder *b, const struct mk_str *items)
{
    struct text_set *t = b->t;

    memset(t->columns, UNKNOWN, sizeof(t->columns));
    t->ncolumns = FIRST_COLUMN;
    t->nnodes = 1;
    for (uint32_t i = 0; i < b->count; i++)
        b->items[i] = (struct item){items[i], i};
    qsort(b->items, b->count, sizeof(b->items[0]), compare);
    for (uint32_t i = 0; i < b->count; i++) {
        struct mk_str text = b->items[i].text;

        for (size_t k = 0; k < text.len; k++) {
            uint8_t *column = &t->columns[(unsigned char)text.p[k]];

            if (*column == UNKNOWN)
                *column = (uint8_t)t->ncolumns++;
        }
        t->nnodes += (uint32_t)(text.len - same_beginning(b->items, i));
        if (text.len > b->longest)
            b->longest = (uint32_t)text.len;
    }
    for (unsigned c = 'a'; c <= 'z'; c++)
        t->columns[c - 'a' + 'A'] = t->columns[c];
}

static bool make_room(struct builder *b, struct mk_setup *setup)
{
    struct text_set *t = b->t;
    size_t n = t->nnodes;

    b->nrows = FEW_CELLS / t->ncolumns + t->nnodes / 16;
    if (b->nrows > MAX_CELLS / t->ncolumns)
        b->nrows = MAX_CELLS / t->ncolumns;
    if (b->nrows > t->nnodes)
        b->nrows = t->nnodes;
    t->ncells = b->nrows * t->ncolumns;
    t->rows = mk_setup_alloc(setup, t->ncells * sizeof(*t->rows));
    t->siblings = mk_setup_alloc(setup, n * sizeof(*t->siblings));
    t->shorter = mk_setup_alloc(setup, n * sizeof(*t->shorter));
    t->ends = mk_setup_alloc(setup, n * sizeof(*t->ends));
    t->reached = mk_setup_alloc(setup, n);
    t->next = mk_setup_alloc(setup, ((size_t)b->count + 1) * sizeof(*t->next));
    b->branch = calloc((size_t)b->longest + 1, sizeof(*b->branch));
    b->levels = calloc((size_t)b->longest + 2, sizeof(*b->levels));
    b->depths = calloc(n, sizeof(*b->depths));
    b->ordered = calloc(n, sizeof(*b->ordered));
    b->ranks = calloc(n, sizeof(*b->ranks));
    return t->rows && t->siblings && t->shorter && t->ends && t->reached && t->next && b->branch &&
           b->levels && b->depths && b->ordered && b->ranks;
}

/* ---- the tree ---- */

static void add_node(struct builder *b, uint32_t node, uint32_t depth, char c, bool is_first)
{
    struct text_set *t = b->t;

    if (is_first)
        t->siblings[b->branch[depth - 1]] &= ~leaf;
    else
        t->siblings[b->branch[depth]] |= node;
    t->siblings[node] = leaf;
    t->reached[node] = t->columns[(unsigned char)c];
    b->branch[depth] = node;
    b->depths[node] = depth;
}

static void make_tree(struct builder *b)
{
    struct text_set *t = b->t;
    uint32_t used = 1;

    t->siblings[ROOT] = leaf;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct item *item = &b->items[i];
        uint32_t same = (uint32_t)same_beginning(b->items, i);
        bool is_sibling = i > 0 && b->items[i - 1].text.len > same;

        for (uint32_t k = same; k < item->text.len; k++)
            add_node(b, used++, k + 1, item->text.p[k], k > same || !is_sibling);
        if (same < item->text.len)
            t->ends[b->branch[item->text.len]] = item->number + 1;
        else /* the same text once more */
            t->next[b->items[i - 1].number] = item->number + 1;
    }
}

static void order_by_depth(struct builder *b)
{
    for (uint32_t node = 0; node < b->t->nnodes; node++)
        b->levels[b->depths[node] + 1]++;
    for (uint32_t depth = 0; depth <= b->longest; depth++)
        b->levels[depth + 1] += b->levels[depth];
    for (uint32_t node = 0; node < b->t->nnodes; node++) {
        b->ranks[node] = b->levels[b->depths[node]]++;
        b->ordered[b->ranks[node]] = node;
    }
}

static uint32_t first_child(const struct text_set *t, uint32_t node)
{
    return t->siblings[node] & leaf ? ROOT : node + 1;
}

static uint32_t next_child(const struct text_set *t, uint32_t node)
{
    return t->siblings[node] & ~leaf;
}

/* @return ROOT: there is none. */
static uint32_t find_child(const struct text_set *t, uint32_t node, uint8_t column)
{
    uint32_t child = first_child(t, node);

    while (child != ROOT && t->reached[child] != column)
        child = next_child(t, child);
    return child;
}

/* What ends at the shorter node ends here, too. */
static void join_ends(struct text_set *t, uint32_t node)
{
    uint32_t *link = &t->ends[node];

    while (*link > 0)
        link = &t->next[*link - 1];
    *link = t->ends[t->shorter[node]];
}

/* A node, not yet a state, for each: all that are nearer to the root have theirs. */
static void find_shorter(struct builder *b)
{
    struct text_set *t = b->t;

    for (uint32_t i = 0; i < t->nnodes; i++) {
        uint32_t node = b->ordered[i];

        for (uint32_t child = first_child(t, node); child != ROOT; child = next_child(t, child)) {
            uint32_t from = node, found = ROOT;

            while (from != ROOT && found == ROOT) {
                from = t->shorter[from];
                found = find_child(t, from, t->reached[child]);
            }
            t->shorter[child] = found;
            join_ends(t, child);
        }
    }
}

/* ---- states ---- */

static uint32_t state_of(const struct builder *b, uint32_t node)
{
    uint32_t rank = b->ranks[node];

    return rank < b->nrows ? rank * b->t->ncolumns : b->t->ncells + node;
}

static void make_rows(struct builder *b)
{
    struct text_set *t = b->t;

    for (uint32_t i = 0; i < b->nrows; i++) {
        uint32_t node = b->ordered[i], *row = t->rows + (size_t)i * t->ncolumns;

        if (node != ROOT)
            memcpy(row, t->rows + state_of(b, t->shorter[node]), t->ncolumns * sizeof(*row));
        row[ENDS] = t->ends[node];
        for (uint32_t child = first_child(t, node); child != ROOT; child = next_child(t, child))
            row[t->reached[child]] = state_of(b, child);
    }
    for (uint32_t node = 0; node < t->nnodes; node++)
        t->shorter[node] = state_of(b, t->shorter[node]);
}

int text_set_build(struct text_set *t, struct mk_setup *setup, const struct mk_str *items,
                   uint32_t count)
{
    struct builder b = {.t = t, .count = count};
    int err = MK_E_NOMEM;

    memset(t, 0, sizeof(*t));
    b.items = calloc((size_t)count + 1, sizeof(*b.items));
    if (b.items)
        look_at_items(&b, items);
    if (b.items && make_room(&b, setup)) {
        make_tree(&b);
        order_by_depth(&b);
        find_shorter(&b);
        make_rows(&b);
        err = 0;
    }
    free(b.items);
    free(b.branch);
    free(b.levels);
    free(b.depths);
    free(b.ordered);
    free(b.ranks);
    return err;
}

/* ---- searching ---- */

/* Each step to a shorter node takes back one to a child: two steps a byte on average. */
static uint32_t step(const struct text_set *t, uint32_t state, uint8_t column)
{
    while (state >= t->ncells) {
        uint32_t node = state - t->ncells, child = find_child(t, node, column);

        if (child != ROOT)
            return t->ncells + child;
        state = t->shorter[node];
    }
    return t->rows[state + column];
}

void text_set_find(const struct text_set *t, struct mk_str path, uint8_t *found)
{
    uint32_t state = 0;

    for (size_t i = 0; i < path.len; i++) {
        uint32_t text;

        state = step(t, state, t->columns[(unsigned char)path.p[i]]);
        text = state < t->ncells ? t->rows[state] : t->ends[state - t->ncells];
        for (; text > 0; text = t->next[text - 1]) {
            uint8_t bit = (uint8_t)(1 << (text - 1) % 8);

            if (found[(text - 1) / 8] & bit) /* and all behind it */
                break;
            found[(text - 1) / 8] |= bit;
        }
    }
}

uint32_t text_set_next(const uint8_t *found, uint32_t from, uint32_t count)
{
    while (from < count && !(found[from / 8] >> from % 8 & 1))
        from = found[from / 8] >> from % 8 ? from + 1 : (from / 8 + 1) * 8;
    return from < count ? from : count;
}
