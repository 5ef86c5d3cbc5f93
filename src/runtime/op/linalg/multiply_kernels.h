// SPDX-License-Identifier: Apache-2.0
// A template of the plain product of two matrices of T: MULTIPLY_ADD(sum, a, b) is the sum with
// the product of a and b.

// Adds to each of `n` elements the product of `a`, whose elements lie `step` apart, and a row of b.
static inline void NAME(add_dots)(T *restrict row, const T *a, int64_t step, const T *b, int64_t k,
                                  int64_t n)
{
    for (int64_t j = 0; j < n; j++, b += k) {
        T sum = 0;
        for (int64_t l = 0; l < k; l++) {
            sum = (T)MULTIPLY_ADD(sum, a[l * step], b[l]);
        }
        row[j] += sum;
    }
}

static inline void NAME(add_scaled)(T *restrict row, T factor, const T *restrict from,
                                    int64_t count)
{
    for (int64_t j = 0; j < count; j++) {
        row[j] = (T)MULTIPLY_ADD(row[j], factor, from[j]);
    }
}

static void NAME(multiply)(const mxn_product *p)
{
    const T *b = p->b;
    const int64_t n = p->n;
    const int64_t step = p->a_transposed ? p->m : 1;
    for (int64_t i = 0; i < p->m; i++) {
        const T *a = (const T *)p->a + (p->a_transposed ? i : i * p->k);
        T *restrict row = (T *)p->c + i * n;
        if (!p->adds) {
            memset(row, 0, (size_t)n * sizeof(T));
        }
        for (int64_t l = 0; l < p->k && !p->b_transposed; l++) {
            NAME(add_scaled)(row, a[l * step], b + l * n, n);
        }
        if (p->b_transposed && p->a_transposed) {
            NAME(add_dots)(row, a, p->m, b, p->k, n);
        } else if (p->b_transposed) {
            NAME(add_dots)(row, a, 1, b, p->k, n);
        }
    }
}
