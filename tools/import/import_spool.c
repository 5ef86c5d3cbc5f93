// SPDX-License-Identifier: Apache-2.0
// See import_spool.h. Times of equal records: what has no duration comes first, in the order of the
// file; then spans, those that began later first, because they lie within the others; of spans
// that are equal in both, the one that the file has later.
#include "import/import_spool.h"

#include <errno.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/temporary_file.h"
#include "profiler/trace/file/file_bytes.h"

enum {
    ARENA_BYTES = 8 << 20,  // at most
    RECORD_BYTES_MAX = sizeof(mxp_spooled) + 255 * MXP_RECORD_UNIT,
    MERGE_BYTES = 8 << 20,  // of all parts together
    PART_BYTES_LEAST = 2 * RECORD_BYTES_MAX,
    SLOTS = ARENA_BYTES / (sizeof(mxp_spooled) + MXP_RECORD_UNIT)
};

// Where a record is, and the front of what it is sorted by.
typedef struct slot {
    uint64_t end_ticks;
    uint32_t rank, place;  // place: in 8 bytes
} slot;

// A sorted part of the file, and the piece of it that is in memory.
typedef struct part {
    uint64_t from, to;  // what is still to be read
    char *piece;
    size_t at, end;
} part;

struct mxp_import_spool {
    char *arena;
    size_t used, arena_bytes;
    slot *slots;
    size_t count, slot_capacity, taken;
    int fd;  // -1: everything fits into the arena
    mxp_strbuf path;
    uint64_t written;
    part *parts;
    size_t part_count, part_capacity;
    size_t *heap, heap_count;  // parts, the one with the next record on top
    size_t piece_bytes;
    char *pieces;
    bool top_is_used;
};

static const char memory_for[] = "sorting an imported trace";

// ---- order -------------------------------------------------------------------------------------
static const mxp_spooled *record_at(const char *base, size_t at)
{
    return (const mxp_spooled *)(const void *)(base + at);
}

static bool has_duration(const mxp_spooled *record)
{
    uint32_t kind = (uint32_t)(record->words[0] & 0xff);
    return kind == MXP_KIND_SPAN || kind == MXP_KIND_SPAN_LONG;
}

// Two of one thread with the same end; `a_is_first` in the file.
static int compare_ties(const mxp_spooled *a, const mxp_spooled *b, bool a_is_first)
{
    bool a_lasts = has_duration(a), b_lasts = has_duration(b);
    if (a_lasts != b_lasts) {
        return a_lasts - b_lasts;
    }
    if (a_lasts && a->begin_ticks != b->begin_ticks) {
        return a->begin_ticks > b->begin_ticks ? -1 : 1;
    }
    return a_is_first != a_lasts ? -1 : 1;
}

static int compare_slots(const void *a, const void *b, void *base)
{
    const slot *x = a, *y = b;
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    if (x->end_ticks != y->end_ticks) {
        return x->end_ticks < y->end_ticks ? -1 : 1;
    }
    return x->place == y->place
               ? 0
               : compare_ties(record_at(base, (size_t)x->place * 8),
                              record_at(base, (size_t)y->place * 8), x->place < y->place);
}

// Only now are the records filled.
static void sort_slots(mxp_import_spool *spool)
{
    for (size_t i = 0; i < spool->count; i++) {
        slot *each = &spool->slots[i];
        const mxp_spooled *record = record_at(spool->arena, (size_t)each->place * 8);
        each->end_ticks = record->end_ticks;
        each->rank = record->rank;
    }
    if (spool->count > 0) {
        qsort_r(spool->slots, spool->count, sizeof *spool->slots, compare_slots, spool->arena);
    }
}

// ---- adding ------------------------------------------------------------------------------------
int mxp__import_spool_open(mxp_import_spool **opened)
{
    mxp_import_spool *spool = *opened = mxp__alloc(sizeof *spool);
    if (spool == NULL) {
        return mxp__fail_memory(memory_for);
    }
    spool->fd = -1;
    return MXP_OK;
}

static void free_arena(mxp_import_spool *spool)
{
    mxp__free(spool->arena, spool->arena_bytes);
    mxp__free(spool->slots, spool->slot_capacity * sizeof *spool->slots);
    spool->arena = NULL;
    spool->slots = NULL;
    spool->arena_bytes = spool->slot_capacity = 0;
}

