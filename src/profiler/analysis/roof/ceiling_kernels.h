// SPDX-License-Identifier: Apache-2.0
// The loops whose rates are the ceilings of a machine, compiled for each width of vectors from one
// text (ceiling_loops.h); the widest that the processor has is taken at run time.
#ifndef MXP_ROOF_CEILING_KERNELS_H
#define MXP_ROOF_CEILING_KERNELS_H

#include <stddef.h>
#include <stdint.h>

// Twelve sums that do not wait for one another keep two multiply-add units busy through the four
// cycles that each takes.
enum { MXP__CEILING_CHAINS = 12 };

typedef struct mxp_ceiling_kernels {
    uint32_t vector_bytes;
    // `count` times a multiply-add of each of the chains' vectors. The result means nothing, and is
    // there so that nothing is left out. Operations: 2 * chains * numbers in a vector * count.
    float (*multiply_add_f32)(uint64_t count);
    double (*multiply_add_f64)(uint64_t count);
    // a = b + 3 c, `times` times. `count`: a multiple of 64; all aligned to 64 bytes. Bytes: those
    // of the three arrays, each once a time. (The line that is written is read first by hardware
    // which does not know better: a fourth stream, that is not counted, as in operators.)
    void (*triad)(float *a, const float *b, const float *c, size_t count, uint64_t times);
} mxp_ceiling_kernels;

// Those for the widest vectors that this processor has.
const mxp_ceiling_kernels *mxp__ceiling_kernels_here(void);

extern const mxp_ceiling_kernels mxp__ceiling_kernels_16, mxp__ceiling_kernels_32,
    mxp__ceiling_kernels_64;

#endif
