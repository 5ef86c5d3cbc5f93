// SPDX-License-Identifier: Apache-2.0
// The atomic operations of src/ beyond those of mxprof/atomic.h. The lint (scripts/check-atomics)
// refuses a raw __atomic_ builtin anywhere else. A field of a plain type does not compile here.
//
// The order is part of the name; a name without one is relaxed.
#ifndef MXP_BASE_ATOMIC_H
#define MXP_BASE_ATOMIC_H

#include <mxprof/atomic.h>
#include <stdbool.h>

typedef MXP_ATOMIC(bool) mxp_atomic_bool;
typedef MXP_ATOMIC(void *) mxp_atomic_ptr;

// A plain write: before the field is shared, or while no other thread can reach it.
#define mxp_atomic_set(atomic, to) ((void)((atomic)->value = (to)))

// ---- sequential consistency -------------------------------------------------------------------
// For two threads of which each stores one word and then loads the other's word. Relaxed suffices
// if one of the two calls mxp__os_barrier_all_threads between its store and its load.
#define mxp_atomic_load_seq_cst(atomic) __atomic_load_n(&(atomic)->value, __ATOMIC_SEQ_CST)
#define mxp_atomic_store_seq_cst(atomic, to) \
    __atomic_store_n(&(atomic)->value, (to), __ATOMIC_SEQ_CST)

// ---- read, change, write: the value before ----------------------------------------------------
#define mxp_atomic_add(atomic, n) __atomic_fetch_add(&(atomic)->value, (n), __ATOMIC_RELAXED)
#define mxp_atomic_add_acquire(atomic, n) \
    __atomic_fetch_add(&(atomic)->value, (n), __ATOMIC_ACQUIRE)
#define mxp_atomic_add_release(atomic, n) \
    __atomic_fetch_add(&(atomic)->value, (n), __ATOMIC_RELEASE)
#define mxp_atomic_add_acq_rel(atomic, n) \
    __atomic_fetch_add(&(atomic)->value, (n), __ATOMIC_ACQ_REL)
#define mxp_atomic_add_seq_cst(atomic, n) \
    __atomic_fetch_add(&(atomic)->value, (n), __ATOMIC_SEQ_CST)
#define mxp_atomic_sub(atomic, n) __atomic_fetch_sub(&(atomic)->value, (n), __ATOMIC_RELAXED)
#define mxp_atomic_sub_acq_rel(atomic, n) \
    __atomic_fetch_sub(&(atomic)->value, (n), __ATOMIC_ACQ_REL)
#define mxp_atomic_sub_seq_cst(atomic, n) \
    __atomic_fetch_sub(&(atomic)->value, (n), __ATOMIC_SEQ_CST)
#define mxp_atomic_or(atomic, bits) __atomic_fetch_or(&(atomic)->value, (bits), __ATOMIC_RELAXED)
#define mxp_atomic_or_release(atomic, bits) \
    __atomic_fetch_or(&(atomic)->value, (bits), __ATOMIC_RELEASE)
#define mxp_atomic_or_acq_rel(atomic, bits) \
    __atomic_fetch_or(&(atomic)->value, (bits), __ATOMIC_ACQ_REL)
#define mxp_atomic_or_seq_cst(atomic, bits) \
    __atomic_fetch_or(&(atomic)->value, (bits), __ATOMIC_SEQ_CST)
#define mxp_atomic_and(atomic, bits) __atomic_fetch_and(&(atomic)->value, (bits), __ATOMIC_RELAXED)
#define mxp_atomic_and_seq_cst(atomic, bits) \
    __atomic_fetch_and(&(atomic)->value, (bits), __ATOMIC_SEQ_CST)
#define mxp_atomic_exchange(atomic, to) \
    __atomic_exchange_n(&(atomic)->value, (to), __ATOMIC_RELAXED)
#define mxp_atomic_exchange_acquire(atomic, to) \
    __atomic_exchange_n(&(atomic)->value, (to), __ATOMIC_ACQUIRE)
#define mxp_atomic_exchange_acq_rel(atomic, to) \
    __atomic_exchange_n(&(atomic)->value, (to), __ATOMIC_ACQ_REL)

// ---- compare and swap -------------------------------------------------------------------------
// True: the field was *expected and is `to` now. False: *expected receives the field's value. The
// name gives the order of success. A failure is an acquire if success includes one, else relaxed.
#define mxp_atomic_cas(atomic, expected, to)                                                 \
    __atomic_compare_exchange_n(&(atomic)->value, (expected), (to), false, __ATOMIC_RELAXED, \
                                __ATOMIC_RELAXED)
#define mxp_atomic_cas_acquire(atomic, expected, to)                                         \
    __atomic_compare_exchange_n(&(atomic)->value, (expected), (to), false, __ATOMIC_ACQUIRE, \
                                __ATOMIC_ACQUIRE)
#define mxp_atomic_cas_release(atomic, expected, to)                                         \
    __atomic_compare_exchange_n(&(atomic)->value, (expected), (to), false, __ATOMIC_RELEASE, \
                                __ATOMIC_RELAXED)
#define mxp_atomic_cas_acq_rel(atomic, expected, to)                                         \
    __atomic_compare_exchange_n(&(atomic)->value, (expected), (to), false, __ATOMIC_ACQ_REL, \
                                __ATOMIC_ACQUIRE)
#define mxp_atomic_cas_seq_cst(atomic, expected, to)                                         \
    __atomic_compare_exchange_n(&(atomic)->value, (expected), (to), false, __ATOMIC_SEQ_CST, \
                                __ATOMIC_SEQ_CST)

// ---- words of the file format -----------------------------------------------------------------
// For sections and chunks that are mapped from a file. Their structs (mxprof/format.h) describe the
// file's layout and have plain fields, so these operations take an address. Use them only where
// another thread or process may access the word.
#define mxp_word_load(word) __atomic_load_n((word), __ATOMIC_RELAXED)
#define mxp_word_load_acquire(word) __atomic_load_n((word), __ATOMIC_ACQUIRE)
#define mxp_word_store(word, to) __atomic_store_n((word), (to), __ATOMIC_RELAXED)
#define mxp_word_store_release(word, to) __atomic_store_n((word), (to), __ATOMIC_RELEASE)
#define mxp_word_cas_acq_rel(word, expected, to) \
    __atomic_compare_exchange_n((word), (expected), (to), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

#endif
