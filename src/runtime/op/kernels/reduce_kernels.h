// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of sums: eight partial ones, so that additions do not wait for each other,
// and in the same order in vectors of every width. It is not marked: of eight floats GCC 12 makes
// two vectors of 32 bytes where 64 are there.
static double NAME(sum_row)(const void *row, int64_t count)
{
    const T *from = row;
    double parts[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        for (int k = 0; k < 8; k++) {
            parts[k] += (double)from[i + k];
        }
    }
    for (; i < count; i++) {
        parts[0] += (double)from[i];
    }
    return ((parts[0] + parts[1]) + (parts[2] + parts[3])) +
           ((parts[4] + parts[5]) + (parts[6] + parts[7]));
}

static double NAME(squares_row)(const void *row, int64_t count)
{
    const T *from = row;
    double parts[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        for (int k = 0; k < 8; k++) {
            parts[k] += (double)from[i + k] * (double)from[i + k];
        }
    }
    for (; i < count; i++) {
        parts[0] += (double)from[i] * (double)from[i];
    }
    return ((parts[0] + parts[1]) + (parts[2] + parts[3])) +
           ((parts[4] + parts[5]) + (parts[6] + parts[7]));
}
