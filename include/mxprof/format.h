// SPDX-License-Identifier: Apache-2.0
// The layout of records in memory and of sections in a native file (*.mxp), which docs/format.md
// describes byte by byte. Integers are in the byte order that the file header tells. New kinds and
// sections are only added; a reader skips what it does not know by its length.
#ifndef MXPROF_FORMAT_H
#define MXPROF_FORMAT_H

#include <mxprof/format_operator.h>  // kinds OPERATOR, VARIABLES, HIDDEN and WAIT
#include <mxprof/loss.h>
#include <stdint.h>

#define MXP_FORMAT_VERSION 1u  // what this library writes
#define MXP_FORMAT_MIN_READER 1u  // the oldest reader that understands it
#define MXP_FORMAT_PACKED 2u  // both of packed files
#define MXP_RECORD_UNIT 16u  // records are multiples of this, and aligned to it
#define MXP_CHUNK_BYTES 65536u  // of a thread's records
// ---- records ----------------------------------------------------------------------------------
// Word 0 of every record:  kind (8 bits) | length in units (8) | stamp: low 48 bits of ticks (48)
// Word 1 of every record:  name id (low 32) | what the kind says (high 32)
// The stamp is the begin of a span or operator and the time of everything else. A reader widens
// it with the chunk's base_ticks: the recorder opens a new chunk before 2^47 ticks have passed. Of
// lean spans, operators and waits it is the end (stamp + duration) that lies so near to the base.

// Name, number, fewest units, text of `mxprof info` (null: counted with others).
#define MXP_RECORD_KINDS(X)                                                                    \
    X(SPAN, 1, 1, "spans") /* w1 high = duration in ticks, below 2^32 */                       \
    X(SPAN_LONG, 2, 3, NULL) /* and one unit an argument */                                    \
    X(OPERATOR, 3, 4, "operators")                                                             \
    X(VARIABLES, 4, 1, NULL) /* 4 units are written: continuation of the operator before it */ \
    X(COUNTER, 5, 2, "counter samples")                                                        \
    X(MEMORY, 6, 3, "memory blocks")                                                           \
    X(INSTANT, 7, 1, "instants")                                                               \
    X(FLOW, 8, 2, "flow points")                                                               \
    X(META, 9, 2, "scope, step and state marks")                                               \
    X(WAIT, 10, 2, "waits")                                                                    \
    X(HIDDEN, 11, 4, "operators that tables do not show") /* an OPERATOR in all else */        \
    X(CENSUS, 12, 3, "memory blocks there before") /* a MEMORY record of a live block */

enum {
#define MXP_KIND_ENUM(name, number, units, text) MXP_KIND_##name = number,
    MXP_RECORD_KINDS(MXP_KIND_ENUM)
#undef MXP_KIND_ENUM
        MXP_KIND_END  // after the last
};

#define MXP_STAMP_BITS 48
#define MXP_STAMP_MASK ((UINT64_C(1) << MXP_STAMP_BITS) - 1)
// SPAN_LONG:  w1 high = flags (16) | arguments (8) | clock (8)
//             w2 duration, 64 bits   w3 begin, 64 bits   w4 lane (low 32) | scope id (high 32)
//             w5 id of the context (async.h), 0: none
//             then per argument two words: key id (low 32) | type (8), value
// The bytes of texts stand behind all arguments, those of each filled up to a word. Of a text the
// first word has above its type (24): bytes that are here; its value is where in the record they
// begin (low 32) | how many the text had (high 32).
// Lane 0: the thread that wrote it; MXP_LANE_THREAD | n: thread n; else a name id (a stream).
#define MXP_LANE_THREAD 0x80000000u
#define MXP_SPAN_ARGS_MAX 120u
#define MXP_ARG_TEXT_MAX_BYTES 1024u  // of one text; what is beyond it is cut
enum {
    MXP_SPAN_BEGIN_CLIPPED = 1,  // began before recording did; begin is when recording began
    MXP_SPAN_CLOSED_BY_STOP = 2,  // still open at stop or pause; end is that time
    MXP_SPAN_OPEN_AT_CRASH = 4,  // never ended; end is the last time known
    MXP_SPAN_ARGS_CUT = 8  // had more than MXP_SPAN_ARGS_MAX arguments
};

