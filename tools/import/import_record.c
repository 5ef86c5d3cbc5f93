// SPDX-License-Identifier: Apache-2.0
// Records, as a recorder would have written them.
#include <mxprof/error.h>

#include "import/import_state.h"

static mxp_spooled *add(mxp_import *import, mxp_import_row row, int64_t begin_ns, int64_t end_ns,
                        uint32_t units, int *error)
{
    mxp_spooled *record = mxp__import_spool_add(import->spool, units, error);
    if (record == NULL) {
        return NULL;
    }
    mxp_import_thread *thread = mxp__import_thread(&import->rows, row);
    record->rank = thread->rank;
    record->begin_ticks = mxp__import_ticks(begin_ns);
    record->end_ticks = mxp__import_ticks(end_ns);
    thread->records++;
    thread->first_ns = begin_ns < thread->first_ns ? begin_ns : thread->first_ns;
    thread->last_ns = end_ns > thread->last_ns ? end_ns : thread->last_ns;
    import->first_ns = begin_ns < import->first_ns ? begin_ns : import->first_ns;
    return record;
}

static uint64_t head(uint32_t kind, uint32_t units, int64_t ns)
{
    return kind | (uint64_t)units << 8 | mxp__import_ticks(ns) << 16;
}

static int put_long_span(mxp_import *import, const mxp_import_span *span)
{
    enum { PLAIN_UNITS = 3 };
    uint32_t units = PLAIN_UNITS + (span->args != NULL ? mxp__import_args_units(span->args) : 0);
    uint32_t count = span->args != NULL ? span->args->count : 0;
    uint32_t flags = span->flags;
    flags |= span->args != NULL && span->args->cut ? (uint32_t)MXP_SPAN_ARGS_CUT : 0u;
    int error;
    mxp_spooled *record = add(import, span->row, span->begin_ns, span->end_ns, units, &error);
    if (record == NULL) {
        return error;
    }
    uint64_t *words = record->words;
    words[0] = head(MXP_KIND_SPAN_LONG, units, span->begin_ns);
    words[1] = span->name | (uint64_t)flags << 32 | (uint64_t)count << 48;
    words[2] = (uint64_t)(span->end_ns - span->begin_ns);
    words[3] = mxp__import_ticks(span->begin_ns);
    words[4] = span->lane;
    words[5] = 0;
    if (span->args != NULL) {
        mxp__import_args_put(span->args, words);
    }
    return MXP_OK;
}

int mxp__import_put_span(mxp_import *import, const mxp_import_span *span)
{
    uint64_t duration = (uint64_t)(span->end_ns - span->begin_ns);
    bool has_args = span->args != NULL && span->args->count > 0;
    if (span->flags != 0 || span->lane != 0 || has_args || duration > UINT32_MAX) {
        return put_long_span(import, span);
    }
    int error;
    mxp_spooled *record = add(import, span->row, span->begin_ns, span->end_ns, 1, &error);
    if (record != NULL) {
        record->words[0] = head(MXP_KIND_SPAN, 1, span->begin_ns);
        record->words[1] = span->name | duration << 32;
    }
    return error;
}

// A record of a moment, with up to four words of its own.
static int put_moment(mxp_import *import, mxp_import_row row, int64_t ns, uint32_t kind,
                      uint32_t units, const uint64_t own[])
{
    int error;
    mxp_spooled *record = add(import, row, ns, ns, units, &error);
    if (record != NULL) {
        record->words[0] = head(kind, units, ns);
        for (uint32_t i = 0; i + 1 < 2 * units; i++) {
            record->words[1 + i] = own[i];
        }
    }
    return error;
}

int mxp__import_put_instant(mxp_import *import, mxp_import_row row, int64_t ns, uint32_t name,
                            uint32_t scope)
{
    const uint64_t own[] = {name | (uint64_t)scope << 32};
    return put_moment(import, row, ns, MXP_KIND_INSTANT, 1, own);
}

int mxp__import_put_counter(mxp_import *import, mxp_import_row row, int64_t ns, uint32_t name,
                            uint32_t type, uint64_t bits)
{
    const uint64_t own[] = {name | (uint64_t)type << 32, bits, 0};
    return put_moment(import, row, ns, MXP_KIND_COUNTER, 2, own);
}

int mxp__import_put_flow(mxp_import *import, mxp_import_row row, int64_t ns, uint32_t name,
                         uint32_t phase, uint64_t id, uint32_t lane)
{
    const uint64_t own[] = {name | (uint64_t)phase << 32, id, lane};
    return put_moment(import, row, ns, MXP_KIND_FLOW, 2, own);
}

int mxp__import_put_meta(mxp_import *import, mxp_import_row row, int64_t ns, uint32_t what,
                         uint64_t value)
{
    const uint64_t own[] = {(uint64_t)what << 32, value, 0};
    return put_moment(import, row, ns, MXP_KIND_META, 2, own);
}

int mxp__import_put_memory(mxp_import *import, mxp_import_row row, int64_t ns, uint32_t name,
                           const mxp_import_memory *memory)
{
    bool is_free = memory->bytes < 0;
    uint64_t bytes = is_free ? 0 - (uint64_t)memory->bytes : (uint64_t)memory->bytes;
    uint64_t flags = is_free ? MXP_MEM_FREE : 0;
    const uint64_t own[] = {
        name, (memory->block & MXP_STAMP_MASK) | (uint64_t)memory->device << 48 | flags << 56,
        bytes, bytes, memory->live_bytes};
    return put_moment(import, row, ns, MXP_KIND_MEMORY, 3, own);
}
