// SPDX-License-Identifier: Apache-2.0
// One life, of a request or a step: its instances in time, on whichever threads, what each moment
// of it went to, and when nobody worked on it.
#ifndef MXP_TOOLS_LIFE_H
#define MXP_TOOLS_LIFE_H

#include "instances/instance.h"
#include "text/screen.h"

// What a part of the time went to. The parts of a life add up to its length, to the nanosecond.
typedef struct mxp_life_part {
    const mxp_source *source;  // of `name`; null: nothing was recorded
    uint32_t name;
    int64_t ns;
} mxp_life_part;

typedef struct mxp_life_gap {
    int64_t begin_ns, end_ns;
} mxp_life_gap;

typedef struct mxp_life {
    int64_t begin_ns, end_ns;
    mxp_life_part *parts;  // the largest first
    size_t part_count, part_capacity;
    mxp_life_gap *gaps;  // in which no instance is open
    size_t gap_count, gap_capacity;
    uint64_t
        left_out;  // instances for which the list had no room; then there are no parts and gaps
} mxp_life;

// Of a sorted list, between two times. A moment belongs to the instance that was begun last of
// those that are open and nest, whichever its thread; to an asynchronous one where there is no
// other. MXP_ENOMEM.
int mxp__life_make(const mxp_instances *list, int64_t begin_ns, int64_t end_ns, mxp_life *life);
void mxp__life_fini(mxp_life *life);

// A warning on stderr where instances are left out; `of`: what the life is of.
void mxp__life_warn(const mxp_life *life, const char *command, const char *of);

// "99.1% load from disk, 0.6% parse": the largest parts, as one line that ends in a new line.
void mxp__life_put_parts(const mxp_life *life, const mxp_screen *screen, mxp_strbuf *out);

#endif
