// SPDX-License-Identifier: Apache-2.0
// Folder profiler/trace/file: the native file, section by section, written, read and mended.
//
// Native files (*.mxp): writing one from a source, opening one as a source.
#ifndef MXP_TRACE_NATIVE_H
#define MXP_TRACE_NATIVE_H

#include "profiler/trace/source.h"

// A writer appends. Each mxp__native_append adds the records and the new names of one source, then
// the closing sections, so the file is complete after each. Later appends overwrite nothing; they
// add sections after END. The first append writes a temporary file, which is renamed to `path` when
// it is complete, unless another process records into the file there (mapped_file.h), which is an
// error; pipes and devices are written in place. An append that fails leaves the file as
// it was; after a failure in place, later ones are refused. If the file was moved, deleted or
// changed since the last append, the next one begins a new file. After a source of several
// processes nothing can be appended. Of a live source, what is in a recording file already is left
// out, because there it is in a native trace. One thread at a time.
typedef struct mxp_native_writer mxp_native_writer;
int mxp__native_writer_open(const char *path, mxp_native_writer **writer);
int mxp__native_append(mxp_native_writer *writer, mxp_source *source);
void mxp__native_writer_close(mxp_native_writer *writer);  // null is fine
// A file of one source, with all that it has.
int mxp__native_write(const char *path, mxp_source *source);

// Opens a native file. A damaged or truncated file is an error only if nothing can be read;
// otherwise its readable sections are offered, and *damage (if not null) describes the first
// damage: its offset, 0 if none, and a line of text that lives as long as the source.
typedef struct mxp_damage {
    uint64_t offset;
    const char *text;  // null if the file is whole
} mxp_damage;
int mxp__native_open(const char *path, mxp_source **source, mxp_damage *damage);
// The same from memory (the fuzzers; kept by the caller while the source is open).
int mxp__native_open_memory(const void *data, size_t size_bytes, mxp_source **source,
                            mxp_damage *damage);

#endif
