// SPDX-License-Identifier: Apache-2.0
// Helpers wait for the next region: a short spin, so that one kernel after the other finds them
// awake, then asleep, so that they take no core from anyone. Where the library's pool has been
// entered, its threads spin on the cores by its own rules; regions of that thread then run there,
// by the runtime's entry point: what a compiler makes of a pragma, said directly, because the
// pragma of another compiler would bring a second runtime.
#include "runtime/parallel/thread_pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/cpu/cpu.h"
#include "base/fork_lock.h"
#include "base/os/os.h"
#include "base/os/quiet_thread.h"
#include "base/setting.h"

enum { THREADS_MAX = 256, ALONE_BELOW = 16384, SPINS = 4000 };

static MXP_ATOMIC(int) size;  // 0: not read yet
static _Thread_local int current = 1;  // of the job that runs
// A forked child inherits the forking thread's pool of the library without its threads.
static _Thread_local bool in_library, lost_library;

static void begin_anew(void);

// One region at a time: whoever finds the pool busy works alone. Parts are claimed one by one, so a
// helper that comes late, because others have the core, finds nothing left and nobody waits for it.
static struct {
    mxp_fork_lock busy;
    int helpers;  // started; under `busy`
    mxn_parallel_part part;  // the region's: read by whoever has claimed a part
    void *argument;
    _Alignas(64) mxp_atomic_u32 epoch;  // counts regions; helpers wait for it to change
    mxp_atomic_u32 sleepers;
    _Alignas(64) mxp_atomic_u64 claims;  // epoch (32 bits) | parts (16) | claimed (16)
    mxp_atomic_u32 left;  // parts that are not finished
} pool = {.busy = MXP__FORK_LOCK_INIT(begin_anew)};

// ---- helpers ----------------------------------------------------------------------------------

static bool spin_until_not(const mxp_atomic_u32 *word, uint32_t value)
{
    for (int i = 0; i < SPINS; i++) {
        if (mxp_atomic_load_acquire(word) != value) {
            return true;
        }
        mxp__cpu_relax();
    }
    return false;
}

static uint32_t wait_for_region(uint32_t seen)
{
    if (!spin_until_not(&pool.epoch, seen)) {
        // Pairs with the look at `sleepers` in open_region: one of the two sees the other.
        mxp_atomic_add_seq_cst(&pool.sleepers, 1u);
        while (mxp_atomic_load_seq_cst(&pool.epoch) == seen) {
            mxp__os_word_wait(&pool.epoch, seen);
        }
        mxp_atomic_sub(&pool.sleepers, 1u);
    }
    return mxp_atomic_load_acquire(&pool.epoch);
}

// Runs parts of this region as long as there are any.
static void run_parts(uint32_t epoch)
{
    uint64_t claims = mxp_atomic_load(&pool.claims);
    for (;;) {
        int parts = (int)(claims >> 16 & 0xffff), next = (int)(claims & 0xffff);
        if (claims >> 32 != epoch || next >= parts) {
            return;
        }
        // Pairs with the release in open_region; a region with a claimed part stays open.
        if (!mxp_atomic_cas_acquire(&pool.claims, &claims, claims + 1)) {
            continue;
        }
        pool.part(pool.argument, next, parts);
        // Pairs with the acquire in close_region.
        if (mxp_atomic_sub_acq_rel(&pool.left, 1u) == 1) {
            mxp__os_word_wake(&pool.left, true);
        }
        claims = mxp_atomic_load(&pool.claims);
    }
}

static void *help(void *seen_before)
{
    for (uint32_t seen = (uint32_t)(uintptr_t)seen_before;;) {
        seen = wait_for_region(seen);
        run_parts(seen);
    }
    return NULL;
}

static bool start_helper(void)
{
    uintptr_t seen = mxp_atomic_load(&pool.epoch);
    return mxp__os_start_thread(NULL, help, (void *)seen) == 0;
}

static void begin_anew(void)
{
    lost_library = lost_library || in_library;
    pool.helpers = 0;
    mxp_atomic_set(&pool.sleepers, 0);
    mxp_atomic_set(&pool.left, 0);
}

// ---- regions ----------------------------------------------------------------------------------

static void start_helpers_locked(int count)
{
    assert(mxp__lock_is_held(&pool.busy.lock));
    mxp__fork_lock_list(&pool.busy);
    while (pool.helpers < count && start_helper()) {
        pool.helpers++;
    }
}

