// SPDX-License-Identifier: Apache-2.0
// Who owns the live memory of a device: by scope and array name. Also the text of running out.
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/device_name.h"
#include "base/fail.h"
#include "runtime/storage/pool.h"

enum { OWNERS_SHOWN = 5, SCOPE_DEPTH_MAX = 64 };

void mxn__scope_text(uint32_t scope, mxp_strbuf *text)
{
    uint32_t path[SCOPE_DEPTH_MAX];
    size_t depth = 0;
    for (; scope != MXP_NAME_NONE && depth < SCOPE_DEPTH_MAX; scope = mxp_name_category(scope)) {
        path[depth++] = scope;
    }
    if (depth == 0) {
        mxp__strbuf_puts(text, "<unk>:");
    }
    while (depth > 0) {
        mxp__strbuf_puts(text, mxp_name_text(path[--depth]));
        if (text->length == 0 || text->data[text->length - 1] != ':') {
            mxp__strbuf_putc(text, ':');
        }
    }
}

static int by_owner(const void *left, const void *right)
{
    const mxn_owner *a = left, *b = right;
    if (a->scope != b->scope) {
        return a->scope < b->scope ? -1 : 1;
    }
    return a->name < b->name ? -1 : a->name > b->name;
}

static int by_bytes(const void *left, const void *right)
{
    const mxn_owner *a = left, *b = right;
    if (a->live_bytes != b->live_bytes) {
        return a->live_bytes > b->live_bytes ? -1 : 1;
    }
    return by_owner(left, right);
}

// Makes owners of blocks, in place: returns how many.
static size_t merge(mxn_owner *owners, size_t count)
{
    qsort(owners, count, sizeof *owners, by_owner);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && by_owner(&owners[kept - 1], &owners[i]) == 0) {
            owners[kept - 1].live_bytes += owners[i].live_bytes;
            owners[kept - 1].live_blocks++;
        } else {
            owners[kept++] = owners[i];
        }
    }
    qsort(owners, kept, sizeof *owners, by_bytes);
    return kept;
}

static int collect(mxn_memory_pool *pool, mxn_owner **owners, size_t *count, size_t *capacity)
{
    mxn_allocation *blocks;
    size_t blocks_capacity;
    int error = mxn__pool_snapshot(pool, &blocks, count, &blocks_capacity);
    *owners = NULL;
    *capacity = 0;
    if (error == MXP_OK && *count > 0) {
        error = mxp__grow(owners, capacity, *count, sizeof **owners);
    }
    for (size_t i = 0; error == MXP_OK && i < *count; i++) {
        mxp_name name = blocks[i].tag.name;
        (*owners)[i] = (mxn_owner){.scope = blocks[i].tag.scope,
                                   .name = name == MXP_NAME_NONE ? pool->unknown : name,
                                   .live_bytes = blocks[i].requested_bytes,
                                   .live_blocks = 1};
    }
    mxp__free(blocks, blocks_capacity * sizeof *blocks);
    if (error == MXP_OK && *count > 0) {
        *count = merge(*owners, *count);
    }
    return error;
}

int mxn_storage_owners(uint32_t device, mxn_owner *owners, int size)
{
    mxn_memory_pool *pool = mxn__pool_find(device);
    if (pool == NULL) {
        return 0;
    }
    mxn_owner *all;
    size_t count, capacity;
    int error = collect(pool, &all, &count, &capacity);
    for (size_t i = 0; error == MXP_OK && i < count && (int)i < size; i++) {
        owners[i] = all[i];
    }
    mxp__free(all, capacity * sizeof *all);
    return error == MXP_OK ? (int)count : error;
}

static void put_owners(mxn_memory_pool *pool, mxp_strbuf *text)
{
    mxn_owner *owners;
    size_t count, capacity;
    if (collect(pool, &owners, &count, &capacity) == MXP_OK && count > 0) {
        mxp__strbuf_puts(text, " Biggest owners:");
        for (size_t i = 0; i < count && i < OWNERS_SHOWN; i++) {
            mxp__strbuf_puts(text, i > 0 ? ", " : " ");
            mxn__scope_text(owners[i].scope, text);
            mxp__strbuf_printf(text, "%s %" PRIu64 " bytes in %" PRIu64 " block%s",
                               mxp_name_text(owners[i].name), owners[i].live_bytes,
                               owners[i].live_blocks, owners[i].live_blocks == 1 ? "" : "s");
        }
        if (count > OWNERS_SHOWN) {
            mxp__strbuf_printf(text, ", and %zu more", count - OWNERS_SHOWN);
        }
        mxp__strbuf_putc(text, '.');
    }
    mxp__free(owners, capacity * sizeof *owners);
}

int mxn__owners_fail(mxn_memory_pool *pool, uint64_t bytes, const mxn_tag *tag)
{
    mxn_storage_counts counts;
    mxn_storage_counts_get(pool->device, &counts);
    char device[MXP__DEVICE_NAME_CHARS];
    mxp__device_name(pool->device, device, sizeof device);
    mxp_strbuf text = {0};
    mxp__strbuf_printf(&text, "out of memory on %s: %" PRIu64 " bytes wanted for ", device, bytes);
    mxn__scope_text(tag->scope, &text);
    mxp__strbuf_printf(&text, "%s; %" PRIu64 " bytes live in %" PRIu64 " blocks.",
                       mxp_name_text(tag->name == MXP_NAME_NONE ? pool->unknown : tag->name),
                       counts.live_bytes, counts.live_blocks);
    put_owners(pool, &text);
    int error = text.failed || text.length == 0
                    ? mxp__fail(MXP_ENOMEM, "out of memory on %s", device)
                    : mxp__fail(MXP_ENOMEM, "%s", mxp__strbuf_text(&text));
    mxp__strbuf_fini(&text);
    return error;
}
