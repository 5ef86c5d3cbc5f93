// SPDX-License-Identifier: Apache-2.0
#include "support/awake.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "support/harness.h"

static atomic_bool wanted;
static pthread_t spinner;

static void *spin(void *nothing)
{
    (void)nothing;
    while (atomic_load_explicit(&wanted, memory_order_relaxed)) {
    }
    return NULL;
}

void bench_keep_awake(void)
{
    atomic_store(&wanted, true);
    bench_require(pthread_create(&spinner, NULL, spin, NULL) == 0, "pthread_create");
}

void bench_let_go(void)
{
    atomic_store(&wanted, false);
    bench_require(pthread_join(spinner, NULL) == 0, "pthread_join");
}
