// SPDX-License-Identifier: Apache-2.0
// The rules of updates, element by element, computed as doubles and rounded once.
#include "runtime/op/loops/update_loops.h"

#include <math.h>

// To -limit .. limit, unless that is negative.
static inline double cut(double value, double limit)
{
    return limit < 0 ? value : value > limit ? limit : value < -limit ? -limit : value;
}

#define CLIPPED_GRADIENT(type)                                          \
    static inline double gradient_##type(const mxn_update *u, size_t i) \
    {                                                                   \
        double g = (double)((const type *)u->gradient)[i] * u->scale;   \
        return cut(g, u->clip);                                         \
    }
// w - lr (g + wd w)
#define SGD(type)                                                                               \
    static void sgd_##type(const mxn_update *u)                                                 \
    {                                                                                           \
        const type *w = u->weight;                                                              \
        type *to = u->to;                                                                       \
        for (size_t i = 0; i < u->count; i++) {                                                 \
            to[i] = (type)((1 - u->lr * u->wd) * (double)w[i] - u->lr * gradient_##type(u, i)); \
        }                                                                                       \
    }
// m = momentum m - lr (g + wd w); w + m
#define SGD_MOM(type)                                                              \
    static void sgd_mom_##type(const mxn_update *u)                                \
    {                                                                              \
        const type *w = u->weight;                                                 \
        type *m = u->state, *to = u->to;                                           \
        for (size_t i = 0; i < u->count; i++) {                                    \
            m[i] = (type)(u->momentum * (double)m[i] -                             \
                          u->lr * (u->wd * (double)w[i] + gradient_##type(u, i))); \
            to[i] = w[i] + m[i];                                                   \
        }                                                                          \
    }
// The clip is of g + wd w, as the original does it.
#define ADAM(type)                                                                         \
    static void adam_##type(const mxn_update *u)                                           \
    {                                                                                      \
        const type *w = u->weight, *raw = u->gradient;                                     \
        type *mean = u->state, *var = u->second_state, *to = u->to;                        \
        const double b1 = u->beta1, b2 = u->beta2;                                         \
        for (size_t i = 0; i < u->count; i++) {                                            \
            double g = (double)raw[i] * u->scale + u->wd * (double)w[i];                   \
            g = cut(g, u->clip);                                                           \
            mean[i] = (type)(b1 * (double)mean[i] + (1 - b1) * g);                         \
            var[i] = (type)(b2 * (double)var[i] + (1 - b2) * g * g);                       \
            to[i] = (type)((double)w[i] -                                                  \
                           u->lr * (double)mean[i] / (sqrt((double)var[i]) + u->epsilon)); \
        }                                                                                  \
    }
// Nesterov's: m = momentum m - lr (g + wd w); w + momentum m - lr (g + wd w)
#define NAG(type)                                                                       \
    static void nag_##type(const mxn_update *u)                                         \
    {                                                                                   \
        const type *w = u->weight;                                                      \
        type *m = u->state, *to = u->to;                                                \
        const double momentum = u->momentum;                                            \
        for (size_t i = 0; i < u->count; i++) {                                         \
            const double step = u->lr * (u->wd * (double)w[i] + gradient_##type(u, i)); \
            const double next = momentum * (double)m[i] - step;                         \
            m[i] = (type)next;                                                          \
            to[i] = (type)((double)w[i] + momentum * next - step);                      \
        }                                                                               \
    }
#define SIGNSGD(type)                                                          \
    static void signsgd_##type(const mxn_update *u)                            \
    {                                                                          \
        const type *w = u->weight, *raw = u->gradient;                         \
        type *to = u->to;                                                      \
        for (size_t i = 0; i < u->count; i++) {                                \
            const double sign = (double)((raw[i] > 0) - (raw[i] < 0));         \
            to[i] = (type)((1 - u->lr * u->wd) * (double)w[i] - u->lr * sign); \
        }                                                                      \
    }
// The clip is of g + wd w, as the original does it; a second one, of the weight, comes last.
#define RMSPROP(type)                                                                            \
    static inline double decayed_##type(const mxn_update *u, size_t i)                           \
    {                                                                                            \
        const double g = (double)((const type *)u->gradient)[i] * u->scale;                      \
        return cut(g + u->wd * (double)((const type *)u->weight)[i], u->clip);                   \
    }                                                                                            \
    static void rmsprop_##type(const mxn_update *u)                                              \
    {                                                                                            \
        const double rho = u->rho;                                                               \
        type *n = u->state, *to = u->to;                                                         \
        for (size_t i = 0; i < u->count; i++) {                                                  \
            const double g = decayed_##type(u, i);                                               \
            n[i] = (type)(rho * (double)n[i] + (1 - rho) * g * g);                               \
            const double w = (double)((const type *)u->weight)[i];                               \
            to[i] = (type)cut(w - u->lr * g / sqrt((double)n[i] + u->epsilon), u->weight_clip);  \
        }                                                                                        \
    }                                                                                            \
    static void rmspropalex_##type(const mxn_update *u)                                          \
    {                                                                                            \
        const double rho = u->rho;                                                               \
        type *n = u->state, *mean = u->second_state, *delta = u->third_state, *to = u->to;       \
        for (size_t i = 0; i < u->count; i++) {                                                  \
            const double g = decayed_##type(u, i);                                               \
            n[i] = (type)(rho * (double)n[i] + (1 - rho) * g * g);                               \
            mean[i] = (type)(rho * (double)mean[i] + (1 - rho) * g);                             \
            const double spread = (double)n[i] - (double)mean[i] * (double)mean[i] + u->epsilon; \
            delta[i] = (type)(u->momentum * (double)delta[i] - u->lr * g / sqrt(spread));        \
            const double w = (double)((const type *)u->weight)[i];                               \
            to[i] = (type)cut(w + (double)delta[i], u->weight_clip);                             \
        }                                                                                        \
    }
#define ALL_OF(type) \
    CLIPPED_GRADIENT(type) SGD(type) SGD_MOM(type) ADAM(type) NAG(type) SIGNSGD(type) RMSPROP(type)
ALL_OF(float)
ALL_OF(double)

static void (*const rules[][2])(const mxn_update *u) = {
    [MXN_RULE_SGD] = {sgd_float, sgd_double},
    [MXN_RULE_SGD_MOM] = {sgd_mom_float, sgd_mom_double},
    [MXN_RULE_ADAM] = {adam_float, adam_double},
    [MXN_RULE_NAG] = {nag_float, nag_double},
    [MXN_RULE_SIGNSGD] = {signsgd_float, signsgd_double},
    [MXN_RULE_RMSPROP] = {rmsprop_float, rmsprop_double},
    [MXN_RULE_RMSPROPALEX] = {rmspropalex_float, rmspropalex_double},
};

void mxn__update_run(int rule, int32_t dtype, const mxn_update *update)
{
    rules[rule][dtype == MXN_FLOAT64](update);
}
