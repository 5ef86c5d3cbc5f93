// SPDX-License-Identifier: Apache-2.0
// A template of multiply-adds on registers that are VECTORs, as many chains at once as there are
// CHAINS.
static float NAME(run)(uint64_t count)
{
    VECTOR sum[CHAINS], a = {0}, b = {0};
    __asm__ volatile("" : "+m"(a), "+m"(b));
    for (int i = 0; i < CHAINS; i++) {
        sum[i] = a + (float)i;
    }
    for (uint64_t n = 0; n < count; n++) {
        _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++)
        {
            sum[i] = sum[i] * a + b;
        }
    }
    for (int i = 1; i < CHAINS; i++) {
        sum[0] += sum[i];
    }
    return sum[0][0];
}
