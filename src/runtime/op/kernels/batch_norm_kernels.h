// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of batch norm. Sums are of doubles: SUMS of them side by side along a row,
// whatever the width of vectors, because one number after the other waits for each addition.
MXN_VECTOR_LOOP void NAME(add_row)(const T *x, int64_t count, double *sums)
{
    double s[SUMS];
    memcpy(s, sums, sizeof s);
    int64_t i = 0;
    for (; i + SUMS <= count; i += SUMS) {
        for (int k = 0; k < SUMS; k++) {
            s[k] += (double)x[i + k];
        }
    }
    for (int k = 0; i < count; i++, k++) {
        s[k] += (double)x[i];
    }
    memcpy(sums, s, sizeof s);
}

MXN_VECTOR_LOOP void NAME(add_squares)(const T *x, int64_t count, double middle, double *sums)
{
    double s[SUMS];
    memcpy(s, sums, sizeof s);
    int64_t i = 0;
    for (; i + SUMS <= count; i += SUMS) {
        for (int k = 0; k < SUMS; k++) {
            const double distance = (double)x[i + k] - middle;
            s[k] += distance * distance;
        }
    }
    for (int k = 0; i < count; i++, k++) {
        const double distance = (double)x[i] - middle;
        s[k] += distance * distance;
    }
    memcpy(sums, s, sizeof s);
}

static void NAME(moments)(const mxn_batch_norm *b, int64_t channel, double *mean, double *var)
{
    const mxn_axis_view s = b->s;
    const T *x = b->data;
    const double count = (double)(s.outer * s.inner);
    double sums[SUMS] = {0}, squares[SUMS] = {0};
    for (int64_t row = 0; row < s.outer; row++) {
        NAME(add_row)(x + row_at(&s, channel, row), s.inner, sums);
    }
    const double middle = count > 0 ? total_of(sums) / count : 0;
    for (int64_t row = 0; row < s.outer; row++) {
        NAME(add_squares)(x + row_at(&s, channel, row), s.inner, middle, squares);
    }
    *mean = middle;
    *var = count > 0 ? total_of(squares) / count : 0;
}

static inline void NAME(scale_few)(const T *x, T *to, int64_t count, T factor, T shift)
{
    MXN_EACH_ALONE
    for (int64_t i = 0; i < count; i++) {
        to[i] = x[i] * factor + shift;
    }
}

MXN_VECTOR_LOOP void NAME(scale_row)(const T *x, T *to, int64_t count, T factor, T shift)
{
    NAME(scale_few)(x, to, count, factor, shift);
}

static void NAME(scale)(const mxn_batch_norm *b, int64_t channel, T factor, T shift)
{
    const mxn_axis_view s = b->s;
    const T *x = b->data;
    T *to = b->to;
    for (int64_t row = 0; s.inner == 1 && row < s.outer; row++) {
        to[row * s.count + channel] = x[row * s.count + channel] * factor + shift;
    }
    for (int64_t row = 0; s.inner != 1 && row < s.outer; row++) {
        const int64_t at = row_at(&s, channel, row);
        if (s.inner < FEW) {
            NAME(scale_few)(x + at, to + at, s.inner, factor, shift);
        } else {
            NAME(scale_row)(x + at, to + at, s.inner, factor, shift);
        }
    }
}

static void NAME(forward)(const mxn_batch_norm *b, int64_t begin, int64_t end)
{
    const T *gamma = b->gamma, *beta = b->beta;
    T *means = b->means, *inverses = b->inverses;
    for (int64_t c = begin; c < end; c++) {
        double mean = (double)((const T *)b->moving_mean)[c];
        double var = (double)((const T *)b->moving_var)[c];
        if (b->of_batch) {
            NAME(moments)(b, c, &mean, &var);
        }
        const double inverse = 1 / sqrt(var + b->epsilon);
        const double factor = inverse * (b->gamma_is_1 ? 1.0 : (double)gamma[c]);
        const double shift = (double)beta[c] - mean * factor;
        if (means != NULL) {
            means[c] = (T)mean;
        }
        if (inverses != NULL) {
            inverses[c] = (T)inverse;
        }
        if (b->to != NULL) {
            NAME(scale)(b, c, (T)factor, (T)shift);
        }
    }
}

