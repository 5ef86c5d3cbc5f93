// SPDX-License-Identifier: Apache-2.0
// Phase and scope of everything a training step pushes, whatever it is called, and of what custom
// operators push on threads of their own.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <string.h>

#include "add_one.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"

static NDArrayHandle make(float first)
{
    const int64_t shape[] = {2, 2};
    NDArrayHandle array = NULL;
    assert_int_equal(MXNDArrayCreate64(shape, 2, 1, 0, 0, 0, &array), 0);
    const float values[] = {first, first + 1, first + 2, first + 3};
    assert_int_equal(MXNDArraySyncCopyFromCPU(array, values, 4), 0);
    return array;
}

static NDArrayHandle run(const char *name, int input_count, NDArrayHandle *inputs,
                         NDArrayHandle out, const char *key, const char *value)
{
    OpHandle op = NULL;
    NDArrayHandle list[] = {out}, *outputs = out == NULL ? NULL : list;
    int count = out != NULL;
    assert_int_equal(NNGetOpHandle(name, &op), 0);
    if (MXImperativeInvoke(op, input_count, inputs, &count, &outputs, key != NULL, &key, &value,
                           NULL) != 0) {
        fail_msg("%s: %s", name, MXGetLastError());
    }
    return outputs[0];
}

static const char *scope_of(const live_events *live, const mxp_event *event)
{
    uint32_t scope = (uint32_t)event->words[6];
    return scope == 0 ? "" : live->source->name(live->source, scope).text;
}

// All operations of this name, at least one, are of the phase and the scope.
static void assert_all(const live_events *live, const char *name, int phase, const char *scope)
{
    size_t count = live_events_count(live, MXP_KIND_OPERATOR, name);
    if (count == 0) {
        fail_msg("no %s was recorded", name);
    }
    for (size_t i = 0; i < count; i++) {
        const mxp_event *event = live_events_find(live, MXP_KIND_OPERATOR, name, i);
        if ((event->flags & MXP_OP_PHASE_MASK) != phase ||
            strcmp(scope_of(live, event), scope) != 0) {
            fail_msg("%s has phase %d and scope '%s'", name, event->flags & MXP_OP_PHASE_MASK,
                     scope_of(live, event));
        }
    }
}

static void everything_in_a_step_says_what_it_is_for(void **state)
{
    live_events_start(state);
    NDArrayHandle x = make(1), gradient = make(0), other = make(0), filled = make(0);
    mx_uint write = 1;
    int before = 0;
    assert_int_equal(MXAutogradMarkVariables(1, &x, &write, &gradient), 0);
    MXAutogradSetIsRecording(1, &before);
    MXSetProfilerScope("layer:");
    NDArrayHandle y = run("square", 1, &x, NULL, NULL, NULL);
    run("_copyto", 1, &y, other, NULL, NULL);
    run("_set_value", 0, NULL, filled, "src", "3");
    MXNDArrayFree(make(0));
    MXSetProfilerScope("<unk>:");
    MXAutogradSetIsRecording(0, &before);
    assert_int_equal(MXNDArrayWaitAll(), 0);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_all(&live, "square", MXP_PHASE_FORWARD, "layer:");
    assert_all(&live, "CopyCPU2CPU", MXP_PHASE_FORWARD, "layer:");
    assert_all(&live, "SetValueOp", MXP_PHASE_FORWARD, "layer:");
    assert_all(&live, "DeleteVariable", MXP_PHASE_FORWARD, "layer:");
    live_events_free(&live);

    assert_int_equal(MXAutogradBackward(1, &y, NULL, 0), 0);
    assert_int_equal(MXNDArrayWaitAll(), 0);
    live = live_events_take(MXP__CONSUMER_FILE);
    assert_all(&live, "SetValueOp", MXP_PHASE_BACKWARD, "layer:");
    assert_all(&live, "_backward_square", MXP_PHASE_BACKWARD, "layer:");
    live_events_free(&live);

    NDArrayHandle pair[] = {x, gradient};
    run("sgd_update", 2, pair, x, "lr", "0.1");
    run("_copyto", 1, &x, other, NULL, NULL);
    assert_int_equal(MXNDArrayWaitAll(), 0);
    live = live_events_take(MXP__CONSUMER_FILE);
    assert_all(&live, "sgd_update", MXP_PHASE_UPDATE, "");
    assert_all(&live, "CopyCPU2CPU", MXP_PHASE_NONE, "");
    live_events_free(&live);
    NDArrayHandle all[] = {x, gradient, other, filled, y};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        MXNDArrayFree(all[i]);
    }
    live_events_stop(state);
}

static void custom_operators_hand_them_on(void **state)
{
    live_events_start(state);
    add_one_register();
    NDArrayHandle x = make(1), gradient = make(0), y = NULL;
    mx_uint write = 1;
    int before = 0;
    assert_int_equal(MXAutogradMarkVariables(1, &x, &write, &gradient), 0);
    MXAutogradSetIsRecording(1, &before);
    MXSetProfilerScope("mine:");
    assert_int_equal(add_one_invoke(ADD_ONE_PLAIN, x, NULL, &y), 0);
    MXSetProfilerScope("<unk>:");
    MXAutogradSetIsRecording(0, &before);
    assert_int_equal(MXAutogradBackward(1, &y, NULL, 0), 0);
    assert_int_equal(MXNDArrayWaitAll(), 0);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_all(&live, "MyAddOne::_plus_scalar", MXP_PHASE_FORWARD, "mine:");
    assert_all(&live, "MyAddOne::CopyCPU2CPU", MXP_PHASE_FORWARD, "mine:");
    assert_all(&live, "_backward_MyAddOne::CopyCPU2CPU", MXP_PHASE_BACKWARD, "mine:");
    live_events_free(&live);
    MXNDArrayFree(x);
    MXNDArrayFree(gradient);
    MXNDArrayFree(y);
    live_events_stop(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_in_a_step_says_what_it_is_for),
        cmocka_unit_test(custom_operators_hand_them_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
