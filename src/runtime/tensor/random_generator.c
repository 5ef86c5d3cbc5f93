// SPDX-License-Identifier: Apache-2.0
// The random generators of the process, and the start of the resource manager, which is their first
// seed. A generator is a key and the number of the next block; only operations that write its
// variable touch it.
#include <assert.h>
#include <mxprof/record.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/fork_lock.h"
#include "base/os/os.h"
#include "base/setting.h"
#include "runtime/tensor/resource.h"
#include "runtime/tensor/resource_state.h"

enum { COPIES_MAX = 64 };

struct mxn_random {
    mxn_var *var;
    uint64_t key, next_block;
};

mxp_atomic_u32 mxn__resources_started;

// Of the start and of seeds. What its holder in the parent was about to do is done again.
static mxp_fork_lock lock = MXP__FORK_LOCK_INIT(NULL);
static mxn_random *generators[1 + COPIES_MAX];  // the plain one, then the parallel ones
static uint32_t parallel_count;
static mxp_atomic_u32 turn;  // of the parallel ones; a seed begins them anew
static bool is_seeded;  // by the program
static int64_t global_seed;

// ---- Philox 4x32-10 ---------------------------------------------------------------------------
void mxn_random_block(uint64_t key, uint64_t block, uint32_t numbers[4])
{
    uint32_t a = (uint32_t)block, b = (uint32_t)(block >> 32), c = 0, d = 0;
    uint32_t low_key = (uint32_t)key, high_key = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t left = (uint64_t)a * 0xd2511f53u;
        uint64_t right = (uint64_t)c * 0xcd9e8d57u;
        a = (uint32_t)(right >> 32) ^ b ^ low_key;
        b = (uint32_t)right;
        c = (uint32_t)(left >> 32) ^ d ^ high_key;
        d = (uint32_t)left;
        low_key += 0x9e3779b9u;
        high_key += 0xbb67ae85u;
    }
    numbers[0] = a;
    numbers[1] = b;
    numbers[2] = c;
    numbers[3] = d;
}

void mxn_random_reserve(mxn_random *random, uint64_t blocks, uint64_t *key, uint64_t *first)
{
    assert(mxn_var_is_ours(random->var, true));
    *key = random->key;
    *first = random->next_block;
    random->next_block += blocks;
}

mxn_var *mxn_random_var(const mxn_random *random)
{
    return random->var;
}

// ---- seeds ------------------------------------------------------------------------------------
typedef struct seed_job {
    mxn_random *random;
    uint64_t key;
} seed_job;

static void run_seed(void *run, void *argument)
{
    (void)run;
    const seed_job *job = argument;
    job->random->key = job->key;
    job->random->next_block = 0;
}

static void free_seed(void *argument)
{
    mxp__free(argument, sizeof(seed_job));
}

// The seed of copy i on device 0 is 16 i + 127 seed, as the original counts; the last bit keeps the
// plain generator apart from the first parallel one. Then the small numbers are spread over all
// bits.
static uint64_t key_of(uint32_t index)
{
    uint32_t copy = index == 0 ? 0 : index - 1;
    uint64_t x = (uint64_t)(16 * (int64_t)copy + 127 * global_seed) << 1 | (index == 0);
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static int push_seed(uint32_t index, const char *operation)
{
    seed_job *job = mxp__alloc(sizeof *job);
    if (job == NULL) {
        return mxp__fail_memory("a random seed");
    }
    mxn_random *random = generators[index];
    *job = (seed_job){random, key_of(index)};
    return mxn_push(&(mxn_work){
        .function.plain = run_seed,
        .form = MXN_VOID,
        .argument = job,
        .deleter = free_seed,
        .writes = &random->var,
        .write_count = 1,
        .name = mxp_span_name("operator", operation),
    });
}

static int seed_parallel_locked(const char *operation)
{
    assert(mxp__lock_is_held(&lock.lock));
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < parallel_count; i++) {
        error = push_seed(1 + i, operation);
    }
    return error;
}

// ---- start ------------------------------------------------------------------------------------
static int make_generator(uint32_t index)
{
    if (generators[index] != NULL) {
        return MXP_OK;
    }
    mxn_random *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("a random generator");
    }
    made->var = mxn_var_new_resource();
    if (made->var == NULL) {
        mxp__free(made, sizeof *made);
        return MXP_ENOMEM;
    }
    generators[index] = made;
    return MXP_OK;
}

static int start_locked(void)
{
    assert(mxp__lock_is_held(&lock.lock));
    uint64_t copies;
    int error = mxp__setting_read("MXNET_CPU_PARALLEL_RAND_COPY", 1, 1, COPIES_MAX, &copies);
    for (uint32_t i = 0; error == MXP_OK && i <= copies; i++) {
        error = make_generator(i);
    }
    if (error != MXP_OK) {
        return error;
    }
    if (!is_seeded) {
        global_seed = (int64_t)(mxp__os_realtime_ns() / 1000000000u);
    }
    parallel_count = (uint32_t)copies;
    generators[0]->key = key_of(0);
    error = seed_parallel_locked("ResourceParallelRandomSetSeed");
    if (error == MXP_OK) {
        mxp_atomic_store_release(&mxn__resources_started, 1u);  // mxn__resources_start
    }
    return error;
}

int mxn__resources_start_slow(void)
{
    mxp__fork_lock(&lock);
    int error = mxp_atomic_own(&mxn__resources_started) != 0 ? MXP_OK : start_locked();
    mxp__fork_unlock(&lock);
    return error;
}

int mxn_random_get(mxn_context context, mxn_random **random)
{
    int error = mxn_context_check(context);
    if (error == MXP_OK) {
        error = mxn__resources_start();
    }
    *random = generators[0];
    return error;
}

int mxn_random_get_parallel(mxn_context context, mxn_random **random)
{
    int error = mxn_context_check(context);
    if (error == MXP_OK) {
        error = mxn__resources_start();
    }
    if (error == MXP_OK) {
        uint32_t next = mxp_atomic_add(&turn, 1u);
        *random = generators[1 + next % parallel_count];
    }
    return error;
}

// ---- the program's seeds ----------------------------------------------------------------------
static int seed_locked(int seed)
{
    assert(mxp__lock_is_held(&lock.lock));
    global_seed = seed;
    is_seeded = true;
    mxp_atomic_store(&turn, 0u);
    int error = mxp_atomic_own(&mxn__resources_started) != 0 ? MXP_OK : start_locked();
    if (error == MXP_OK) {
        error = push_seed(0, "ResourceRandomSetSeed");
    }
    return error == MXP_OK ? seed_parallel_locked("ResourceNativeRandomSetSeed") : error;
}

int mxn_random_seed(int seed)
{
    mxp__fork_lock(&lock);
    int error = seed_locked(seed);
    mxp__fork_unlock(&lock);
    return error;
}

int mxn_random_seed_context(int seed, mxn_context context)
{
    int error = mxn_context_check(context);
    return error == MXP_OK ? mxn_random_seed(seed) : error;
}