// ---- gradient -----------------------------------------------------------------------------------
// With n the elements of a channel, y' the normalised input and s the scale:
//   d beta = sum(g), d gamma = sum(g y'), dx = s / deviation (g - sum(g) / n - y' sum(g y') / n),
// of which the last two terms are those of the batch's own statistics.
MXN_VECTOR_LOOP void NAME(add_products)(const T *g, const T *x, int64_t count, double mean,
                                        double *sums, double *products)
{
    double s[SUMS], p[SUMS];
    memcpy(s, sums, sizeof s);
    memcpy(p, products, sizeof p);
    int64_t i = 0;
    for (; i + SUMS <= count; i += SUMS) {
        for (int k = 0; k < SUMS; k++) {
            s[k] += (double)g[i + k];
            p[k] += (double)g[i + k] * ((double)x[i + k] - mean);
        }
    }
    for (int k = 0; i < count; i++, k++) {
        s[k] += (double)g[i];
        p[k] += (double)g[i] * ((double)x[i] - mean);
    }
    memcpy(sums, s, sizeof s);
    memcpy(products, p, sizeof p);
}

static void NAME(gradient_sums)(const mxn_batch_norm_back *b, int64_t channel, double mean,
                                double *sum, double *product)
{
    const mxn_axis_view s = b->s;
    double of_g[SUMS] = {0}, of_both[SUMS] = {0};
    for (int64_t row = 0; row < s.outer; row++) {
        const int64_t at = row_at(&s, channel, row);
        NAME(add_products)
        ((const T *)b->gradient + at, (const T *)b->data + at, s.inner, mean, of_g, of_both);
    }
    *sum = total_of(of_g);
    *product = total_of(of_both);
}

static inline void NAME(spread_few)(const T *g, const T *x, T *to, int64_t count, T of_g, T of_x,
                                    T constant)
{
    MXN_EACH_ALONE
    for (int64_t i = 0; i < count; i++) {
        to[i] = g[i] * of_g + x[i] * of_x + constant;
    }
}

MXN_VECTOR_LOOP void NAME(spread_row)(const T *g, const T *x, T *to, int64_t count, T of_g, T of_x,
                                      T constant)
{
    NAME(spread_few)(g, x, to, count, of_g, of_x, constant);
}

static void NAME(spread)(const mxn_batch_norm_back *b, int64_t channel, T of_g, T of_x, T constant)
{
    const mxn_axis_view s = b->s;
    const T *g = b->gradient, *x = b->data;
    T *to = b->to;
    for (int64_t row = 0; s.inner == 1 && row < s.outer; row++) {
        const int64_t at = row * s.count + channel;
        to[at] = g[at] * of_g + x[at] * of_x + constant;
    }
    for (int64_t row = 0; s.inner != 1 && row < s.outer; row++) {
        const int64_t at = row_at(&s, channel, row);
        if (s.inner < FEW) {
            NAME(spread_few)(g + at, x + at, to + at, s.inner, of_g, of_x, constant);
        } else {
            NAME(spread_row)(g + at, x + at, to + at, s.inner, of_g, of_x, constant);
        }
    }
}

static void NAME(move)(const mxn_batch_norm_back *b, int64_t channel, double mean, double inverse)
{
    const double keep = b->momentum, var = 1 / (inverse * inverse) - b->epsilon;
    T *moving_mean = (T *)b->moving_mean + channel, *moving_var = (T *)b->moving_var + channel;
    *moving_mean = (T)(keep * (double)*moving_mean + (1 - keep) * mean);
    *moving_var = (T)(keep * (double)*moving_var + (1 - keep) * var);
}

static void NAME(backward)(const mxn_batch_norm_back *b, int64_t begin, int64_t end)
{
    const mxn_axis_view *s = &b->s;
    const T *gamma = b->gamma;
    T *to_gamma = b->to_gamma, *to_beta = b->to_beta;
    const double count = (double)(s->outer * s->inner);
    for (int64_t c = begin; c < end; c++) {
        const double mean = (double)((const T *)b->means)[c];
        const double inverse = (double)((const T *)b->inverses)[c];
        double sum, product;
        NAME(gradient_sums)(b, c, mean, &sum, &product);
        const double scale = inverse * (b->gamma_is_1 ? 1.0 : (double)gamma[c]);
        const double of_x = b->of_batch ? -scale * inverse * inverse * product / count : 0;
        const double constant = b->of_batch ? -of_x * mean - scale * sum / count : 0;
        if (b->to != NULL) {
            NAME(spread)(b, c, (T)scale, (T)of_x, (T)constant);
        }
        if (to_gamma != NULL) {
            to_gamma[c] = (T)(b->gamma_is_1 ? 0 : product * inverse);
        }
        if (to_beta != NULL) {
            to_beta[c] = (T)sum;
        }
        if (b->of_batch) {
            NAME(move)(b, c, mean, inverse);
        }
    }
}
