// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of group norm; the sums are those of batch_norm_kernels.h.
static inline void NAME(normal_few)(const T *x, T *to, int64_t count, T middle, T factor, T shift)
{
    MXN_EACH_ALONE
    for (int64_t i = 0; i < count; i++) {
        to[i] = (x[i] - middle) * factor + shift;
    }
}

MXN_VECTOR_LOOP void NAME(normal_row)(const T *x, T *to, int64_t count, T middle, T factor, T shift)
{
    NAME(normal_few)(x, to, count, middle, factor, shift);
}

static void NAME(normal_group)(const mxn_group_norm *b, int64_t group, int64_t first, double mean,
                               double inverse)
{
    const mxn_groups *s = &b->s;
    const T *gamma = b->gamma, *beta = b->beta, *x = (const T *)b->data + first;
    T *to = (T *)b->to + first;
    for (int64_t m = 0; m < s->members; m++, x += s->inner, to += s->inner) {
        const int64_t at = scale_at(s, group, m);
        const T factor = (T)(inverse * (double)gamma[at]);
        if (s->inner < FEW) {
            NAME(normal_few)(x, to, s->inner, (T)mean, factor, beta[at]);
        } else {
            NAME(normal_row)(x, to, s->inner, (T)mean, factor, beta[at]);
        }
    }
}

static void NAME(group_forward)(const mxn_group_norm *b, int64_t begin, int64_t end)
{
    const mxn_groups *s = &b->s;
    const int64_t count = s->members * s->inner;
    T *means = b->means, *deviations = b->deviations;
    for (int64_t row = begin * s->groups; row < end * s->groups; row++) {
        const T *x = (const T *)b->data + row * count;
        double sums[SUMS] = {0}, squares[SUMS] = {0};
        NAME(add_row)(x, count, sums);
        const double mean = total_of(sums) / (double)count;
        NAME(add_squares)(x, count, mean, squares);
        const double deviation = sqrt(total_of(squares) / (double)count + b->epsilon);
        if (means != NULL) {
            means[row] = (T)mean;
        }
        if (deviations != NULL) {
            deviations[row] = (T)deviation;
        }
        if (b->to != NULL) {
            NAME(normal_group)(b, row % s->groups, row * count, mean, 1 / deviation);
        }
    }
}

// With y' the normalised group, h = g gamma and n its elements:
//   dx = (h - sum(h) / n - y' sum(h y') / n) / deviation; d gamma and d beta as above.
// The division is last: where the deviation is small, what the terms before it leave is smaller.
typedef struct NAME(group_slope) {
    T middle, of_x, constant, inverse;
} NAME(group_slope);

static inline void NAME(spread_group_few)(const T *g, const T *x, T *to, int64_t count, T scale,
                                          NAME(group_slope) s)
{
    MXN_EACH_ALONE
    for (int64_t i = 0; i < count; i++) {
        to[i] = ((g[i] * scale + s.constant) + (x[i] - s.middle) * s.of_x) * s.inverse;
    }
}

MXN_VECTOR_LOOP void NAME(spread_group_row)(const T *g, const T *x, T *to, int64_t count, T scale,
                                            NAME(group_slope) s)
{
    NAME(spread_group_few)(g, x, to, count, scale, s);
}

static void NAME(spread_group)(const mxn_group_norm_back *b, int64_t group, int64_t first,
                               NAME(group_slope) slope)
{
    const mxn_groups *s = &b->s;
    const T *g = (const T *)b->gradient + first, *x = (const T *)b->data + first, *gamma = b->gamma;
    T *to = (T *)b->to + first;
    for (int64_t m = 0; m < s->members; m++) {
        const int64_t at = m * s->inner;
        const T scale = gamma[scale_at(s, group, m)];
        if (s->inner < FEW) {
            NAME(spread_group_few)(g + at, x + at, to + at, s->inner, scale, slope);
        } else {
            NAME(spread_group_row)(g + at, x + at, to + at, s->inner, scale, slope);
        }
    }
}

static void NAME(group_backward)(const mxn_group_norm_back *b, int64_t begin, int64_t end)
{
    const mxn_groups *s = &b->s;
    const int64_t count = s->members * s->inner;
    const T *gamma = b->gamma;
    for (int64_t row = begin * s->groups; row < end * s->groups; row++) {
        const int64_t group = row % s->groups, first = row * count;
        const double mean = (double)((const T *)b->means)[row];
        const double inverse = 1 / (double)((const T *)b->deviations)[row];
        double sum = 0, product = 0;
        for (int64_t m = 0; m < s->members; m++) {
            const int64_t from = first + m * s->inner, at = scale_at(s, group, m);
            double of_g[SUMS] = {0}, of_both[SUMS] = {0};
            NAME(add_products)
            ((const T *)b->gradient + from, (const T *)b->data + from, s->inner, mean, of_g,
             of_both);
            const double g = total_of(of_g), both = total_of(of_both) * inverse;
            b->to_beta[at] += g;
            b->to_gamma[at] += both;
            sum += g * (double)gamma[at];
            product += both * (double)gamma[at];
        }
        if (b->to != NULL) {
            const double n = (double)count;
            NAME(spread_group)
            (b, group, first,
             (NAME(group_slope)){(T)mean, (T)(-inverse * product / n), (T)(-sum / n), (T)inverse});
        }
    }
}
