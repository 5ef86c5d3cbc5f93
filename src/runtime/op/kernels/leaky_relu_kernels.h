// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of leaky relus. Vector code is what calls no function of libm, with one
// slope or slopes side by side.
MXN_VECTOR_LOOP void NAME(line)(const T *x, T *to, int64_t count, double slope)
{
    MXN_EACH_ALONE
    for (int64_t i = 0; i < count; i++) {
        const double value = (double)x[i];
        to[i] = (T)(value > 0 ? value : value * slope);
    }
}

MXN_VECTOR_LOOP void NAME(lines)(const T *x, const T *slopes, T *to, int64_t count)
{
    MXN_EACH_ALONE
    for (int64_t i = 0; i < count; i++) {
        const double value = (double)x[i], slope = (double)slopes[i];
        to[i] = (T)(value > 0 ? value : value * slope);
    }
}

static void NAME(forward)(const mxn_leaky_row *row)
{
    const T *x = row->x, *slopes = row->slopes;
    T *to = row->to;
    const bool one_slope = slopes == NULL || row->step == 0;
    const double slope = slopes == NULL || row->count == 0 ? row->slope : (double)slopes[0];
    if (is_line(row->function) && one_slope) {
        NAME(line)(x, to, row->count, slope);
    } else if (is_line(row->function) && row->step == 1) {
        NAME(lines)(x, slopes, to, row->count);
    } else {
        for (int64_t i = 0; i < row->count; i++) {
            const double s = one_slope ? slope : (double)slopes[i * row->step];
            to[i] = (T)leaky(row->function, (double)x[i], s);
        }
    }
}

MXN_VECTOR_LOOP void NAME(line_back)(const T *g, const T *x, T *to, int64_t count, double slope)
{
    MXN_EACH_ALONE
    for (int64_t i = 0; i < count; i++) {
        to[i] = (T)((double)g[i] * (x[i] > 0 ? 1 : slope));
    }
}

MXN_VECTOR_LOOP void NAME(lines_back)(const T *g, const T *x, const T *slopes, T *to, int64_t count)
{
    MXN_EACH_ALONE
    for (int64_t i = 0; i < count; i++) {
        const double slope = (double)slopes[i];
        to[i] = (T)((double)g[i] * (x[i] > 0 ? 1 : slope));
    }
}

static void NAME(backward)(const mxn_leaky_row *row)
{
    const T *g = row->g, *x = row->x, *slopes = row->slopes;
    T *to = row->to, *of_slopes = row->of_slopes;
    const bool one_slope = slopes == NULL || row->step == 0;
    const double slope = slopes == NULL || row->count == 0 ? row->slope : (double)slopes[0];
    for (int64_t i = 0; of_slopes != NULL && i < row->count; i++) {
        of_slopes[i * row->step] += x[i] > 0 ? 0 : g[i] * x[i];
    }
    if (to == NULL) {
        return;
    }
    if (is_line(row->function) && one_slope) {
        NAME(line_back)(g, x, to, row->count, slope);
    } else if (is_line(row->function) && row->step == 1) {
        NAME(lines_back)(g, x, slopes, to, row->count);
    } else {
        for (int64_t i = 0; i < row->count; i++) {
            const double s = one_slope ? slope : (double)slopes[i * row->step];
            to[i] = (T)((double)g[i] * leaky_slope(row->function, (double)x[i], s));
        }
    }
}