// Its number. Without helpers the one who opens it runs all parts.
static uint32_t open_region(int threads, mxn_parallel_part part, void *argument)
{
    assert(mxp__lock_is_held(&pool.busy.lock));
    assert(mxp_atomic_load(&pool.left) == 0 && "a region opens while another one runs");
    assert(threads <= THREADS_MAX);
    uint32_t epoch = mxp_atomic_load(&pool.epoch) + 1;
    pool.part = part;
    pool.argument = argument;
    mxp_atomic_store(&pool.left, (uint32_t)threads);
    mxp_atomic_store_release(&pool.claims, (uint64_t)epoch << 32 | (uint64_t)threads << 16);
    mxp_atomic_store_seq_cst(&pool.epoch, epoch);
    if (mxp_atomic_load_seq_cst(&pool.sleepers) != 0) {
        mxp__os_word_wake(&pool.epoch, true);
    }
    return epoch;
}

static void close_region(void)
{
    uint32_t left;
    while ((left = mxp_atomic_load_acquire(&pool.left)) != 0) {
        if (!spin_until_not(&pool.left, left)) {
            mxp__os_word_wait(&pool.left, left);
        }
    }
}

// ---- the library's pool -----------------------------------------------------------------------

#ifdef MXN_WITH_DNNL
extern void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);
extern int omp_get_max_threads(void);
extern void omp_set_num_threads(int threads);

typedef struct region {
    mxn_parallel_part part;
    void *argument;
} region;

static void run_part(void *data)
{
    const region *r = data;
    r->part(r->argument, omp_get_thread_num(), omp_get_num_threads());
}

static void run_in_library(int threads, mxn_parallel_part part, void *argument)
{
    region r = {part, argument};
    GOMP_parallel(run_part, &r, (unsigned)threads, 0);
}
#else
static int omp_get_max_threads(void)
{
    return 1;
}

static void omp_set_num_threads(int threads)
{
    (void)threads;
}

static void run_in_library(int threads, mxn_parallel_part part, void *argument)
{
    (void)threads;
    part(argument, 0, 1);
}
#endif

int mxn__threads_for_library(void)
{
    mxp__fork_lock_list(&pool.busy);
    int threads = lost_library ? 1 : current;
    in_library = in_library || threads > 1;
    omp_set_num_threads(threads);
    return threads;
}

void mxn__parallel_run(int threads, mxn_parallel_part part, void *argument)
{
    if (threads <= 1) {
        part(argument, 0, 1);
    } else if (in_library && !lost_library) {
        run_in_library(threads, part, argument);
    } else if (!mxp__try_lock(&pool.busy.lock)) {
        part(argument, 0, 1);
    } else {
        start_helpers_locked(threads - 1);
        run_parts(open_region(threads, part, argument));
        close_region();
        mxp__fork_unlock(&pool.busy);
    }
}

// ---- how many ---------------------------------------------------------------------------------

// What OMP_NUM_THREADS says, of a list the first number; as OpenMP does, what is ill-formed is
// passed over: 0.
static int openmp_threads(void)
{
    const char *text = getenv("OMP_NUM_THREADS");
    char *end;
    long number = text == NULL ? 0 : strtol(text, &end, 10);
    if (number < 1 || number > THREADS_MAX) {
        return 0;
    }
    end += strspn(end, " \t\n");
    return *end == '\0' || *end == ',' ? (int)number : 0;
}

int mxn_thread_pool_check(void)
{
    int standard = openmp_threads();
    standard = standard == 0 ? (int)mxp__os_cpu_count() : standard;
    uint64_t threads = 1;
    int error =
        mxp__setting_read("MXNET_OMP_MAX_THREADS", (uint64_t)standard, 1, THREADS_MAX, &threads);
    int expected = 0, found = threads < THREADS_MAX ? (int)threads : THREADS_MAX;
    mxp_atomic_cas(&size, &expected, found);
    return error;
}

void mxn_thread_pool_resize(int threads)
{
    mxp_atomic_store(&size, threads < THREADS_MAX ? threads : THREADS_MAX);
}

void mxn__threads_enter(bool parallel)
{
    current = 1;
    if (parallel) {
        int threads = mxp_atomic_load(&size);
        if (threads == 0) {
            mxn_thread_pool_check();
            threads = mxp_atomic_load(&size);
        }
        current = threads;
    }
}

mxn_thread_setting mxn__threads_borrow(void)
{
    const mxn_thread_setting before = {current, omp_get_max_threads(), in_library};
    mxn__threads_enter(true);
    return before;
}

void mxn__threads_return(const mxn_thread_setting *before)
{
    current = before->threads;
    in_library = before->in_library;
    omp_set_num_threads(before->library_threads);
}

int mxn__threads_for(double work)
{
    return work < ALONE_BELOW ? 1 : current;
}

int mxn__threads_most(void)
{
    return current;
}
