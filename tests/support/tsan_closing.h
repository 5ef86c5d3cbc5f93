// SPDX-License-Identifier: Apache-2.0
// Included by a program that closes descriptors while others may be using them, as is its purpose.
// ThreadSanitizer would report each such close, and each look at a number that is no longer ours.
// CLOSING_FUNCTION, a string, is the one that closes.
#ifndef TSAN_CLOSING_H
#define TSAN_CLOSING_H

#if defined(__SANITIZE_THREAD__)
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
    return "race:" CLOSING_FUNCTION "\nrace:os/descriptor.c\n";
}
#endif

#endif
