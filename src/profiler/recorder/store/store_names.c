// SPDX-License-Identifier: Apache-2.0
// Names in a recording file: NAMES sections that grow by one name at a time; and tables that are
// written anew each time, of modules and of the clock.
#include <string.h>

#include "base/atomic.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_rescue.h"

enum {
    NAMES_BYTES = 65536,  // of a section, if no single name needs more
    TABLE_BYTES = 65536  // all there can be of modules (MXP__MODULES_MOST) or cuts
};

static void *extend_names(mxp_recording_file *store, uint64_t entry_bytes)
{
    mxp_section *section = store->names;
    if (section == NULL ||
        sizeof *section + section->payload_bytes + entry_bytes > section->length_bytes) {
        uint64_t wanted = mxp__store_page_up(sizeof *section + 2 * sizeof(uint32_t) + entry_bytes);
        section = mxp__store_allocate(store, MXP_SECTION_NAMES,
                                      wanted < NAMES_BYTES ? NAMES_BYTES : wanted);
        store->names = section;
        if (section == NULL) {
            return NULL;
        }
    }
    return (char *)(section + 1) + section->payload_bytes;
}

static uint64_t put_name(char *to, const mxp_name_view *name)
{
    const uint32_t head[3] = {name->category, name->style | (uint32_t)name->unit << 8,
                              name->length};
    memcpy(to, head, sizeof head);
    memcpy(to + sizeof head, name->text, name->length);  // the zeros after it are there
    return (sizeof head + name->length + 1 + 3) & ~UINT64_C(3);
}

// The count is raised last: a name that is not whole does not count.
void mxp__store_add_name(uint32_t id, const mxp_name_view *name)
{
    mxp_recording_file *store = mxp_atomic_load_acquire(&mxp__store_active);
    if (store == NULL || mxp__store_is_damaged(store)) {
        return;
    }
    mxp_section *before = store->names;
    char *to = extend_names(store, sizeof(uint32_t) * 3 + (uint64_t)name->length + 4);
    if (to == NULL) {
        return;  // the disk is full: readers show <lost name>
    }
    uint32_t *counts = (uint32_t *)(store->names + 1);  // first id, count
    if (store->names != before) {
        counts[0] = id;
        store->names->payload_bytes = 2 * sizeof *counts;
        to += 2 * sizeof *counts;
    }
    uint64_t size_bytes = put_name(to, name);
    mxp_word_store_release(&store->names->payload_bytes, store->names->payload_bytes + size_bytes);
    mxp_word_store_release(&counts[1], id - counts[0] + 1);
}

// An entry does not count before the content reaches behind it; of a table that has become shorter,
// which others may then be in the place of those before, nothing counts meanwhile.
void mxp__store_put_table(unsigned type, const void *table, size_t size_bytes)
{
    mxp_recording_file *store = mxp_atomic_load_acquire(&mxp__store_active);
    if (size_bytes == 0 || store == NULL || mxp__store_is_damaged(store)) {
        return;
    }
    mxp_section **section = &store->tables[type - MXP_SECTION_MODULES];
    if (*section == NULL) {
        *section = mxp__store_allocate(store, type, TABLE_BYTES);
    }
    if (*section != NULL) {
        if (size_bytes < (*section)->payload_bytes) {
            mxp_word_store_release(&(*section)->payload_bytes, 0);
        }
        memcpy(*section + 1, table, size_bytes);
        mxp_word_store_release(&(*section)->payload_bytes, size_bytes);
    }
}