enum { MXP_CLOCK_TRACE = 0 };  // clock of a long span: the trace's own ticks; others are lanes' own
enum {
    MXP_ARG_U64 = 1,
    MXP_ARG_I64 = 2,
    MXP_ARG_F64 = 3,
    MXP_ARG_NAME = 4,  // value is a name id
    MXP_ARG_TEXT = 5  // of long spans only
};

// COUNTER:    w1 high = type (8: MXP_ARG_U64, I64 or F64) | flags (8)     w2 value   w3 0
//             STANDING: the value was set before; its sample, of w3, is not held any more
enum { MXP_COUNTER_STANDING = 1 };

// MEMORY:     w1 low = array name id, high = scope id
//             w2 block id (48) | device (8) | flags (4: MXP_MEM_*) | category (4)
//             w3 requested bytes   w4 rounded bytes   w5 live bytes of the device after it
enum {
    MXP_MEM_FREE = 1,  // else an allocation
    MXP_MEM_REUSED = 2,  // served from the pool
    MXP_MEMORY_CENSUS = 0x10000  // in no record: of mxp_memory_emit, for one of kind CENSUS
};

// Devices of OPERATOR and MEMORY: cpu/N is N, from 0 to 127; gpu/N is 128 + N, N from 0 to 63.
enum {
    MXP_DEVICE_GPU = 128,
    MXP_DEVICE_CPU_PINNED = 254,  // "cpu pinned/"
    MXP_DEVICE_CPU_SHARED = 255  // "cpu shared/"
};

// INSTANT:    w1 high = scope (8)
enum {
    MXP_INSTANT_GLOBAL = 1,
    MXP_INSTANT_PROCESS = 2,
    MXP_INSTANT_THREAD = 3,
    MXP_INSTANT_TASK = 4,
    MXP_INSTANT_MARKER = 5
};

// FLOW:       w1 high = phase (8)     w2 flow id   w3 low = lane
enum { MXP_FLOW_START = 1, MXP_FLOW_STEP = 2, MXP_FLOW_END = 3 };

// META:       w1 low = name id where it has one, high = what (8)     w2 value   w3 second value
enum {
    MXP_META_SCOPE_PUSH = 1,  // name: scope
    MXP_META_SCOPE_POP = 2,  // name: the scope that is left; 0: outside of all
    MXP_META_STEP = 3,  // value: number of the step that begins here
    MXP_META_STATE = 4,  // value: MXP_STATE_*, what recording does here
    MXP_META_THREAD_NAME = 5,  // name: new name of the writing thread
    // value: CPU ns of the process, second: run delay in ns of its threads, all ones: unknown; at
    // the mark of a step
    MXP_META_STEP_CPU = 6,
    MXP_META_STEP_END = 7,  // value: number of the step that ends here
    // value: the step that is going on, second: its begin; above `what` (24): who began it
    MXP_META_STEP_STANDING = 9
};
enum { MXP_STATE_STOP = 0, MXP_STATE_RUN = 1, MXP_STATE_PAUSE = 2, MXP_STATE_RESUME = 3 };

// CENSUS:     as MEMORY, one for each block that is live when recording starts. The last one may
//             stand for all the others: block 0, bytes their sum.

// ---- names ------------------------------------------------------------------------------------
enum {
    MXP_STYLE_NONE = 0,  // a plain string: category, argument key, lane, shape
    MXP_STYLE_SPAN = 1,  // properly nested on its thread (scopes, events, API calls, operators)
    MXP_STYLE_ASYNC = 2,  // may overlap others on its thread (tasks, frames)
    MXP_STYLE_COUNTER = 3,
    MXP_STYLE_INSTANT = 4,
    MXP_STYLE_FLOW = 5,
    MXP_STYLE_SCOPE = 6,  // its category is the id of the enclosing scope
    MXP_STYLE_ADDRESS = 7  // a span, of the function at this address (module.h)
};

