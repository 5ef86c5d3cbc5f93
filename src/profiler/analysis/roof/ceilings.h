// SPDX-License-Identifier: Apache-2.0
// The ceilings of a machine: multiply-adds a second from registers, and bytes a second from each
// level of cache and from memory, of one thread and of all.
#ifndef MXP_ROOF_CEILINGS_H
#define MXP_ROOF_CEILINGS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum mxp_ceiling {
    MXP__CEILING_F32,  // floating-point operations a second, a multiply-add counting two
    MXP__CEILING_F64,
    MXP__CEILING_L1,  // bytes a second
    MXP__CEILING_L2,
    MXP__CEILING_L3,
    MXP__CEILING_MEMORY,
    MXP__CEILINGS
} mxp_ceiling;

enum { MXP__CEILING_ROUNDS = 15, MXP__CEILING_LEVELS = 3 };

// The machine that figures are of. Texts are "" where they are not known.
typedef struct mxp_machine {
    char cpu[128], kernel[128], version[32];  // model, of the system, of this library
    uint32_t cores;  // that the process may use
    uint64_t cache_bytes[MXP__CEILING_LEVELS];  // 0: there is none, or it is not known
} mxp_machine;

typedef struct mxp_ceiling_rate {
    double rate;  // second best of the rounds; 0: not measured
    double best, median;
} mxp_ceiling_rate;

typedef struct mxp_ceilings {
    mxp_machine machine;
    uint32_t vector_bytes;
    mxp_ceiling_rate one[MXP__CEILINGS], all[MXP__CEILINGS];
} mxp_ceilings;

void mxp__machine_here(mxp_machine *machine);
// Whether figures of one hold for the other: all but the caches, which follow from the model.
bool mxp__machine_is(const mxp_machine *one, const mxp_machine *other);

// Measures the ceilings of this machine, in one to four seconds; nothing else should run.
// MXP_ENOMEM; MXP_ENOTSUP: threads cannot be begun.
int mxp__ceilings_measure(mxp_ceilings *ceilings);
const char *mxp__ceiling_name(mxp_ceiling ceiling);  // "multiply-add f32", "L1 triad" ...

#endif
