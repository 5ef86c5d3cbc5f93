// SPDX-License-Identifier: Apache-2.0
// Rows of memory. What is not recorded and what has no owner of its own stay rows of their own, by
// whatever the others are added up.
#include "memory_rows.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/export/scope_path.h"

typedef struct row_place {
    uint64_t key;
    size_t row;
} row_place;

// 1 + a number, so that no key is 0. Owners that are none come first.
static uint64_t key_of(const mxp_owner *owner, uint32_t i, int by)
{
    uint64_t id = by == MXP_MEMORY_BY_SCOPE      ? owner->scope
                  : by == MXP_MEMORY_BY_ARRAY    ? owner->name
                  : by == MXP_MEMORY_BY_CATEGORY ? owner->category
                                                 : i;
    return 1 + (i < MXP__OWNER_FIRST ? i : MXP__OWNER_FIRST + id);
}

static mxp_memory_row *find_row(mxp_memory_rows *rows, mxp_id_map *places, uint64_t key,
                                uint32_t owner)
{
    row_place *place = mxp__id_map_find(places, key);
    if (place == NULL) {
        int error = mxp__grow(&rows->rows, &rows->capacity, rows->count + 1, sizeof *rows->rows);
        place = error == MXP_OK ? mxp__id_map_add(places, key) : NULL;
        if (place == NULL) {
            return NULL;
        }
        place->row = rows->count;
        rows->rows[rows->count++] = (mxp_memory_row){.owner = owner};
    }
    return &rows->rows[place->row];
}

static void add_amount(mxp_owner_amount *sum, const mxp_owner_amount *more)
{
    sum->bytes += more->bytes;
    sum->rounding_bytes += more->rounding_bytes;
    sum->blocks += more->blocks;
}

static int by_bytes(const void *a, const void *b)
{
    const mxp_memory_row *left = a, *right = b;
    uint64_t l = left->amount.bytes, r = right->amount.bytes;
    if (l == r) {
        return (left->owner > right->owner) - (left->owner < right->owner);
    }
    return (l < r) - (l > r);
}

static int by_fresh_bytes(const void *a, const void *b)
{
    const mxp_memory_row *left = a, *right = b;
    uint64_t l = left->fresh_bytes, r = right->fresh_bytes;
    return l == r ? by_bytes(a, b) : (l < r) - (l > r);
}

static bool is_taken(const mxp_filter *filter, const mxp_owner *owner, uint32_t i)
{
    bool is_all = filter == NULL || (filter->chosen[MXP_FILTER_NAME] == NULL &&
                                     filter->chosen[MXP_FILTER_SCOPE] == NULL);
    return is_all ||
           (i >= MXP__OWNER_FIRST && mxp__filter_takes_id(filter, MXP_FILTER_NAME, owner->name) &&
            mxp__filter_takes_id(filter, MXP_FILTER_SCOPE, owner->scope));
}

static int add_owner(mxp_memory_rows *rows, mxp_id_map *places, const mxp_memory_device *device,
                     const mxp_filter *filter, int by, int moment, uint32_t i)
{
    const mxp_owner *owner = &device->owners.owners[i];
    mxp_owner_amount amount = mxp__owners_at(&device->owners, i, moment);
    mxp_memory_row *row = is_taken(filter, owner, i)
                              ? find_row(rows, places, key_of(owner, i, by), i)
                              : &rows->left_out;
    if (row == NULL) {
        return mxp__fail_memory("the table of memory");
    }
    add_amount(&row->amount, &amount);
    add_amount(&rows->total, &amount);
    if (i >= MXP__OWNER_FIRST) {
        row->by_category[owner->category % MXP_MEMORY_CATEGORIES] += amount.bytes;
    }
    row->fresh_blocks += owner->fresh_blocks;
    row->fresh_bytes += owner->fresh_bytes;
    row->fresh_steps =
        owner->fresh_steps > row->fresh_steps ? owner->fresh_steps : row->fresh_steps;
    return MXP_OK;
}