void mxp__import_spool_close(mxp_import_spool *spool)
{
    if (spool == NULL) {
        return;
    }
    free_arena(spool);
    mxp__free(spool->pieces, spool->part_count * spool->piece_bytes);
    mxp__free(spool->heap, spool->part_count * sizeof *spool->heap);
    mxp__free(spool->parts, spool->part_capacity * sizeof *spool->parts);
    mxp__strbuf_fini(&spool->path);
    if (spool->fd >= 0) {
        close(spool->fd);
    }
    mxp__free(spool, sizeof *spool);
}

static int fail_write(const mxp_import_spool *spool)
{
    return mxp__fail(MXP_EIO, "cannot write '%s', where an imported trace is sorted: %s",
                     mxp__strbuf_text(&spool->path), strerror(errno));
}

// Nobody else sees the file: it has no name once it is made.
static int make_file(mxp_import_spool *spool)
{
    spool->fd = mxp__temporary_file_make(&spool->path);
    if (spool->fd < 0) {
        return fail_write(spool);
    }
    unlink(spool->path.data);
    return MXP_OK;
}

static int write_all(mxp_import_spool *spool, const char *data, size_t size_bytes)
{
    while (size_bytes > 0) {
        ssize_t done = write(spool->fd, data, size_bytes);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return fail_write(spool);
        }
        data += done;
        size_bytes -= (size_t)done;
        spool->written += (uint64_t)done;
    }
    return MXP_OK;
}

static size_t bytes_of(const mxp_spooled *record)
{
    return sizeof *record + (size_t)record->units * MXP_RECORD_UNIT;
}

// The records of the arena in their order, through a buffer.
static int write_sorted(mxp_import_spool *spool, char *buffer, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < spool->count; i++) {
        const mxp_spooled *record = record_at(spool->arena, (size_t)spool->slots[i].place * 8);
        size_t bytes = bytes_of(record);
        if (used + bytes > room) {
            int error = write_all(spool, buffer, used);
            if (error != MXP_OK) {
                return error;
            }
            used = 0;
        }
        memcpy(buffer + used, record, bytes);
        used += bytes;
    }
    return write_all(spool, buffer, used);
}

static int write_part(mxp_import_spool *spool)
{
    enum { BUFFER_BYTES = 1 << 18 };
    int error = spool->fd < 0 ? make_file(spool) : MXP_OK;
    if (error != MXP_OK) {
        return error;
    }
    char *buffer = mxp__alloc(BUFFER_BYTES);
    if (buffer == NULL || mxp__grow(&spool->parts, &spool->part_capacity, spool->part_count + 1,
                                    sizeof *spool->parts) != MXP_OK) {
        mxp__free(buffer, BUFFER_BYTES);
        return mxp__fail_memory(memory_for);
    }
    uint64_t from = spool->written;
    sort_slots(spool);
    error = write_sorted(spool, buffer, BUFFER_BYTES);
    mxp__free(buffer, BUFFER_BYTES);
    spool->parts[spool->part_count++] = (part){.from = from, .to = spool->written};
    spool->count = 0;
    spool->used = 0;
    return error;
}

mxp_spooled *mxp__import_spool_add(mxp_import_spool *spool, uint32_t units, int *error)
{
    size_t bytes = sizeof(mxp_spooled) + (size_t)units * MXP_RECORD_UNIT;
    *error = MXP_OK;
    if (spool->used + bytes > ARENA_BYTES || spool->count == SLOTS) {
        *error = write_part(spool);
        if (*error != MXP_OK) {
            return NULL;
        }
    }
    if (mxp__grow(&spool->arena, &spool->arena_bytes, spool->used + bytes, 1) != MXP_OK ||
        mxp__grow(&spool->slots, &spool->slot_capacity, spool->count + 1, sizeof *spool->slots) !=
            MXP_OK) {
        *error = mxp__fail_memory(memory_for);
        return NULL;
    }
    mxp_spooled *record = (mxp_spooled *)(void *)(spool->arena + spool->used);
    spool->slots[spool->count++].place = (uint32_t)(spool->used / 8);
    record->units = units;
    spool->used += bytes;
    return record;
}