enum { MXP_UNIT_NONE = 0, MXP_UNIT_BYTES = 1, MXP_UNIT_NS = 2, MXP_UNIT_PERCENT = 3 };
// "", and "<names full>": the table has reached its cap.
enum { MXP_NAME_NONE = 0, MXP_NAME_FULL = 1 };

// ---- native file ------------------------------------------------------------------------------
// header (64 B), then sections, each 16-byte aligned. Of NAMES and CHUNK all count, of others the
// last one. A file that was closed properly ends with END.
#define MXP_FILE_MAGIC "\x89MXP\r\n\x1a\n"  // 8 bytes
#define MXP_BYTE_ORDER_MARK 0x01020304u

typedef struct mxp_file_header {
    char magic[8];
    uint32_t byte_order;  // MXP_BYTE_ORDER_MARK as the writer sees it
    uint16_t version;  // MXP_FORMAT_VERSION of the writer
    uint16_t min_reader;  // readers below this must refuse
    uint32_t header_bytes;  // 64; sections begin there
    uint32_t flags;  // MXP_FILE_*
    uint64_t created_real_ns;  // CLOCK_REALTIME when the session's clock was first read
    uint32_t pid;
    uint32_t pointer_bytes;
    uint64_t checksum;  // of the 40 bytes before it
    uint64_t reserved[2];  // 0
} mxp_file_header;
// MAPPED: the recorder's store, left as it is when the process dies. Until there is an END:
// zeros in place of a section end the file, of several CLOCK that with the latest point counts, the
// chunk in which a thread has its cursor goes up to there (RECORDER). PACKED: compressed by the
// command.
enum { MXP_FILE_MAPPED = 1, MXP_FILE_PACKED = 2 };

#define MXP_SECTION_MAGIC 0x5350584du  // "MXPS"
enum {
    MXP_SECTION_CHUNK = 1,
    MXP_SECTION_NAMES = 2,
    MXP_SECTION_THREADS = 3,
    MXP_SECTION_CLOCK = 4,
    MXP_SECTION_LOSS = 5,
    MXP_SECTION_INFO = 6,
    MXP_SECTION_STATS = 7,
    MXP_SECTION_END = 8,
    MXP_SECTION_RECORDER = 9,
    MXP_SECTION_PACKED = 10,  // chunks, compressed: in packed files only
    MXP_SECTION_OPEN = 11,  // in mapped files: asynchronous spans that are open (async.h)
    MXP_SECTION_MODULES = 12,  // of names of style ADDRESS (module.h)
    MXP_SECTION_CLOCK_CUT = 13,  // whose clock it is, and how it lies to another's (clock_cut.h)
    MXP_SECTION_LAST = MXP_SECTION_CLOCK_CUT
};

typedef struct mxp_section {
    uint32_t magic;  // MXP_SECTION_MAGIC
    uint16_t type;  // MXP_SECTION_*
    uint16_t flags;  // MXP_SECTION_HAS_*
    uint64_t length_bytes;  // whole section, this header included, a multiple of 16
    uint64_t checksum;  // of the whole section with this field 0 (docs/format.md)
    uint64_t payload_bytes;  // bytes of content after the section's own header; the rest is padding
} mxp_section;

enum {
    MXP_SECTION_HAS_CHECKSUM = 1,
    MXP_SECTION_HAS_COUNTERS = 2,  // of a CHUNK; the recorder's own
    MXP_SECTION_HAS_OPEN_ARGS = 2  // of a RECORDER
};

// A chunk of one thread's records: the same 64 bytes are at the head of the chunk in memory.
typedef struct mxp_chunk_header {
    mxp_section section;  // payload_bytes: bytes of records (the commit mark of a closed chunk)
    uint32_t thread;  // index into THREADS
    uint32_t sequence;  // 0, 1, 2 ... per thread; MXP_SEQUENCE_STANDING: values of counters
    uint64_t base_ticks;  // widens the stamps of this chunk
    uint64_t lost_before;  // records of this thread lost between the chunk before and this one
    uint64_t next;  // in memory: address of the thread's next chunk; in a file 0
} mxp_chunk_header;

