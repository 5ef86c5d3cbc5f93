// SPDX-License-Identifier: Apache-2.0
// Spans of an imported trace of which one half has been read: stacks of frames, of a thread or of
// an id, all in one block of memory. Begins wait for their ends; a second one holds ends of
// asynchronous spans that stand before their begins, as those of two threads may.
#ifndef MXP_TOOLS_IMPORT_OPEN_H
#define MXP_TOOLS_IMPORT_OPEN_H

#include "base/id_map.h"
#include "import/import_rows.h"

enum { MXP__IMPORT_OPEN_MAX = 1 << 20 };

typedef struct mxp_import_frame {
    int64_t ns;  // when it began; of an end, when that was
    mxp_import_row row;
    uint32_t name;
    size_t below;  // 1 + the frame that began before it; 0: none
    char *args;  // its arguments as JSON, or null
} mxp_import_frame;

typedef struct mxp_import_open {
    mxp_import_frame *frames;
    size_t count, capacity, free;  // free: 1 + the first that can be used again
    size_t open;  // how many are in use
    mxp_id_map stacks;  // of asynchronous spans, by hashes of their ids
    uint64_t left_out;  // for which there was no room
} mxp_import_open;

void mxp__import_open_init(mxp_import_open *open);
void mxp__import_open_fini(mxp_import_open *open);
// Puts a frame on the stack whose top is *top (1 + its number, 0: empty). Without room it is
// counted and left out. Takes `args` over. MXP_ENOMEM.
int mxp__import_open_push(mxp_import_open *open, size_t *top, mxp_import_frame frame);
// Takes the top off; *top is not 0. The caller frees its `args`.
mxp_import_frame mxp__import_open_pop(mxp_import_open *open, size_t *top);
// Of a stack of begins takes off the one of an end: the innermost of its name in its process that
// is not after it, else the innermost that is not. Of a stack of ends, the one of a begin: the
// first of its name in its process that is not before it, else the first that is not. False: there
// is none. The caller frees the `args` of what is taken.
bool mxp__import_open_take_begin(mxp_import_open *open, size_t *top, const mxp_import_frame *end,
                                 mxp_import_frame *begin);
bool mxp__import_open_take_end(mxp_import_open *open, size_t *top, const mxp_import_frame *begin,
                               mxp_import_frame *end);
// The stack of an id, null: there is none. Made if `make` is set; then null is MXP_ENOMEM. It holds
// until the next call of this and of mxp__import_open_forget.
size_t *mxp__import_open_stack(mxp_import_open *open, uint64_t id, bool make);
void mxp__import_open_forget(mxp_import_open *open, uint64_t id);

#endif
