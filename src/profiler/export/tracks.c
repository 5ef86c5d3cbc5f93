// SPDX-License-Identifier: Apache-2.0
// Tracks and their ids. Thread ids of Linux are below 2^22. Lanes, and threads whose id is taken
// because the system reuses ids, get ids far above, all below 2^31.
#include "profiler/export/tracks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/id_map.h"
#include "base/text.h"
#include "profiler/trace/checksum.h"
#include "profiler/trace/loss.h"

enum {
    LANE_ROW_BASE = 10000000,
    THREAD_ROW_BASE = 1500000000,
    REAL_ROW_MAX = LANE_ROW_BASE - 1,
    LANE_SORT_BASE = 1000000,  // after all threads
    LANE_PLACES = 256  // lanes that say their place come before the others
};

enum { NAME_IS_LANE = 1, NAME_IN_FILE = 2, NAME_NEEDS_ID = 4 };

typedef struct thread_row {
    uint32_t tid;  // 0: not known yet
    uint32_t name;  // name id + 1 as it is now
    uint32_t shown;  // the `name` that the file has; 0: none
} thread_row;

typedef MXP_ATOMIC(uint8_t) name_flags;  // NAME_*

struct mxp_chrome_tracks {
    bool has_process;  // the file names the process
    thread_row *threads;
    size_t thread_count, thread_capacity;
    mxp_id_map tids;
    name_flags *names;  // NAME_* by name id; NAME_IS_LANE is set by several threads at once
    size_t name_count, name_capacity;
    mxp_id_map counters;  // hashes of the texts of counters
    mxp_loss_entry *losses;  // as the file has them
    size_t loss_count, loss_capacity;
    uint64_t api_calls, new_api_calls;  // in the file; in the source that is written now
    int64_t api_ns, new_api_ns;  // when their counters changed last
    mxp_arrows *arrows;
};

// ---- sets of numbers --------------------------------------------------------------------------
// *is_new: it was not in the set before.
static int set_add(mxp_id_map *set, uint64_t number, bool *is_new)
{
    size_t before = set->count;
    if (mxp__id_map_add(set, number) == NULL) {
        return mxp__fail_memory("the tracks of the trace");
    }
    *is_new = set->count > before;
    return MXP_OK;
}

// ---- tracks -------------------------------------------------------------------------------------
int mxp__chrome_tracks_create(mxp_chrome_tracks **tracks)
{
    *tracks = mxp__alloc(sizeof **tracks);
    if (*tracks == NULL) {
        return mxp__fail_memory("the tracks of the trace");
    }
    (*tracks)->tids.entry_bytes = (*tracks)->counters.entry_bytes = sizeof(uint64_t);
    int error = mxp__arrows_create(&(*tracks)->arrows);
    if (error != MXP_OK) {
        mxp__chrome_tracks_destroy(*tracks);
        *tracks = NULL;
    }
    return error;
}

void mxp__chrome_tracks_destroy(mxp_chrome_tracks *tracks)
{
    if (tracks == NULL) {
        return;
    }
    mxp__free(tracks->threads, tracks->thread_capacity * sizeof *tracks->threads);
    mxp__id_map_fini(&tracks->tids);
    mxp__free(tracks->names, tracks->name_capacity);
    mxp__id_map_fini(&tracks->counters);
    mxp__free(tracks->losses, tracks->loss_capacity * sizeof *tracks->losses);
    mxp__arrows_destroy(tracks->arrows);
    mxp__free(tracks, sizeof *tracks);
}

static int take_thread(mxp_chrome_tracks *tracks, const mxp_thread_entry *entry, thread_row *row,
                       size_t index)
{
    row->name = entry->name + 1;
    if (row->tid != 0 || entry->tid == 0) {
        return MXP_OK;
    }
    bool is_new = false;
    if (entry->tid <= REAL_ROW_MAX) {
        int error = set_add(&tracks->tids, entry->tid, &is_new);
        if (error != MXP_OK) {
            return error;
        }
    }
    row->tid = is_new ? entry->tid : THREAD_ROW_BASE + (uint32_t)index;
    return MXP_OK;
}

