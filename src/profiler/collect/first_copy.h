// SPDX-License-Identifier: Apache-2.0
// A program may have this library twice, from files of two names: preloaded and named by a
// variable. What the second is asked for the first one does, which knows what is recorded already.
#ifndef MXP_COLLECT_FIRST_COPY_H
#define MXP_COLLECT_FIRST_COPY_H

// The function of this name of the copy that is there for all, if that is not `own`; null: there is
// none, or it is `own`. A library of somebody else's with such a function does not count.
void *mxp__collect_in_first_copy(const char *name, const void *own);

#endif
