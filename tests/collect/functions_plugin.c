// SPDX-License-Identifier: Apache-2.0
// A library that a program of functions_program.c loads. Compiled with other texts for FUNCTION,
// two of them have other functions at the same places.
#define OWN __attribute__((noinline))

void work(void);

OWN static int FUNCTION(int value)
{
    __asm__ volatile("" : "+r"(value));
    return value + 1;
}

void work(void)
{
    int value = 0;
    for (int i = 0; i < 100; i++) {
        value = FUNCTION(value);
    }
}
