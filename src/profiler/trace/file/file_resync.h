// SPDX-License-Identifier: Apache-2.0
// Finding the next valid section after damage in a native file.
#ifndef MXP_TRACE_FILE_RESYNC_H
#define MXP_TRACE_FILE_RESYNC_H

#include "profiler/trace/file/file_index.h"

// Whether a section or a file's header begins at `offset`, or the file ends there.
bool mxp__file_goes_on(const mxp_file_index *index, uint64_t offset);

// Whether the section at `offset`, whose header is plausible, is a real one: another section or the
// end follows it, or its checksum is right.
bool mxp__file_proves_itself(mxp_file_index *index, uint64_t offset);

// The offset, between the two, of a section that proves itself and that the wrong length of an
// earlier section hides; `to` if there is none. Looks only where writers of sections without
// checksums put them, and gives up after a bounded amount of work.
uint64_t mxp__file_hidden(mxp_file_index *index, uint64_t from, uint64_t to);

// The offset, from `from` on, of the next section of this process that proves itself, of the next
// process's header, or of the end of the file.
uint64_t mxp__file_resync(mxp_file_index *index, uint64_t from);

#endif
