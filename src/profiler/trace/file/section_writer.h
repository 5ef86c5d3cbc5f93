// SPDX-License-Identifier: Apache-2.0
// Writes the header and the sections of a native file to a descriptor. Knows nothing of paths,
// renaming and undoing: that is native_writer.c.
#ifndef MXP_TRACE_SECTION_WRITER_H
#define MXP_TRACE_SECTION_WRITER_H

#include "base/os/descriptor.h"
#include "base/strbuf.h"
#include "profiler/trace/source.h"

// How much of a file is written. Plain data: a caller that may undo an append keeps a copy.
typedef struct mxp_file_progress {
    uint64_t bytes, sections, record_bytes;
    uint32_t names;  // written so far
} mxp_file_progress;

// What was told of a table. A file that grows for days has its tables told by what is new. For the
// sake of files that are damaged later each is told whole twice at first, and again when what was
// new has taken as much.
typedef struct mxp_told {
    mxp_strbuf content;  // of a table that is told by pieces: what it was last
    uint64_t whole_bytes;  // 0: nothing was told yet
    uint64_t news_bytes;  // since it was told whole
    uint64_t checksum;  // of one that is told whole or not at all
} mxp_told;

typedef struct mxp_section_writer {
    int fd;  // -1: a section is only built, and stays in `body` until the next one
    mxp_descriptor *checked;  // of `fd`, if the program may close it; null: nobody does
    const char *name;  // at which it is opened again then
    bool is_placed;  // written from `place` on, wherever the descriptor stands
    uint64_t place;
    uint32_t align_bytes;  // of the lengths of built sections; 0: the format's own
    const char *path;  // for messages
    bool leaves_filed_out;  // records that are in a recording file
    bool appends;  // the file grows by appends: tables tell only what is new
    mxp_told told[MXP_SECTION_LAST + 1];  // then, by type
    mxp_file_progress progress;
    uint32_t *sequences;  // of the next chunk, by thread; 0 beyond sequence_count
    uint32_t sequence_count;
    size_t sequence_capacity;
    mxp_strbuf body;  // of the section being built
} mxp_section_writer;

// Tables are told whole again: an append has failed, or the file begins anew.
void mxp__section_writer_forget(mxp_section_writer *writer);
void mxp__section_writer_fini(mxp_section_writer *writer);

mxp_file_header mxp__file_header_of(const mxp_source *source, uint32_t header_bytes,
                                    uint32_t flags);  // MXP_FILE_*

// All of them: 0, MXP_ENOMEM, or MXP_EIO with path and reason. After an error `progress` is
// meaningless and the file ends anywhere.
int mxp__write_file_header(mxp_section_writer *writer, const mxp_source *source);
int mxp__write_clock(mxp_section_writer *writer, const mxp_timebase *timebase);
int mxp__write_names(mxp_section_writer *writer, const mxp_source *source);  // the new ones
int mxp__write_threads(mxp_section_writer *writer, const mxp_source *source);
// A range must stay readable until so many further ones were asked for.
enum { MXP__WRITER_HOLDS = 32 };
int mxp__write_chunks(mxp_section_writer *writer, mxp_source *source);
int mxp__write_losses(mxp_section_writer *writer, const mxp_source *source);
int mxp__write_modules(mxp_section_writer *writer, const mxp_source *source);  // if there are any
int mxp__write_clock_cuts(mxp_section_writer *writer, const mxp_source *source);  // the same
int mxp__write_stats(mxp_section_writer *writer, const mxp_source *source);
int mxp__write_info(mxp_section_writer *writer, const mxp_source *source);
// A section of any type with this content; the caller counts the records in it.
int mxp__write_section(mxp_section_writer *writer, unsigned type, const void *content,
                       size_t size_bytes);
int mxp__write_end(mxp_section_writer *writer);

#endif
