// SPDX-License-Identifier: Apache-2.0
// A template of the sums of a triangle's columns.
static void NAME(triangle_sum)(const T *g, T *to, int64_t n, int64_t k, bool lower)
{
    for (int64_t column = 0; column < n; column++) {
        double sum = 0;
        for (int64_t row = 0; row < n; row++) {
            bool inside = lower ? column <= row + k : column >= row + k;
            sum += inside ? (double)g[row * n + column] : 0;
        }
        to[column] = (T)sum;
    }
}
