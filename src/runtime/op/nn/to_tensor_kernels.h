// SPDX-License-Identifier: Apache-2.0
// A template of pixels by channels that become channels by pixels between 0 and 1.
static void NAME(to_tensor)(const void *from, float *to, int64_t pixels, int64_t channels)
{
    const T *x = from;
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t i = 0; i < pixels; i++) {
            to[c * pixels + i] = (float)x[i * channels + c] / 255.0f;
        }
    }
}
