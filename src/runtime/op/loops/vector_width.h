// SPDX-License-Identifier: Apache-2.0
// Which of the loops that are compiled for several widths of vectors run here. Private to op/.
#ifndef MXN_OP_LOOPS_VECTOR_WIDTH_H
#define MXN_OP_LOOPS_VECTOR_WIDTH_H

#include <stdint.h>

// In bytes: 64, 32 or 16, the widest that the processor has. The answer never changes.
uint32_t mxn__vector_width(void);

#endif
