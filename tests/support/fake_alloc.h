// SPDX-License-Identifier: Apache-2.0
// An allocator for tests, put under the library with mxp_set_allocator. It fails on demand, fills
// new memory with rubbish, counts what is held, and aborts with a message when the library tells it
// a wrong old size. Thread-safe.
#ifndef FAKE_ALLOC_H
#define FAKE_ALLOC_H

#include <stddef.h>

// First thing in main(): the hook may only be set while no memory is held. It stays for good.
void fake_alloc_install(void);

// The next `count` allocations succeed, all later ones fail (shrinking and freeing never do).
void fake_alloc_fail_after(size_t count);
// From now on none fails.
void fake_alloc_fail_never(void);
// How many allocations were refused since the last fake_alloc_fail_after.
size_t fake_alloc_failed(void);

size_t fake_alloc_held_blocks(void);
size_t fake_alloc_held_bytes(void);

#endif
