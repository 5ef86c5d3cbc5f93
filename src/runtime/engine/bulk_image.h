// SPDX-License-Identifier: Apache-2.0
// What a push of a bulk template is made of: a copy of its operations in one piece of memory, which
// goes back to the template when the push is over.
//
//   | mxn_bulk_image | the bulk, with variables and extra | member 0 ... | member n - 1 |
//
// Who writes. The pushing thread, then whoever the bulk belongs to (operation.h).
#ifndef MXN_ENGINE_BULK_IMAGE_H
#define MXN_ENGINE_BULK_IMAGE_H

#include "base/refs.h"
#include "runtime/engine/engine_thread.h"

typedef struct mxn_bulk_image {
    struct mxn_bulk_image *next;  // among the free ones
    mxn_bulk_template *of;
    mxn_operation *members;
    uint64_t unused;  // operations are at multiples of 16 bytes
} mxn_bulk_image;

struct mxn_bulk_template {
    mxp_refs references;  // its owner's, and one for each image under way
    uint32_t count;  // of members
    bool parallel;  // some member may enter parallel kernels
    mxp_name name;  // of its pushes, for records
    size_t image_bytes;
    mxn_bulk_image *model;  // never pushed; has the deleters of its members
    mxn_bulk_image *spare;  // free images, under the push lock
    MXP_ATOMIC(mxn_bulk_image *) returned;  // those freed since: taken all at once
};

static inline mxn_operation *mxn__image_bulk(mxn_bulk_image *image)
{
    return (mxn_operation *)(image + 1);
}

// Memory of `size_bytes`, without members, not pushed; null with the detail set.
mxn_bulk_image *mxn__image_new(size_t size_bytes);
// A copy of the model, for one push; null with the detail set.
mxn_bulk_image *mxn__image_copy(mxn_bulk_template *bulk);

// Under the push lock: a free one, or null.
mxn_bulk_image *mxn__image_take_locked(mxn_bulk_template *bulk);
// Before an image is queued by this thread, whose state its operations name from then on.
void mxn__image_leaves(mxn_thread *self, mxn_bulk_image *image);
// Returns the image whose bulk this is: it was run, or could not be queued.
void mxn__image_give(mxn_operation *bulk);

void mxn__template_release(mxn_bulk_template *bulk);  // drops a reference; the last one frees it

#endif
