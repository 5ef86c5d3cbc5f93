// SPDX-License-Identifier: Apache-2.0
#include "engine_work.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/os/os.h"
#include "cmocka_all.h"

void engine_use(const char *type)
{
    assert_int_equal(mxn_engine_stop(), 0);
    if (type != NULL) {
        setenv("MXNET_ENGINE_TYPE", type, 1);
    } else {
        unsetenv("MXNET_ENGINE_TYPE");
    }
    assert_int_equal(mxn_engine_start(), 0);
}

int engine_gate_function(const mxn_run *run, void *argument)
{
    (void)run;
    engine_gate *gate = argument;
    __atomic_store_n(&gate->entered, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&gate->open, __ATOMIC_ACQUIRE) == 0) {
        mxp__os_sleep_us(20);
    }
    return 0;
}

void engine_gate_open(engine_gate *gate)
{
    __atomic_store_n(&gate->open, 1, __ATOMIC_RELEASE);
}

void engine_gate_wait_entered(engine_gate *gate)
{
    while (__atomic_load_n(&gate->entered, __ATOMIC_ACQUIRE) == 0) {
        mxp__os_sleep_us(20);
    }
}

void engine_gate_push(engine_gate *gate, mxn_var *var)
{
    *gate = (engine_gate){0};
    engine_push(engine_gate_function, gate, NULL, var);
}

int engine_do_nothing(const mxn_run *run, void *argument)
{
    (void)run;
    (void)argument;
    return 0;
}

int engine_add_one(const mxn_run *run, void *counter)
{
    (void)run;
    __atomic_fetch_add((uint32_t *)counter, 1, __ATOMIC_RELAXED);
    return 0;
}

int engine_fail(const mxn_run *run, void *text)
{
    (void)run;
    return mxp__fail(MXP_EVALUE, "%s", (const char *)text);
}

int engine_push_work(mxn_work work, mxn_var *read, mxn_var *write)
{
    work.reads = &read;
    work.read_count = read != NULL;
    work.writes = &write;
    work.write_count = write != NULL;
    return mxn_push(&work);
}

void engine_push(int (*function)(const mxn_run *run, void *argument), void *argument, mxn_var *read,
                 mxn_var *write)
{
    int code =
        engine_push_work((mxn_work){.function.sync = function, .argument = argument}, read, write);
    if (code != 0) {
        fail_msg("push: %s", mxp_last_error());
    }
}
