// SPDX-License-Identifier: Apache-2.0
// What handing operations to a worker costs: one thread takes blocks from a pool, fills them and
// publishes them in a ring, another calls what is in them and gives them back. No order, no
// variables, no waiting for one. A batch is as long as that of empty operations.
//
// Each block goes over and comes back by itself. Given back 128 at a time, as the engine does, one
// takes anything from 4 to 25 ns, by who is faster and how blocks lie in memory: no reference.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/runtime_side.h"

enum { BATCH = 60000, RING = 4096 };

typedef struct block {
    struct block *next;
    void (*function)(void *context, void *argument);
    void *argument;
    uint64_t word[];
} block;

static struct {
    _Alignas(64) _Atomic uint64_t tail;  // written by the pusher
    _Alignas(64) _Atomic uint64_t head;  // by the worker
    _Alignas(64) _Atomic(block *) returned;  // by the worker; the pusher takes all
    _Alignas(64) block *slot[RING];
} ring;

static block *pool;  // the pusher's
static int words;  // a block has beside its function and its argument

static void nothing(void *context, void *argument)
{
    (void)context;
    (void)argument;
}

static void give_back(block *op)
{
    op->next = atomic_load_explicit(&ring.returned, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&ring.returned, &op->next, op,
                                                  memory_order_release, memory_order_relaxed)) {
    }
}

// It lives for a batch only: it spins, and would disturb whoever is measured next.
static void *work(void *unused)
{
    (void)unused;
    uint64_t head = atomic_load_explicit(&ring.head, memory_order_relaxed), tail = head;
    for (const uint64_t end = head + BATCH; head != end; head++) {
        while (head == tail) {
            tail = atomic_load_explicit(&ring.tail, memory_order_acquire);
        }
        block *op = ring.slot[head % RING];
        op->function(op->word, op->argument);
        give_back(op);
        atomic_store_explicit(&ring.head, head + 1, memory_order_release);
    }
    return NULL;
}

static void prepare_blocks(int block_words)
{
    words = block_words;
    size_t size_bytes = sizeof(block) + (size_t)words * sizeof(uint64_t);
    for (int i = 0; i < 2 * RING; i++) {
        block *added = aligned_alloc(64, (size_bytes + 63) / 64 * 64);
        if (added == NULL) {
            side_fail("memory");
        }
        added->next = pool;
        pool = added;
    }
}

// One line of the cache, and two: as many as an operation on one and on three variables needs.
static void prepare_one(void)
{
    prepare_blocks(5);
}

static void prepare_two(void)
{
    prepare_blocks(13);
}

static block *take(void)
{
    while (pool == NULL) {
        pool = atomic_exchange_explicit(&ring.returned, NULL, memory_order_acquire);
    }
    block *taken = pool;
    pool = taken->next;
    return taken;
}

static void push(uint64_t number)
{
    while (number - atomic_load_explicit(&ring.head, memory_order_acquire) >= RING) {
    }
    block *op = take();
    op->function = nothing;
    op->argument = NULL;
    for (int i = 0; i < words; i++) {
        op->word[i] = number;
    }
    ring.slot[number % RING] = op;
    atomic_store_explicit(&ring.tail, number + 1, memory_order_release);
}

static void batch(void)
{
    pthread_t worker;
    if (pthread_create(&worker, NULL, work, NULL) != 0) {
        side_fail("pthread_create");
    }
    static uint64_t number;
    double begin = side_now_ns();
    for (int i = 0; i < BATCH; i++) {
        push(number++);
    }
    while (atomic_load_explicit(&ring.head, memory_order_acquire) != number) {
    }
    double end = side_now_ns();
    pthread_join(worker, NULL);
    side_answer("ns", (end - begin) / BATCH, NULL, 0);
}

const side_workload side_bare_hand_off[] = {{"hand_off", prepare_one, batch},
                                            {"hand_off_two_lines", prepare_two, batch},
                                            {NULL, NULL, NULL}};
