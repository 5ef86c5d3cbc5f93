// SPDX-License-Identifier: Apache-2.0
// The optimizers whose updates are operators of the registry: what each is called, what it takes,
// how many arrays it keeps beside a weight, and the operator of one update. Names, defaults and
// numbers are those of python/mxnet/optimizer, which tests compare. Private to kvstore/.
#ifndef MXN_KVSTORE_UPDATE_RULES_H
#define MXN_KVSTORE_UPDATE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What optimizers are made with. A NaN is one that was not given (null in a text); flags are 0, 1.
typedef struct mxn_kv_settings {
    double lr, wd, rescale_grad, clip_gradient, begin_num_update, multi_precision;
    double momentum, momentum_correction, beta1, beta2, epsilon, rho, beta, lamda1, wd_lh, eta, eps;
    double lower_bound, upper_bound, clip_weights, centered, bias_correction;
    double unused;  // what only the program's side looks at
} mxn_kv_settings;

// OPTIONAL: a number or null. ALIAS: likewise, a second name of an argument before it.
enum { MXN_KV_NUMBER, MXN_KV_FLAG, MXN_KV_OPTIONAL, MXN_KV_ALIAS };

typedef struct mxn_kv_argument {
    const char *name;  // null ends a table
    int kind;
    size_t offset;  // of a double in mxn_kv_settings
    double value;  // the default
} mxn_kv_argument;

// One update of one weight.
typedef struct mxn_kv_step {
    double lr, wd;
    double momentum;  // of this step
    uint32_t count;  // which update of the weight, from 1
    bool mixed;  // the operator gets a float16 weight, with its float32 copy as last state
} mxn_kv_step;

enum { MXN_KV_PAIRS = 12, MXN_KV_VALUE = 40 };

// An operator with its parameters. It takes the weight, the gradient and the states, and gives the
// weight.
typedef struct mxn_kv_operation {
    const char *name;
    uint32_t count;
    const char *keys[MXN_KV_PAIRS];
    char values[MXN_KV_PAIRS][MXN_KV_VALUE];
} mxn_kv_operation;

typedef struct mxn_kv_rule {
    const char *name;  // as Python's registry has it: in lower case
    double rate;  // the learning rate if none is given
    const mxn_kv_argument *arguments;  // beside those of mxn__kv_common_arguments
    bool knows_copies;  // its operators do a float16 weight with a float32 copy themselves
    bool copy_last;  // in files that copy comes after the states, else before them
    bool is_lars;  // its rates come from norms of weights: several operators an update
    bool spares_gamma;  // weights whose names end in _gamma do not decay
    uint32_t (*states)(const mxn_kv_settings *settings);  // arrays like the weight, zeros at first
    void (*describe)(const mxn_kv_settings *settings, const mxn_kv_step *step,
                     mxn_kv_operation *operation);
} mxn_kv_rule;

extern const mxn_kv_argument mxn__kv_common_arguments[];

const mxn_kv_rule *mxn__kv_rule_find(const char *name);  // in any case; null: there is none
const mxn_kv_rule *mxn__kv_rule_at(uint32_t index);  // null after the last

// Appends a parameter, as the shortest text that reads back exactly would be read.
void mxn__kv_operation_add(mxn_kv_operation *operation, const char *key, double value);

#endif