static int take_threads(mxp_chrome_tracks *tracks, const mxp_source *source)
{
    size_t count = source->thread_count;
    if (count > tracks->thread_count) {
        if (mxp__grow(&tracks->threads, &tracks->thread_capacity, count, sizeof *tracks->threads) !=
            0) {
            return mxp__fail_memory("the tracks of the trace");
        }
        memset(tracks->threads + tracks->thread_count, 0,
               (count - tracks->thread_count) * sizeof *tracks->threads);
        tracks->thread_count = count;
    }
    for (size_t i = 0; i < count; i++) {
        int error = take_thread(tracks, &source->threads[i], &tracks->threads[i], i);
        if (error != MXP_OK) {
            return error;
        }
    }
    return MXP_OK;
}

static int take_name(mxp_chrome_tracks *tracks, const mxp_source *source, uint32_t id)
{
    mxp_name_view view = source->name(source, id);
    mxp_atomic_set(&tracks->names[id], 0);
    if (view.style != MXP_STYLE_COUNTER) {
        return MXP_OK;
    }
    bool is_new = false;
    int error = set_add(&tracks->counters, mxp__checksum(view.text, view.length) | 1, &is_new);
    mxp_atomic_set(&tracks->names[id], error == MXP_OK && !is_new ? NAME_NEEDS_ID : 0);
    return error;
}

static int take_names(mxp_chrome_tracks *tracks, const mxp_source *source)
{
    if (mxp__grow(&tracks->names, &tracks->name_capacity, source->name_count, 1) != 0) {
        return mxp__fail_memory("the tracks of the trace");
    }
    while (tracks->name_count < source->name_count) {
        int error = take_name(tracks, source, (uint32_t)tracks->name_count);
        if (error != MXP_OK) {
            return error;
        }
        tracks->name_count++;
    }
    return MXP_OK;
}

int mxp__chrome_tracks_begin(mxp_chrome_tracks *tracks, const mxp_source *source)
{
    tracks->new_api_calls = 0;
    tracks->new_api_ns = tracks->api_ns;
    int error = take_threads(tracks, source);
    if (error == MXP_OK) {
        error = take_names(tracks, source);
    }
    // Memory is taken now, so that commit cannot fail.
    if (error == MXP_OK && mxp__grow(&tracks->losses, &tracks->loss_capacity, source->loss_count,
                                     sizeof *tracks->losses) != 0) {
        error = mxp__fail_memory("the tracks of the trace");
    }
    return error == MXP_OK ? mxp__arrows_begin(tracks->arrows, source) : error;
}

mxp_arrows *mxp__chrome_tracks_arrows(mxp_chrome_tracks *tracks)
{
    return tracks->arrows;
}

uint32_t mxp__chrome_thread_row(const mxp_chrome_tracks *tracks, uint32_t thread)
{
    if (thread < tracks->thread_count && tracks->threads[thread].tid != 0) {
        return tracks->threads[thread].tid;
    }
    return THREAD_ROW_BASE + thread % (INT32_MAX - THREAD_ROW_BASE);
}

uint32_t mxp__chrome_lane_row(mxp_chrome_tracks *tracks, uint32_t name)
{
    if (name < tracks->name_count) {
        name_flags *flags = &tracks->names[name];
        uint8_t now = mxp_atomic_load(flags);
        if ((now & NAME_IS_LANE) == 0) {
            // While ranges are formatted this is the only bit that changes: all writers store the
            // same value.
            mxp_atomic_store(flags, now | NAME_IS_LANE);
        }
    }
    return LANE_ROW_BASE + name % (THREAD_ROW_BASE - LANE_ROW_BASE);
}

int mxp__chrome_counter_needs_id(const mxp_chrome_tracks *tracks, uint32_t name)
{
    return name < tracks->name_count &&
           (mxp_atomic_load(&tracks->names[name]) & NAME_NEEDS_ID) != 0;
}

uint64_t mxp__chrome_api_calls(const mxp_chrome_tracks *tracks)
{
    return tracks->api_calls;
}

