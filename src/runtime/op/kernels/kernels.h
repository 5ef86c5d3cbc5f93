// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/kernels: loops that are vector code, compiled once per width of vectors.
//
// Kernels whose loops are vector code: the build compiles every .c file of this folder once per
// width of vectors, with MXN_VECTOR_BYTES 16, 32 and 64 (cmake/Kernels.cmake). A file ends in a
// table of functions, one per width; who runs them takes that of the widest vectors that the
// processor has:
//
//   MXN_WIDEST(mxn__updates)->rules[rule][is_double](&update);
//
// The text of a kernel is a template, NAME_kernels.h, written in terms of the type T and NAME(x),
// which each_real.h includes once per type. All widths compute the same values: nothing is
// contracted or reordered, so a sum along memory stays one number after the other.
#ifndef MXN_OP_KERNELS_KERNELS_H
#define MXN_OP_KERNELS_KERNELS_H

#include "runtime/op/loops/loops.h"
#include "runtime/op/loops/vector_width.h"

#define MXN_JOIN_(a, b) a##_##b
#define MXN_JOIN(a, b) MXN_JOIN_(a, b)
#define MXN_WIDE(name) MXN_JOIN(name, MXN_VECTOR_BYTES)  // the name of this width's table
#define MXN_EACH_WIDTH(type, name) extern const type name##_16, name##_32, name##_64
#define MXN_WIDEST(name) \
    (mxn__vector_width() == 64 ? &name##_64 : mxn__vector_width() == 32 ? &name##_32 : &name##_16)

// Stands before a function whose loop must be vector code, of a turn that does not depend on the
// others; a test looks at what the compiler made of it (tests/lint/vector_loops.py). It is a
// function of its own so that it can be found.
#define MXN_VECTOR_LOOP __attribute__((noinline)) static

// Stands before a loop that takes the function of its elements: written once, it is made anew where
// it is called with a function by name, and calls none.
#define MXN_LOOP_OF __attribute__((always_inline)) static inline

#endif
