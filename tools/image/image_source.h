// SPDX-License-Identifier: Apache-2.0
// The names, the clock and the facts of a recorder in a process's memory, as a source without
// records.
#ifndef MXP_TOOLS_IMAGE_SOURCE_H
#define MXP_TOOLS_IMAGE_SOURCE_H

#include "image/memory_image.h"
#include "profiler/trace/image.h"
#include "profiler/trace/source.h"

typedef struct mxp_image_source mxp_image_source;

// MXP_EFORMAT: what the anchor leads to is not there. MXP_ENOMEM.
int mxp__image_source_open(const mxp_memory_image *image, const mxp_image_anchor *anchor,
                           mxp_image_source **opened);
mxp_source *mxp__image_source(mxp_image_source *self);
void mxp__image_source_close(mxp_image_source *self);  // null is fine

#endif
