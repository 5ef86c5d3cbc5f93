// SPDX-License-Identifier: Apache-2.0
// Addresses as names. libmxprof is told of a module when the first of its functions is called.
#ifndef MXP_COLLECT_MODULES_H
#define MXP_COLLECT_MODULES_H

#include <mxprof/gate.h>

// The name of the function at this address. MXP_NAME_FULL: the table of names is full. Any thread;
// not while the loader's list is being changed by this thread. Keeps errno.
mxp_name mxp__address_name(const void *function);

#endif