void mxp__chrome_add_api_calls(mxp_chrome_tracks *tracks, uint64_t count)
{
    tracks->new_api_calls = count;
}

int64_t mxp__chrome_api_time(mxp_chrome_tracks *tracks, int64_t ns)
{
    tracks->new_api_ns = ns > tracks->new_api_ns ? ns : tracks->new_api_ns;
    return tracks->new_api_ns;
}

uint32_t mxp__lane_place(const mxp_name_view *lane)
{
    return lane->style == MXP_STYLE_NONE ? lane->unit : 0;
}

uint32_t mxp__chrome_pid(const mxp_source *source)
{
    return source->row_pid != 0 ? source->row_pid : source->pid == 0 ? 1 : source->pid;
}

// ---- items ------------------------------------------------------------------------------------
static void put_metadata(mxp_strbuf *out, const char *what, uint32_t pid, uint32_t tid,
                         const char *text, size_t length)
{
    mxp__strbuf_printf(out,
                       "{\"ph\":\"M\",\"cat\":\"__metadata\",\"name\":\"%s\",\"pid\":%" PRIu32
                       ",\"tid\":%" PRIu32 ",\"args\":{\"name\":",
                       what, pid, tid);
    mxp__json_string(out, text, length);
    mxp__strbuf_puts(out, "}}");
}

static void put_row(mxp_strbuf *out, uint32_t pid, uint32_t tid, uint32_t sort_index,
                    const char *text, size_t length)
{
    mxp__strbuf_puts(out, ",\n");
    put_metadata(out, "thread_name", pid, tid, text, length);
    mxp__strbuf_printf(out,
                       ",\n{\"ph\":\"M\",\"cat\":\"__metadata\",\"name\":\"thread_sort_index\","
                       "\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"args\":{\"sort_index\":%" PRIu32
                       "}}",
                       pid, tid, sort_index);
}

// The whole command line would not do: viewers show what comes after the last slash, which may be
// in an argument.
const char *mxp__process_name(const mxp_source *source, size_t *length)
{
    const char *own = mxp__source_info(source, "process_name");
    const char *command = mxp__source_info(source, "command");
    if (own != NULL || command == NULL || command[0] == '\0') {
        const bool is_others = mxp__source_info(source, "imported") != NULL;
        const char *name = own != NULL ? own : is_others ? "process" : "mxprof";
        *length = strlen(name);
        return name;
    }
    size_t end = strcspn(command, " ");
    size_t start = end;
    while (start > 0 && command[start - 1] != '/') {
        start--;
    }
    *length = end - start;
    return command + start;
}

void mxp__process_title(const mxp_source *source, mxp_strbuf *out)
{
    size_t length;
    const char *name = mxp__process_name(source, &length);
    mxp__strbuf_append(out, name, length);
    if (source->row_pid != 0) {
        mxp__strbuf_printf(out, " (pid %" PRIu32 ")", source->pid);
    }
}

static void put_thread(const thread_row *row, size_t index, const mxp_source *source,
                       mxp_strbuf *out)
{
    mxp_name_view view = source->name(source, row->name - 1);
    char number[32];
    if (view.length == 0) {
        view.length = (uint32_t)snprintf(number, sizeof number, "thread %zu", index);
        view.text = number;
    }
    put_row(out, mxp__chrome_pid(source), row->tid, (uint32_t)index, view.text, view.length);
}

void mxp__chrome_tracks_head(const mxp_chrome_tracks *tracks, const mxp_source *source,
                             mxp_strbuf *out)
{
    if (!tracks->has_process) {
        mxp_strbuf title = {0};
        uint32_t pid = mxp__chrome_pid(source);
        mxp__process_title(source, &title);
        put_metadata(out, "process_name", pid, pid, mxp__strbuf_text(&title), title.length);
        out->failed = out->failed || title.failed;
        mxp__strbuf_fini(&title);
    }
    for (size_t i = 0; i < tracks->thread_count; i++) {
        const thread_row *row = &tracks->threads[i];
        if (row->tid != 0 && row->shown != row->name) {
            put_thread(row, i, source, out);
        }
    }
}