int mxp__memory_rows_make(const mxp_memory_device *device, const mxp_filter *filter, int by,
                          int moment, bool fresh, mxp_memory_rows *rows)
{
    *rows = (mxp_memory_rows){0};
    mxp_id_map places = {.entry_bytes = sizeof(row_place)};
    int error = MXP_OK;
    for (uint32_t i = 0; i < device->owners.count && error == MXP_OK; i++) {
        uint64_t bytes = fresh ? device->owners.owners[i].fresh_bytes
                               : mxp__owners_at(&device->owners, i, moment).bytes;
        error = bytes == 0 ? MXP_OK : add_owner(rows, &places, device, filter, by, moment, i);
    }
    if (rows->count > 0) {
        qsort(rows->rows, rows->count, sizeof *rows->rows, fresh ? by_fresh_bytes : by_bytes);
    }
    mxp__id_map_fini(&places);
    return error;
}

void mxp__memory_rows_fini(mxp_memory_rows *rows)
{
    mxp__free(rows->rows, rows->capacity * sizeof *rows->rows);
    *rows = (mxp_memory_rows){0};
}

void mxp__memory_rows_rest(const mxp_memory_rows *rows, size_t from, mxp_memory_row *rest)
{
    for (size_t i = from; i < rows->count; i++) {
        const mxp_memory_row *row = &rows->rows[i];
        rest->amount.bytes += row->amount.bytes;
        rest->amount.blocks += row->amount.blocks;
        for (int k = 0; k < MXP_MEMORY_CATEGORIES; k++) {
            rest->by_category[k] += row->by_category[k];
        }
        rest->fresh_blocks += row->fresh_blocks;
        rest->fresh_bytes += row->fresh_bytes;
    }
}

// ---- names -------------------------------------------------------------------------------------
const char *mxp__memory_category(uint32_t category)
{
    static const char *const words[] = {"other",       "parameter",   "gradient",    "optimizer",
                                        "output",      "input",       "workspace",   "auxiliary",
                                        "kvstore",     "ephemeral",   "category 10", "category 11",
                                        "category 12", "category 13", "category 14", "category 15"};
    return words[category % MXP_MEMORY_CATEGORIES];
}

static void put_scope(const mxp_source *source, uint32_t scope, mxp_strbuf *out)
{
    if (scope == 0) {
        mxp__strbuf_puts(out, "<no scope>");
        return;
    }
    mxp__scope_path(source, scope, out);
    if (out->length > 1 && out->data[out->length - 1] == ':') {  // as MXNet's layers end
        out->data[--out->length] = '\0';
    }
}

static void put_array(const mxp_source *source, uint32_t name, mxp_strbuf *out)
{
    mxp_name_view view = source->name(source, name);
    if (view.length == 0) {
        mxp__strbuf_puts(out, "<no name>");
    }
    mxp__strbuf_append(out, view.text, view.length);
}

void mxp__memory_row_name(const mxp_source *source, const mxp_memory_device *device, int by,
                          uint32_t i, mxp_strbuf *out)
{
    const mxp_owner *owner = &device->owners.owners[i];
    if (i == MXP__OWNER_NOT_RECORDED) {
        mxp__strbuf_puts(out, device->gaps == 0 ? "<before recording>" : "<not recorded>");
    } else if (i == MXP__OWNER_OTHERS) {
        mxp__strbuf_puts(out, "<other owners>");
    } else if (by == MXP_MEMORY_BY_SCOPE) {
        put_scope(source, owner->scope, out);
    } else if (by == MXP_MEMORY_BY_ARRAY) {
        put_array(source, owner->name, out);
    } else if (by == MXP_MEMORY_BY_CATEGORY) {
        mxp__strbuf_puts(out, mxp__memory_category(owner->category));
    } else {
        put_scope(source, owner->scope, out);
        mxp__strbuf_putc(out, ' ');
        put_array(source, owner->name, out);
    }
}
