// SPDX-License-Identifier: Apache-2.0
#include "import/import_names.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/checksum.h"

typedef struct name_entry {
    uint64_t key;
    uint32_t id;
} name_entry;

static const char memory_for[] = "the names of an imported trace";

static int add_name(mxp_import_names *names, const char *text, size_t length, mxp_import_name name)
{
    if (mxp__grow(&names->names, &names->capacity, names->count + 1, sizeof *names->names) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    name.at = names->texts.length;
    name.length = (uint32_t)length;
    mxp__strbuf_append(&names->texts, text, length);
    mxp__strbuf_append(&names->texts, "", 1);
    if (names->texts.failed) {
        return mxp__fail_memory(memory_for);
    }
    for (char *zero = names->texts.data + name.at;
         (zero = memchr(zero, '\0',
                        names->texts.length - 1 - (size_t)(zero - names->texts.data))) != NULL;) {
        *zero = '?';
    }
    names->names[names->count++] = name;
    ++*names->total;
    return MXP_OK;
}

int mxp__import_names_init(mxp_import_names *names, size_t *total)
{
    *names = (mxp_import_names){.ids = {.entry_bytes = sizeof(name_entry)}, .total = total};
    int error = add_name(names, "", 0, (mxp_import_name){0});
    return error == MXP_OK ? add_name(names, "<names full>", 12, (mxp_import_name){0}) : error;
}

void mxp__import_names_fini(mxp_import_names *names)
{
    mxp__id_map_fini(&names->ids);
    mxp__free(names->names, names->capacity * sizeof *names->names);
    mxp__strbuf_fini(&names->texts);
}

static bool is_same(const mxp_import_names *names, uint32_t id, const char *text, size_t length,
                    const mxp_import_name *wanted)
{
    const mxp_import_name *name = &names->names[id];
    return name->length == length && name->category == wanted->category &&
           name->style == wanted->style && name->unit == wanted->unit &&
           memcmp(names->texts.data + name->at, text, length) == 0;
}

int mxp__import_name(mxp_import_names *names, const char *text, size_t length, uint32_t category,
                     uint8_t style, uint8_t unit, uint32_t *id)
{
    mxp_import_name wanted = {.category = category, .style = style, .unit = unit};
    uint64_t key =
        mxp__checksum(text, length) ^
        ((uint64_t)category << 16 | (uint64_t)style << 8 | unit) * UINT64_C(0xd6e8feb86659fd93);
    for (key |= key == 0;; key += 1 + (key + 1 == 0)) {
        const name_entry *found = mxp__id_map_find(&names->ids, key);
        if (found == NULL) {
            break;
        }
        if (is_same(names, found->id, text, length, &wanted)) {
            *id = found->id;
            return MXP_OK;
        }
    }
    if (*names->total >= MXP__IMPORT_NAMES_MAX) {
        names->full++;
        *id = MXP_NAME_FULL;
        return MXP_OK;
    }
    name_entry *entry = mxp__id_map_add(&names->ids, key);
    if (entry == NULL) {
        return mxp__fail_memory(memory_for);
    }
    *id = entry->id = (uint32_t)names->count;
    return add_name(names, text, length, wanted);
}

mxp_name_view mxp__import_name_view(const mxp_import_names *names, uint32_t id)
{
    if (id >= names->count) {
        return (mxp_name_view){.text = "<bad name>", .length = 10};
    }
    const mxp_import_name *name = &names->names[id];
    return (mxp_name_view){.text = names->texts.data + name->at,
                           .length = name->length,
                           .category = name->category,
                           .style = name->style,
                           .unit = name->unit};
}
