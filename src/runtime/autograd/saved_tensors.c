// SPDX-License-Identifier: Apache-2.0
// Values that gradients ask for are saved as views of the arrays' memory, not as copies: backward
// would take silently what a program has written there since. So each is saved with the count of
// writes to its memory, and backward looks whether that has moved on.
#include <pthread.h>

#include "base/fail.h"
#include "base/setting.h"
#include "runtime/autograd/tape_plan.h"

static uint64_t check = 1;
static int check_error;
static pthread_once_t check_once = PTHREAD_ONCE_INIT;

static const char variable[] = "MXNET_AUTOGRAD_CHECK_VALUES";

static void read_check(void)
{
    check_error = mxp__setting_read(variable, 1, 0, 1, &check);
}

int mxn_autograd_checks_values(bool *checks)
{
    pthread_once(&check_once, read_check);
    *checks = check != 0;
    uint64_t again;
    return check_error == MXP_OK ? MXP_OK : mxp__setting_read(variable, 1, 0, 1, &again);
}

int mxn__saved_take(mxn_saved *saved, mxn_array *array)
{
    saved->values = mxn_array_values(array);
    return mxn_array_detach(array, &saved->array);
}

static int fail_changed(const mxn_node *node, const mxn_saved *saved)
{
    const mxn_params *params = node->params;
    const bool output = saved >= node->outputs;
    const uint32_t index = (uint32_t)(saved - (output ? node->outputs : node->inputs));
    char buffer[64], shape[MXN_SHAPE_TEXT];
    return mxp__fail(MXP_ESTATE,
                     "Operator %s: %s %u%s%s%s of shape %s was changed after it was recorded: its "
                     "gradient needs the values that were there. Call backward first, or change a "
                     "copy; with %s=0 the changed values are taken",
                     params->op->name, output ? "output" : "input", index, output ? "" : " (",
                     output ? "" : mxn_params_input_name(params, index, buffer), output ? "" : ")",
                     mxn_shape_tuple(&saved->shape, shape), variable);
}

static int check_saved(const mxn_node *node, const mxn_saved *saved)
{
    if (saved->array == NULL || saved->written ||
        mxn_array_has_values(saved->array, saved->values)) {
        return MXP_OK;
    }
    bool checks;
    int error = mxn_autograd_checks_values(&checks);
    return error != MXP_OK || !checks ? error : fail_changed(node, saved);
}

int mxn__tape_check_value(const void *of, const mxn_source *value)
{
    const mxn_node *node = of;
    return check_saved(node, value->kind == MXN_FROM_INPUT ? &node->inputs[value->index]
                                                           : &node->outputs[value->index]);
}