#define MXP_SEQUENCE_STANDING 0xffffffffu
// RECORDER, in mapped files: a thread as its recorder left it. Behind it stand its mxp_recorder
// (record_inline.h), records lost (u64) and a name id (u32). A cursor c is the byte c - block +
// (offset of this section) if it lies within the MXP_BLOCK_BYTES after `block`, else c - base. 0:
// there is no such thread. Arguments of its open spans: open_args.h.
typedef struct mxp_recorder_section {
    mxp_section section;
    uint32_t thread, tid;  // index, the operating system's number
    uint64_t start_ticks;
    uint64_t base;  // where the file's first byte was in memory
    uint64_t block;  // where this section was a second time
} mxp_recorder_section;

#define MXP_BLOCK_BYTES 8192u
#define MXP_RECORDER_NO_HOME 0xffffffffu  // no thread: what those lost that are not in the file

// NAMES: first id (u32), count (u32), then per name: category id (u32, below its own), style (u8),
// unit (u8), 0 (u16), length in bytes (u32), the bytes, one zero, zeros up to a multiple of 4.

// THREADS: an array of these.
typedef struct mxp_thread_entry {
    uint32_t index, tid;  // the thread's number in this trace, from 0; the operating system's
    uint64_t start_ticks;
    uint64_t end_ticks;  // 0: still running when written
    uint64_t records, lost;
    uint32_t name;  // name id, 0 if it has none
    uint32_t flags;  // MXP_THREAD_*
} mxp_thread_entry;
enum { MXP_THREAD_SEVERAL = 1 };  // others had the index before: records and lost are of all

// CLOCK: header, points, segments. Trace time in ns = ns0 + ((ticks - ticks0) * mult >> 32) of the
// last segment whose ticks0 is not above ticks (the first one for earlier ticks).
enum {
    MXP_CLOCK_SOURCE_TSC = 1,
    MXP_CLOCK_SOURCE_ARM = 2,
    MXP_CLOCK_SOURCE_RAW = 3,
    MXP_CLOCK_SOURCE_MONOTONIC = 4
};

typedef struct mxp_clock_header {
    uint32_t source;  // MXP_CLOCK_SOURCE_*
    uint32_t points, segments;  // how many follow
    uint32_t
        segments_before;  // of the CLOCKs before it these stay, and all points; 0: none of both
    double residual_ns;  // how far points lay from the segments made before they were known
    int64_t jump_ns;  // how far trace time is from CLOCK_MONOTONIC_RAW since one of the
    uint64_t jump_ticks;  // clocks jumped, and the point that showed it; 0: none did
} mxp_clock_header;

typedef struct mxp_clock_point {
    uint64_t ticks;
    uint64_t monotonic_ns, raw_ns, boottime_ns, realtime_ns;
    uint64_t bracket_ticks;  // how long taking the point took: its uncertainty
} mxp_clock_point;

typedef struct mxp_clock_segment {
    uint64_t ticks0;
    int64_t ns0;  // ns since the first point
    uint64_t mult;  // ns per tick, 32.32 fixed point
} mxp_clock_segment;

// LOSS: an array of these.
typedef struct mxp_loss_entry {
    uint32_t thread;  // index, or 0xffffffff for the process
    uint32_t reason;  // MXP_LOSS_*
    uint64_t count, from_ticks, to_ticks;  // first and last loss
} mxp_loss_entry;

// INFO: pairs of key length (u32), value length (u32), key, one zero, value, one zero, zeros up to
// a multiple of 4. The lengths leave the zeros out. STATS: count (u32), 0 (u32), then per name
// mxp_stats_entry and its buckets: index (u32), count (u32).
typedef struct mxp_stats_entry {
    uint32_t name;
    uint32_t buckets;  // how many pairs follow
    uint64_t count, total_ns, min_ns, max_ns;
} mxp_stats_entry;
// END: sections before this one (u64), bytes of records in them (u64).

#endif
