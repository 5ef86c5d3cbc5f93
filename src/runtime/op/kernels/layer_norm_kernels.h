// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of layer norm. Sums are of doubles, one number after the other; what is
// made of them is vector code where the elements of a row are neighbours (step 1).
static inline void NAME(normal_steps)(const T *x, const T *gamma, const T *beta, T *to,
                                      int64_t count, int64_t step, T middle, T factor)
{
    MXN_EACH_ALONE
    for (int64_t i = 0; i < count; i++) {
        to[i * step] = (x[i * step] - middle) * factor * gamma[i] + beta[i];
    }
}

MXN_VECTOR_LOOP void NAME(normal_row)(const T *x, const T *gamma, const T *beta, T *to,
                                      int64_t count, T middle, T factor)
{
    NAME(normal_steps)(x, gamma, beta, to, count, 1, middle, factor);
}

static void NAME(forward_row)(const mxn_layer_norm *l, int64_t row)
{
    const int64_t count = l->s.count, step = l->s.inner, first = mxn__axis_view_at(&l->s, row);
    const T *x = (const T *)l->data + first, *gamma = l->gamma, *beta = l->beta;
    T *to = (T *)l->to, *means = l->means, *deviations = l->deviations;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += (double)x[i * step];
    }
    const double mean = sum / (double)count;
    for (int64_t i = 0; i < count; i++) {
        squares += ((double)x[i * step] - mean) * ((double)x[i * step] - mean);
    }
    const double deviation = sqrt(squares / (double)count + l->epsilon);
    const T middle = (T)mean, factor = (T)(1 / deviation);
    if (to != NULL && step == 1) {
        NAME(normal_row)(x, gamma, beta, to + first, count, middle, factor);
    } else if (to != NULL) {
        NAME(normal_steps)(x, gamma, beta, to + first, count, step, middle, factor);
    }
    if (means != NULL) {
        means[row] = (T)mean;
    }
    if (deviations != NULL) {
        deviations[row] = (T)deviation;
    }
}

static void NAME(forward)(const mxn_layer_norm *l)
{
    for (int64_t row = 0; row < l->s.outer * l->s.inner; row++) {
        NAME(forward_row)(l, row);
    }
}

// ---- gradient -----------------------------------------------------------------------------------
// With y' the normalised row and h = g gamma: dx = (h - mean(h) - y' mean(h y')) / deviation;
// d gamma = sum over rows of g y', d beta = sum over rows of g.
static inline void NAME(spread_steps)(const T *g, const T *x, const T *gamma, T *to, int64_t count,
                                      int64_t step, double mean, double factor, double sum,
                                      double product)
{
    MXN_EACH_ALONE
    for (int64_t i = 0; i < count; i++) {
        const double normal = ((double)x[i * step] - mean) * factor;
        const double h = (double)g[i * step] * (double)gamma[i];
        to[i * step] = (T)((h - sum - normal * product) * factor);
    }
}

MXN_VECTOR_LOOP void NAME(spread_row)(const T *g, const T *x, const T *gamma, T *to, int64_t count,
                                      double mean, double factor, double sum, double product)
{
    NAME(spread_steps)(g, x, gamma, to, count, 1, mean, factor, sum, product);
}

static inline void NAME(add_steps)(const T *g, const T *x, double *of_gamma, double *of_beta,
                                   int64_t count, int64_t step, double mean, double factor)
{
    MXN_EACH_ALONE
    for (int64_t i = 0; i < count; i++) {
        of_gamma[i] += (double)g[i * step] * (((double)x[i * step] - mean) * factor);
        of_beta[i] += (double)g[i * step];
    }
}

MXN_VECTOR_LOOP void NAME(add_row)(const T *g, const T *x, double *of_gamma, double *of_beta,
                                   int64_t count, double mean, double factor)
{
    NAME(add_steps)(g, x, of_gamma, of_beta, count, 1, mean, factor);
}

static void NAME(backward_row)(const mxn_layer_norm_back *l, int64_t row)
{
    const int64_t count = l->s.count, step = l->s.inner, first = mxn__axis_view_at(&l->s, row);
    const T *g = (const T *)l->gradient + first, *x = (const T *)l->data + first, *gamma = l->gamma;
    T *to = l->to;
    const double mean = (double)((const T *)l->means)[row];
    const double factor = 1 / (double)((const T *)l->deviations)[row];
    double *of_gamma = l->sums, *of_beta = l->sums + count, sum = 0, product = 0;
    if (step == 1) {
        NAME(add_row)(g, x, of_gamma, of_beta, count, mean, factor);
    } else {
        NAME(add_steps)(g, x, of_gamma, of_beta, count, step, mean, factor);
    }
    for (int64_t i = 0; i < count; i++) {
        const double h = (double)g[i * step] * (double)gamma[i];
        sum += h;
        product += h * (((double)x[i * step] - mean) * factor);
    }
    sum /= (double)count;
    product /= (double)count;
    if (to != NULL && step == 1) {
        NAME(spread_row)(g, x, gamma, to + first, count, mean, factor, sum, product);
    } else if (to != NULL) {
        NAME(spread_steps)(g, x, gamma, to + first, count, step, mean, factor, sum, product);
    }
}

static void NAME(backward)(const mxn_layer_norm_back *l)
{
    for (int64_t row = 0; row < l->s.outer * l->s.inner; row++) {
        NAME(backward_row)(l, row);
    }
}