// The window as the file has it: from one source to the next most are at the same index `hint`.
static const mxp_loss_entry *known_loss(const mxp_chrome_tracks *tracks, const mxp_loss_entry *loss,
                                        size_t hint)
{
    for (size_t i = 0; i < tracks->loss_count; i++) {
        const mxp_loss_entry *known = &tracks->losses[(i + hint) % tracks->loss_count];
        if (known->thread == loss->thread && known->reason == loss->reason &&
            known->from_ticks == loss->from_ticks) {
            return known;
        }
    }
    return NULL;
}

// A loss window, or what was added to it since the file had it.
static void put_loss(const mxp_chrome_tracks *tracks, const mxp_source *source, size_t index,
                     mxp_strbuf *out)
{
    const mxp_loss_entry *loss = &source->losses[index];
    const mxp_loss_entry *known = known_loss(tracks, loss, index);
    uint64_t count = loss->count - (known == NULL ? 0 : known->count);
    if (count == 0 || count > loss->count) {
        return;
    }
    bool of_process = loss->thread == UINT32_MAX;
    uint32_t pid = mxp__chrome_pid(source);
    uint32_t tid = of_process ? pid : mxp__chrome_thread_row(tracks, loss->thread);
    uint64_t from = known == NULL ? loss->from_ticks : known->to_ticks;
    char ts[MXP__US_CHARS + 1], until[MXP__US_CHARS + 1];
    *mxp__write_us(ts, mxp__timebase_ns(source->timebase, from)) = '\0';
    *mxp__write_us(until, mxp__timebase_ns(source->timebase, loss->to_ticks)) = '\0';
    mxp__strbuf_printf(out,
                       ",\n{\"ph\":\"i\",\"cat\":\"mxprof\",\"name\":\"%" PRIu64
                       " records %s (%s)\","
                       "\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%s,\"s\":\"%s\","
                       "\"args\":{\"until_us\":%s}}",
                       count, loss->reason == MXP_LOSS_NAMES_FULL ? "without a name" : "lost",
                       mxp__loss_reason(loss->reason), pid, tid, ts, of_process ? "p" : "t", until);
}

void mxp__chrome_tracks_tail(const mxp_chrome_tracks *tracks, const mxp_source *source,
                             mxp_strbuf *out)
{
    for (size_t id = 0; id < tracks->name_count; id++) {
        if ((mxp_atomic_own(&tracks->names[id]) & (NAME_IS_LANE | NAME_IN_FILE)) == NAME_IS_LANE) {
            mxp_name_view view = source->name(source, (uint32_t)id);
            const uint32_t place = mxp__lane_place(&view);
            put_row(out, mxp__chrome_pid(source), LANE_ROW_BASE + (uint32_t)id,
                    LANE_SORT_BASE + (place != 0 ? place : LANE_PLACES + (uint32_t)id),
                    view.length > 0 ? view.text : "user", view.length > 0 ? view.length : 4);
        }
    }
    for (size_t i = 0; i < source->loss_count; i++) {
        put_loss(tracks, source, i, out);
    }
}

void mxp__chrome_tracks_commit(mxp_chrome_tracks *tracks, const mxp_source *source)
{
    tracks->has_process = true;
    mxp__arrows_commit(tracks->arrows);
    tracks->api_calls += tracks->new_api_calls;
    tracks->api_ns = tracks->new_api_ns;
    tracks->new_api_calls = 0;
    for (size_t i = 0; i < tracks->thread_count; i++) {
        thread_row *row = &tracks->threads[i];
        row->shown = row->tid != 0 ? row->name : 0;
    }
    for (size_t id = 0; id < tracks->name_count; id++) {
        if ((mxp_atomic_own(&tracks->names[id]) & NAME_IS_LANE) != 0) {
            mxp_atomic_set(&tracks->names[id], mxp_atomic_own(&tracks->names[id]) | NAME_IN_FILE);
        }
    }
    tracks->loss_count = source->loss_count;
    if (source->loss_count != 0) {
        memcpy(tracks->losses, source->losses, source->loss_count * sizeof *tracks->losses);
    }
}
