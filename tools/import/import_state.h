// SPDX-License-Identifier: Apache-2.0
// Private to tools/import: an import that is going on.
#ifndef MXP_TOOLS_IMPORT_STATE_H
#define MXP_TOOLS_IMPORT_STATE_H

#include "import/import.h"
#include "import/import_args.h"
#include "import/import_open.h"
#include "import/import_rows.h"
#include "import/import_spool.h"
#include "import/json_event.h"
#include "import/json_number.h"

// Who wrote the file (import_kinds.c).
typedef enum mxp_import_kind {
    MXP__IMPORT_CHROME,
    MXP__IMPORT_TORCH,
    MXP__IMPORT_MXNET,
    MXP__IMPORT_VIZTRACER,
    MXP__IMPORT_OWN,
    MXP__IMPORT_KINDS
} mxp_import_kind;

// What was left out, changed or unusual.
typedef struct mxp_import_notes {
    uint64_t phases[256];  // events of phases that are not understood
    uint64_t metadata;  // of kinds that are not understood
    uint64_t damaged, first_damaged;  // events; the offset of the first
    uint64_t ends, begins;  // without the other one
    uint64_t copies;  // of MXNet's operators
    uint64_t beyond;  // times, the limit
    uint64_t durations;  // of complete spans, that are not there
    uint64_t bound;  // spans with a flow in their own fields
    uint64_t values;  // of counters that are no numbers
    uint64_t args_lost;
    uint64_t over_limit, made_room;  // what the file says that it does not have: newest, oldest
    bool overflow;  // as the one before, and nobody knows how many
    unsigned met;  // MXP__JSON_* of strings
    bool frames, samples;  // stackFrames, samples
    bool bom, twice;  // a byte order mark; traceEvents twice
    bool open_list;  // no bracket at its end
} mxp_import_notes;

typedef struct mxp_import {
    mxp_json_reader reader;
    mxp_json_event event;
    mxp_import_options options;
    mxp_import_kind kind;
    mxp_import_rows rows;
    mxp_import_open open;
    mxp_import_open ends;  // of asynchronous spans, without a begin so far
    mxp_import_spool *spool;
    mxp_import_notes notes;
    mxp_import_args args;
    uint64_t base_ns;  // what the file adds to its times to make them times since 1970
    bool has_events;
    bool is_list;  // the text is the list of events, without an object around it
    int64_t first_ns;  // of all records
} mxp_import;

// Ticks of imported traces are ns; the file's own 0 is in their middle.
#define MXP__IMPORT_TICKS0 (UINT64_C(1) << 62)
static inline uint64_t mxp__import_ticks(int64_t ns)
{
    return MXP__IMPORT_TICKS0 + (uint64_t)ns;
}

// ---- import_kinds.c ----------------------------------------------------------------------------
const char *mxp__import_kind_name(mxp_import_kind kind);
// A key of the file's outer object tells who wrote it.
void mxp__import_kind_key(mxp_import *import, const char *key, size_t length);
// So does the first event.
void mxp__import_kind_first(mxp_import *import);
// What the category of an event says about it.
typedef struct mxp_import_place {
    bool is_device;  // its pid and tid are a device and a stream
    bool is_beside;  // on a row of its own beside its thread
    bool is_copy;  // is in the file a second time
    const char *category;  // null: its own
} mxp_import_place;
mxp_import_place mxp__import_place(const mxp_import *import);

// ---- import_record.c ---------------------------------------------------------------------------
// All of them: 0, MXP_ENOMEM or MXP_EIO.
typedef struct mxp_import_span {
    int64_t begin_ns, end_ns;
    mxp_import_row row;
    uint32_t name, lane;
    uint16_t flags;
    const mxp_import_args *args;  // null: none
} mxp_import_span;
int mxp__import_put_span(mxp_import *import, const mxp_import_span *span);
int mxp__import_put_instant(mxp_import *import, mxp_import_row row, int64_t ns, uint32_t name,
                            uint32_t scope);
int mxp__import_put_counter(mxp_import *import, mxp_import_row row, int64_t ns, uint32_t name,
                            uint32_t type, uint64_t bits);
int mxp__import_put_flow(mxp_import *import, mxp_import_row row, int64_t ns, uint32_t name,
                         uint32_t phase, uint64_t id, uint32_t lane);
int mxp__import_put_meta(mxp_import *import, mxp_import_row row, int64_t ns, uint32_t what,
                         uint64_t value);
typedef struct mxp_import_memory {
    uint64_t block, live_bytes;
    int64_t bytes;  // negative: freed
    uint32_t device;
} mxp_import_memory;
int mxp__import_put_memory(mxp_import *import, mxp_import_row row, int64_t ns, uint32_t name,
                           const mxp_import_memory *memory);

// ---- import_event.c, import_spans.c, import_values.c -------------------------------------------
// Takes import->event in.
int mxp__import_event(mxp_import *import);
// Ends what is open.
int mxp__import_close_open(mxp_import *import);
// Parts of mxp__import_event, by phase. `ns`: the event's time.
int mxp__import_span_event(mxp_import *import, char phase, mxp_json_time ts);
int mxp__import_async_event(mxp_import *import, char phase, int64_t ns);
int mxp__import_value_event(mxp_import *import, char phase, int64_t ns);
int mxp__import_metadata(mxp_import *import);
void mxp__import_damaged(mxp_import *import);  // counts the event
// The event's row and, for what is on one, its lane.
int mxp__import_event_row(mxp_import *import, const mxp_import_place *place, mxp_import_row *row,
                          uint32_t *lane);
int mxp__import_event_name(mxp_import *import, mxp_import_row row, uint8_t style, uint8_t unit,
                           const mxp_import_place *place, uint32_t *id);
// A number for the event's id: of text, category and, if wanted, name.
uint64_t mxp__import_event_id(const mxp_import *import, bool with_name);

// ---- import_file.c -----------------------------------------------------------------------------
// Reads all of the text. MXP_EFORMAT: it is no trace; damage is the reader's.
int mxp__import_read(mxp_import *import);

// ---- import_write.c ----------------------------------------------------------------------------
int mxp__import_write(mxp_import *import, int fd, const char *path);

// ---- import_notes.c ----------------------------------------------------------------------------
void mxp__import_notes_print(const mxp_import *import, mxp_strbuf *out);
// What the file itself says that it does not have, in words; empty: nothing.
void mxp__import_incomplete(const mxp_import *import, mxp_strbuf *out);

#endif
