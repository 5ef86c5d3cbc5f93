// SPDX-License-Identifier: Apache-2.0
// Fields that several threads touch. Each is a struct with one member, so that a plain read or
// write does not compile: the type says what a comment would have to say, and each access says its
// order. Macros serve every width, and C++17 as well as C11, whose own atomics C++ cannot read.
//
// A name without an order is relaxed. What a release pairs with is beside it.
#ifndef MXPROF_ATOMIC_H
#define MXPROF_ATOMIC_H

#include <stdint.h>

typedef struct mxp_atomic_u32 {
    uint32_t value;
} mxp_atomic_u32;

typedef struct mxp_atomic_u64 {
    uint64_t value;
} mxp_atomic_u64;

// Of any other type that fits a register: MXP_ATOMIC(mxp_thread *) next;
#define MXP_ATOMIC(type) \
    struct {             \
        type value;      \
    }

#define mxp_atomic_load(atomic) __atomic_load_n(&(atomic)->value, __ATOMIC_RELAXED)
#define mxp_atomic_load_acquire(atomic) __atomic_load_n(&(atomic)->value, __ATOMIC_ACQUIRE)
#define mxp_atomic_store(atomic, to) __atomic_store_n(&(atomic)->value, (to), __ATOMIC_RELAXED)
#define mxp_atomic_store_release(atomic, to) \
    __atomic_store_n(&(atomic)->value, (to), __ATOMIC_RELEASE)

// A plain read, by the only thread that writes the field, or while no other thread runs that does.
#define mxp_atomic_own(atomic) ((void)0, (atomic)->value)

// The compiler moves nothing across it; for what the same thread's signal handler sees.
#define mxp_compiler_barrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)

#endif
