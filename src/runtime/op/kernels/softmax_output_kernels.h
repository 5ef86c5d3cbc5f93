// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of the gradient of SoftmaxOutput.
static inline void NAME(subtract_steps)(const T *y, T *to, int64_t count, int64_t step, double what)
{
    MXN_EACH_ALONE
    for (int64_t k = 0; k < count; k++) {
        to[k * step] = (T)((double)y[k * step] - what);
    }
}

MXN_VECTOR_LOOP void NAME(subtract_row)(const T *y, T *to, int64_t count, double what)
{
    NAME(subtract_steps)(y, to, count, 1, what);
}

// All of a row is wanted to be `rest`, but one element.
static void NAME(row_back)(const mxn_softmax_output_back *b, int64_t first, double label)
{
    const int64_t count = b->s.count, step = b->s.inner;
    const T *y = (const T *)b->y + first;
    T *to = (T *)b->to + first;
    const double rest = count > 1 ? b->smoothing / (double)(count - 1) : 0;
    const bool known = label > -1 && label < (double)count;
    const int64_t at = known ? (int64_t)label * step : 0;
    const T there = (T)((double)y[at] - (1.0 - b->smoothing));  // before `to`, which may be y
    if (step == 1) {
        NAME(subtract_row)(y, to, count, rest);
    } else {
        NAME(subtract_steps)(y, to, count, step, rest);
    }
    if (known) {
        to[at] = there;
    }
}

static int64_t NAME(backward)(const mxn_softmax_output_back *b)
{
    const T *labels = b->labels;
    int64_t valid = 0;
    for (int64_t i = 0; i < b->s.outer * b->s.inner; i++) {
        const int64_t first = mxn__axis_view_at(&b->s, i);
        const bool ignored = b->ignores && (float)labels[i] == b->ignored;
        valid += !ignored;
        for (int64_t k = 0; ignored && k < b->s.count; k++) {
            ((T *)b->to)[first + k * b->s.inner] = 0;
        }
        if (!ignored && b->s.count > 0) {
            NAME(row_back)(b, first, (double)labels[i]);
        }
    }
    return valid;
}

MXN_VECTOR_LOOP void NAME(difference)(const void *result, const void *wanted, void *into,
                                      size_t count)
{
    const T *y = result, *labels = wanted;
    T *to = into;
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        to[i] = y[i] - labels[i];
    }
}

MXN_VECTOR_LOOP void NAME(scale_all)(T *to, double scale, size_t count)
{
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        to[i] = (T)((double)to[i] * scale);
    }
}

MXN_VECTOR_LOOP void NAME(scale_each)(T *to, double scale, const T *g, size_t count)
{
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        to[i] = (T)((double)to[i] * scale * (double)g[i]);
    }
}

static void NAME(scale)(void *to, double scale, const void *g, size_t count)
{
    if (g == NULL) {
        NAME(scale_all)(to, scale, count);
    } else {
        NAME(scale_each)(to, scale, g, count);
    }
}
