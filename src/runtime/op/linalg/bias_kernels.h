// SPDX-License-Identifier: Apache-2.0
// A template of what a bias is added to and where its gradient comes from, for T float and double.
static void NAME(add_bias)(T *to, const T *bias, int64_t m, int64_t n)
{
    for (int64_t i = 0; i < m; i++) {
        memcpy(to + i * n, bias, (size_t)n * sizeof(T));
    }
}

static void NAME(sum_bias)(T *to, const T *g, int64_t m, int64_t n)
{
    memset(to, 0, (size_t)n * sizeof(T));
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            to[j] += g[i * n + j];
        }
    }
}