// ---- merging -----------------------------------------------------------------------------------
// At least one whole record in the piece, if there is one. 1, 0 or an error.
static int fill_piece(mxp_import_spool *spool, part *from)
{
    size_t held = from->end - from->at;
    bool is_whole =
        held >= sizeof(mxp_spooled) && held >= bytes_of(record_at(from->piece, from->at));
    if (is_whole || (held == 0 && from->from == from->to)) {
        return is_whole;
    }
    memmove(from->piece, from->piece + from->at, held);
    size_t room = spool->piece_bytes - held;
    size_t wanted = from->to - from->from < room ? (size_t)(from->to - from->from) : room;
    if (mxp__file_read_at(spool->fd, from->piece + held, wanted, from->from) != wanted) {
        return mxp__fail(MXP_EIO, "cannot read '%s', where an imported trace is sorted: %s",
                         mxp__strbuf_text(&spool->path), strerror(errno));
    }
    from->from += wanted;
    from->at = 0;
    from->end = held + wanted;
    return 1;
}

static bool comes_before(const mxp_import_spool *spool, size_t a, size_t b)
{
    const part *x = &spool->parts[a], *y = &spool->parts[b];
    const mxp_spooled *left = record_at(x->piece, x->at), *right = record_at(y->piece, y->at);
    if (left->rank != right->rank) {
        return left->rank < right->rank;
    }
    return left->end_ticks != right->end_ticks ? left->end_ticks < right->end_ticks
                                               : compare_ties(left, right, a < b) < 0;
}

static void sift_down(mxp_import_spool *spool, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < spool->heap_count; child++) {
            least = comes_before(spool, spool->heap[child], spool->heap[least]) ? child : least;
        }
        if (least == at) {
            return;
        }
        size_t moved = spool->heap[at];
        spool->heap[at] = spool->heap[least];
        spool->heap[least] = moved;
        at = least;
    }
}

static int begin_merge(mxp_import_spool *spool)
{
    size_t share = MERGE_BYTES / spool->part_count / 16 * 16;
    spool->piece_bytes = share > PART_BYTES_LEAST ? share : PART_BYTES_LEAST;
    spool->pieces = mxp__alloc(spool->part_count * spool->piece_bytes);
    spool->heap = mxp__alloc(spool->part_count * sizeof *spool->heap);
    if (spool->pieces == NULL || spool->heap == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < spool->part_count; i++) {
        spool->parts[i].piece = spool->pieces + i * spool->piece_bytes;
        int found = fill_piece(spool, &spool->parts[i]);
        if (found < 0) {
            return found;
        }
        spool->heap[spool->heap_count] = i;
        spool->heap_count += (size_t)found;
    }
    for (size_t i = spool->heap_count; i-- > 0;) {
        sift_down(spool, i);
    }
    return MXP_OK;
}

int mxp__import_spool_finish(mxp_import_spool *spool)
{
    if (spool->part_count == 0) {
        sort_slots(spool);
        return MXP_OK;
    }
    int error = spool->count > 0 ? write_part(spool) : MXP_OK;
    free_arena(spool);
    return error == MXP_OK ? begin_merge(spool) : error;
}

// Takes the record on top away.
static int drop_top(mxp_import_spool *spool)
{
    part *top = &spool->parts[spool->heap[0]];
    top->at += bytes_of(record_at(top->piece, top->at));
    int found = fill_piece(spool, top);
    if (found < 0) {
        return found;
    }
    if (found == 0) {
        spool->heap[0] = spool->heap[--spool->heap_count];
    }
    sift_down(spool, 0);
    return MXP_OK;
}

int mxp__import_spool_next(mxp_import_spool *spool, const mxp_spooled **record)
{
    if (spool->part_count == 0) {
        if (spool->taken == spool->count) {
            return 0;
        }
        *record = record_at(spool->arena, (size_t)spool->slots[spool->taken++].place * 8);
        return 1;
    }
    int error = spool->top_is_used ? drop_top(spool) : MXP_OK;
    if (error != MXP_OK || spool->heap_count == 0) {
        return error;
    }
    const part *top = &spool->parts[spool->heap[0]];
    *record = record_at(top->piece, top->at);
    spool->top_is_used = true;
    return 1;
}
