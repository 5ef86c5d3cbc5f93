// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of softmax. Exponentials are libm's, sums are of doubles, one number after
// the other; the rest is vector code where the elements of a row are neighbours (step 1).
static inline void NAME(divide_steps)(T *at, int64_t count, int64_t step, double sum)
{
    MXN_EACH_ALONE
    for (int64_t i = 0; i < count; i++) {
        at[i * step] = (T)((double)at[i * step] / sum);
    }
}

MXN_VECTOR_LOOP void NAME(divide_row)(T *at, int64_t count, double sum)
{
    NAME(divide_steps)(at, count, 1, sum);
}

// Of the logarithm the end: what is less than the largest, and the logarithm of the sum.
static inline void NAME(shift_steps)(T *at, int64_t count, int64_t step, T most, double scale,
                                     double base)
{
    MXN_EACH_ALONE
    for (int64_t i = 0; i < count; i++) {
        at[i * step] = (T)(((double)at[i * step] - (double)most) * scale - base);
    }
}

MXN_VECTOR_LOOP void NAME(shift_row)(T *at, int64_t count, T most, double scale, double base)
{
    NAME(shift_steps)(at, count, 1, most, scale, base);
}

static void NAME(finish)(T *at, int64_t count, int64_t valid, int64_t step, double sum)
{
    if (step == 1) {
        NAME(divide_row)(at, valid, sum);
    } else {
        NAME(divide_steps)(at, valid, step, sum);
    }
    for (int64_t i = valid; i < count; i++) {
        at[i * step] = 0;
    }
}

static void NAME(row)(void *array, int64_t count, int64_t valid, int64_t step, double scale,
                      bool log_of_it)
{
    T *at = array, most = valid > 0 ? at[0] : 0;
    double sum = 0;
    for (int64_t i = 1; i < valid; i++) {
        most = at[i * step] > most ? at[i * step] : most;
    }
    for (int64_t i = 0; i < valid; i++) {
        const double power = exp(((double)at[i * step] - (double)most) * scale);
        sum += power;
        at[i * step] = log_of_it ? at[i * step] : (T)power;
    }
    if (!log_of_it) {
        NAME(finish)(at, count, valid, step, sum);
    } else if (step == 1) {
        NAME(shift_row)(at, valid, most, scale, log(sum));
    } else {
        NAME(shift_steps)(at, valid, step, most, scale, log(sum));
    }
}

// ---- gradient -----------------------------------------------------------------------------------
// The result may be of the other type.
static inline void NAME(store)(void *to, bool is_double, int64_t i, double value)
{
    if (is_double) {
        ((double *)to)[i] = value;
    } else {
        ((float *)to)[i] = (float)value;
    }
}

static inline void NAME(spread_steps)(const T *g, const T *y, void *to, bool to_double,
                                      int64_t count, int64_t step, double scale, double sum)
{
    MXN_EACH_ALONE
    for (int64_t i = 0; i < count * step; i += step) {
        const double value = scale * ((double)y[i] * ((double)g[i] - sum));
        NAME(store)(to, to_double, i, value);
    }
}

MXN_VECTOR_LOOP void NAME(spread_row)(const T *g, const T *y, T *to, int64_t count, double scale,
                                      double sum)
{
    NAME(spread_steps)(g, y, to, sizeof(T) == sizeof(double), count, 1, scale, sum);
}

static void NAME(backward)(const mxn_softmax_back *b)
{
    const T *g = b->g, *y = b->y;
    const int64_t count = b->count, step = b->step;
    const bool same = b->to_is_double == (sizeof(T) == sizeof(double));
    double sum = 0;
    for (int64_t i = 0; i < count * step; i += step) {
        sum += (double)g[i] * (b->log_of_it ? 1.0 : (double)y[i]);
    }
    if (!b->log_of_it && step == 1 && same) {
        NAME(spread_row)(g, y, b->to, count, b->scale, sum);
    } else if (!b->log_of_it) {
        NAME(spread_steps)(g, y, b->to, b->to_is_double, count, step, b->scale, sum);
    } else {
        for (int64_t i = 0; i < count * step; i += step) {
            const double value = b->scale * ((double)g[i] - exp((double)y[i]) * sum);
            NAME(store)(b->to, b->to_is_double, i, value);
        }
    }
}
