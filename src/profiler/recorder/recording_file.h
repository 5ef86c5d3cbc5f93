// SPDX-License-Identifier: Apache-2.0
// Recording into a file, as the session sees it: store "file". A record is in the file as
// soon as it is written, so that a death of the process loses nothing. How the file is laid out,
// and what recording threads do with it, is in the folder store.
//
// There is one file at a time. Under the session's lock, but for mxp__store_keep_ahead and the
// three questions, which anybody may ask at any time. The recorder's own locks are taken here.
#ifndef MXP_PROF_RECORDING_FILE_H
#define MXP_PROF_RECORDING_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/descriptor.h"
#include "profiler/trace/source.h"

enum { MXP__STORE_HEADER_BYTES = 4096, MXP__STORE_CLOCK_BYTES = 65536 };

// ---- a file begins ----------------------------------------------------------------------------
// Begins a file: from now on everything recorded goes there, up to `limit_bytes`; beyond it records
// are lost and counted. `header` says MXP__STORE_HEADER_BYTES; `sections`, whole pages, begin with
// two CLOCK of MXP__STORE_CLOCK_BYTES each: whatever is found after a death can be read. Both are
// the caller's again afterwards. MXP_EIO, MXP_ENOMEM: recording continues in memory.
int mxp__store_open(const char *path, uint64_t limit_bytes, const mxp_file_header *header,
                    const void *sections, size_t sections_bytes);
// The same in a forked child, but for the file: the first thread that records makes it. Until then
// it is due.
int mxp__store_plan(const char *path, uint64_t limit_bytes, const mxp_file_header *header,
                    const void *sections, size_t sections_bytes);
bool mxp__store_forget_due(void);  // whether one was due

// Questions.
bool mxp__store_is_open(void);
bool mxp__store_is_due(void);
// Another program has emptied the file: what it held is lost, and it is to be ended.
bool mxp__store_was_emptied(void);
// Why records are lost that the open file had to grow for, as errno has it (EFBIG: the process's
// limit), and the file's name. Once for each file; else 0. Under the session's lock.
int mxp__store_refusal(const char **path);

// ---- while it is open -------------------------------------------------------------------------
// What was recorded before the file began. MXP_EIO: the file is full.
int mxp__store_copy(const mxp_record_range *range);
// What was recorded is written, or copied: a ring begins anew.
void mxp__ring_restart(void);
// A newer CLOCK section of MXP__STORE_CLOCK_BYTES; one of another length is not taken.
void mxp__store_put_clock(const void *section, size_t size_bytes);
// Has the system extend the open file, so that no recording thread needs to: as much as was used
// since the last call, within bounds. For the background thread, with no lock held.
void mxp__store_keep_ahead(void);

// ---- a file ends ------------------------------------------------------------------------------
// Ends the file; recording continues in memory. What is left is to write the tables and END from
// `offset` on, to truncate the file after them and to close the descriptor. Until then it is as
// after a death.
typedef struct mxp_store_end {
    mxp_descriptor descriptor;  // the caller's; none if the program has taken it away for good
    uint64_t offset, sections, record_bytes;
    bool damaged;  // another program has emptied the file: there is nothing to complete
} mxp_store_end;
void mxp__store_finish(mxp_store_end *end);

#endif
