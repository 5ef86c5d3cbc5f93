// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of losses. Vector code is what calls no function of libm.
static void NAME(logistic)(const void *from, void *into, size_t count)
{
    const T *x = from;
    T *to = into;
    for (size_t i = 0; i < count; i++) {
        to[i] = (T)(1 / (1 + exp(-(double)x[i])));
    }
}

MXN_VECTOR_LOOP void NAME(distance)(const void *result, const void *wanted, void *into,
                                    double scale, size_t count)
{
    const T *y = result, *label = wanted;
    T *to = into;
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        to[i] = (T)(((double)y[i] - (double)label[i]) * scale);
    }
}

MXN_VECTOR_LOOP void NAME(distance_sign)(const void *result, const void *wanted, void *into,
                                         double scale, size_t count)
{
    const T *y = result, *label = wanted;
    T *to = into;
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        to[i] = (T)((double)y[i] - (double)label[i] > 0 ? scale : -scale);
    }
}

// ---- smooth_l1 ----------------------------------------------------------------------------------
MXN_VECTOR_LOOP void NAME(smooth)(const void *from, void *into, double s, size_t count)
{
    const T *x = from;
    T *to = into;
    const double edge = 1 / (s * s);
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        const double size = fabs((double)x[i]);
        const double near = 0.5 * size * size * s * s, far = size - 0.5 * edge;
        to[i] = (T)(size < edge ? near : far);
    }
}

MXN_VECTOR_LOOP void NAME(smooth_back)(const void *of_y, const void *from, void *into, double s,
                                       size_t count)
{
    const T *g = of_y, *x = from;
    T *to = into;
    const double edge = 1 / (s * s);
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        const double value = (double)x[i];
        const double near = value * s * s, far = copysign(1.0, value);
        to[i] = (T)((double)g[i] * (fabs(value) < edge ? near : far));
    }
}

// ---- softmax_cross_entropy ----------------------------------------------------------------------
// The sum of a row's exponentials of the distance to its largest number, which goes to `most`.
static double NAME(exponentials)(const T *x, int64_t count, double *most)
{
    double sum = 0, largest = (double)x[0];
    for (int64_t i = 1; i < count; i++) {
        largest = (double)x[i] > largest ? (double)x[i] : largest;
    }
    for (int64_t i = 0; i < count; i++) {
        sum += exp((double)x[i] - largest);
    }
    *most = largest;
    return sum;
}

static double NAME(entropy)(const void *row, int64_t count, int64_t label)
{
    const T *x = row;
    double most;
    const double sum = NAME(exponentials)(x, count, &most);
    return log(sum) + most - (double)x[label];
}

static void NAME(entropy_back)(const void *of_y, const void *row, void *into, int64_t count,
                               int64_t label)
{
    const T *x = row;
    T *to = into;
    const double g = (double)*(const T *)of_y;
    double most;
    const double sum = NAME(exponentials)(x, count, &most);
    for (int64_t i = 0; i < count; i++) {
        to[i] = (T)(g * (exp((double)x[i] - most) / sum - (i == label)));
    }
}
