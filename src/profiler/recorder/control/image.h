// SPDX-License-Identifier: Apache-2.0
// The anchor by which a core file's reader finds the records (trace/image.h).
#ifndef MXP_PROF_IMAGE_H
#define MXP_PROF_IMAGE_H

// Sets it, anew in a forked child. Under the drain lock.
void mxp__image_show(void);

#endif
