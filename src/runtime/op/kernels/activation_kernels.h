// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of activations. Vector code is what calls no function of libm.
MXN_VECTOR_LOOP void NAME(relu)(const T *x, T *to, size_t count)
{
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        to[i] = x[i] < 0 ? 0 : x[i];
    }
}

MXN_VECTOR_LOOP void NAME(softsign)(const T *x, T *to, size_t count)
{
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        to[i] = (T)((double)x[i] / (1 + fabs((double)x[i])));
    }
}

static void NAME(sigmoids)(const T *x, T *to, size_t count)
{
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        to[i] = NAME(sigmoid)(x[i]);
    }
}

static void NAME(tangents)(const T *x, T *to, size_t count)
{
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        to[i] = NAME(tangent)(x[i]);
    }
}

static void NAME(forward)(int function, const void *from, void *into, size_t count)
{
    const T *x = from;
    T *to = into;
    if (function == MXN_ACT_RELU) {
        NAME(relu)(x, to, count);
        return;
    }
    if (function == MXN_ACT_SOFTSIGN) {
        NAME(softsign)(x, to, count);
        return;
    }
    if (function == MXN_ACT_SIGMOID) {
        NAME(sigmoids)(x, to, count);
        return;
    }
    if (function == MXN_ACT_TANH) {
        NAME(tangents)(x, to, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        to[i] = (T)activate(function, (double)x[i]);
    }
}

MXN_VECTOR_LOOP void NAME(relu_back)(const T *g, const T *y, T *to, size_t count)
{
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        const T gradient = g[i];  // in any case, as vectors read it
        to[i] = y[i] > 0 ? gradient : 0;
    }
}

MXN_VECTOR_LOOP void NAME(sigmoid_back)(const T *g, const T *y, T *to, size_t count)
{
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        to[i] = (T)((double)g[i] * ((double)y[i] * (1 - (double)y[i])));
    }
}

MXN_VECTOR_LOOP void NAME(tanh_back)(const T *g, const T *y, T *to, size_t count)
{
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        to[i] = (T)((double)g[i] * (1 - (double)y[i] * (double)y[i]));
    }
}

MXN_VECTOR_LOOP void NAME(softsign_back)(const T *g, const T *x, T *to, size_t count)
{
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        const double below = 1 + fabs((double)x[i]);
        to[i] = (T)((double)g[i] * (1 / (below * below)));
    }
}

static void NAME(backward)(int function, const void *of_y, const void *result, const void *from,
                           void *into, size_t count)
{
    const T *g = of_y, *y = result, *x = from;
    T *to = into;
    switch (function) {
    case MXN_ACT_RELU:
        NAME(relu_back)(g, y, to, count);
        return;
    case MXN_ACT_SIGMOID:
        NAME(sigmoid_back)(g, y, to, count);
        return;
    case MXN_ACT_TANH:
        NAME(tanh_back)(g, y, to, count);
        return;
    case MXN_ACT_SOFTSIGN:
        NAME(softsign_back)(g, x, to, count);
        return;
    default:
        for (size_t i = 0; i < count; i++) {
            to[i] = (T)((double)g[i] * activate_slope(function, (double)x[i], (double)y[i]));
        }
    }
}
