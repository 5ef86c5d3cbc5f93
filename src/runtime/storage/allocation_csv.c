// SPDX-License-Identifier: Apache-2.0
// The table of allocations: one row for each live block that was taken while class MEMORY was on,
// of all devices, sorted by attribute name. MXNet writes it for GPUs, with plain numbers as
// devices; here a device is called what the profile calls it ("cpu/0").
#include "runtime/storage/allocation_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <mxprof/profiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/device_name.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "base/text.h"
#include "runtime/storage/pool.h"

typedef struct csv_row {
    char *attribute;
    uint64_t requested_bytes, rounded_bytes;
    uint64_t address;
    uint32_t device;
    bool reused;
} csv_row;

typedef struct csv_rows {
    csv_row *rows;
    size_t count, capacity;
} csv_rows;

// Gluon's parameters are called UUID_name: 8_4_4_4_12 hexadecimal digits. The part after it, or
// all if there is none.
static const char *without_uuid(const char *name)
{
    static const int groups[] = {8, 4, 4, 4, 12};
    const char *at = name;
    for (int g = 0; g < 5; g++) {
        for (int i = 0; i < groups[g]; i++, at++) {
            if (strchr("0123456789abcdefABCDEF", *at) == NULL || *at == '\0') {
                return name;
            }
        }
        if (*at++ != '_') {
            return name;
        }
    }
    return *at != '\0' ? at : name;
}

static char *attribute_of(const mxn_memory_pool *pool, const mxn_allocation *block)
{
    mxp_strbuf text = {0};
    mxn__scope_text(block->tag.scope, &text);
    mxp_name name = block->tag.name == MXP_NAME_NONE ? pool->unknown : block->tag.name;
    mxp__strbuf_puts(&text, without_uuid(mxp_name_text(name)));
    char *copy = text.failed ? NULL : mxp__strdup(mxp__strbuf_text(&text));
    mxp__strbuf_fini(&text);
    return copy;
}

static int add_pool(mxn_memory_pool *pool, csv_rows *list)
{
    mxn_allocation *blocks;
    size_t count, capacity;
    int error = mxn__pool_snapshot(pool, &blocks, &count, &capacity);
    if (error == MXP_OK) {
        error = mxp__grow(&list->rows, &list->capacity, list->count + count, sizeof *list->rows);
    }
    for (size_t i = 0; error == MXP_OK && i < count; i++) {
        if (!blocks[i].profiled) {
            continue;
        }
        csv_row row = {.attribute = attribute_of(pool, &blocks[i]),
                       .requested_bytes = blocks[i].requested_bytes,
                       .rounded_bytes = blocks[i].rounded_bytes,
                       .address = (uint64_t)(uintptr_t)blocks[i].data,
                       .device = pool->device,
                       .reused = blocks[i].reused != 0};
        error = row.attribute != NULL ? MXP_OK : mxp__fail_memory("the table of allocations");
        list->rows[list->count] = row;
        list->count += error == MXP_OK;
    }
    mxp__free(blocks, capacity * sizeof *blocks);
    return error;
}

static int row_order(const void *left, const void *right)
{
    const csv_row *a = left, *b = right;
    int order = strcmp(a->attribute, b->attribute);
    if (order == 0 && a->device != b->device) {
        order = a->device < b->device ? -1 : 1;
    }
    return order != 0 ? order : a->address < b->address ? -1 : a->address > b->address;
}

static void put_rows(const csv_rows *list, mxp_strbuf *text)
{
    mxp__strbuf_puts(text, "\"Attribute Name\",\"Requested Size\",\"Device\",\"Actual Size\","
                           "\"Reuse?\"\n");
    for (size_t i = 0; i < list->count; i++) {
        const csv_row *row = &list->rows[i];
        char device[MXP__DEVICE_NAME_CHARS];
        mxp__device_name(row->device, device, sizeof device);
        mxp__csv_string(text, row->attribute, strlen(row->attribute));
        mxp__strbuf_printf(text, ",\"%" PRIu64 "\",\"%s\",\"%" PRIu64 "\",\"%d\"\n",
                           row->requested_bytes, device, row->rounded_bytes, row->reused);
    }
}

static int write_file(const char *path, const mxp_strbuf *text)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return mxp__fail(MXP_EIO, "cannot open '%s': %s", path, strerror(errno));
    }
    bool written = fwrite(text->data, 1, text->length, file) == text->length;
    int problem = errno;
    if (fclose(file) != 0 && written) {
        written = false;
        problem = errno;
    }
    return written ? MXP_OK : mxp__fail(MXP_EIO, "cannot write '%s': %s", path, strerror(problem));
}

int mxn_storage_csv_write(const char *path)
{
    csv_rows list = {0};
    mxp_strbuf text = {0};
    int error = MXP_OK;
    for (uint32_t device = 0; error == MXP_OK && device < MXN__DEVICES; device++) {
        mxn_memory_pool *pool = mxn__pool_find(device);
        error = pool != NULL ? add_pool(pool, &list) : MXP_OK;
    }
    if (error == MXP_OK) {
        if (list.count > 0) {
            qsort(list.rows, list.count, sizeof *list.rows, row_order);
        }
        put_rows(&list, &text);
        error =
            text.failed ? mxp__fail_memory("the table of allocations") : write_file(path, &text);
    }
    mxp__strbuf_fini(&text);
    for (size_t i = 0; i < list.count; i++) {
        mxp__strfree(list.rows[i].attribute);
    }
    mxp__free(list.rows, list.capacity * sizeof *list.rows);
    return error;
}

// Only for who asked for it: MXNet has this file where there are GPUs, other programs do not expect
// one. As there, a dump does not fail for this file's sake.
static void write_at_dump(void *context, const mxp_config *config)
{
    (void)context;
    const char *prefix = config->memory_csv_prefix;
    if ((config->classes & MXP_CLASS_MEMORY) == 0 || prefix == NULL || prefix[0] == '\0') {
        return;
    }
    mxp_strbuf path = {0};
    mxp__strbuf_printf(&path, "%s-pid_%u.csv", prefix, (unsigned)mxp__os_process_id());
    if (!path.failed && mxn_storage_csv_write(mxp__strbuf_text(&path)) != MXP_OK) {
        fprintf(stderr, "mxprof: gpu_memory_profile_filename_prefix: %s\n", mxp_last_error());
    }
    mxp__strbuf_fini(&path);
}

void mxn__allocation_csv_observe(void)
{
    mxp_session_observe(mxp_session_get(), write_at_dump, NULL);
}
