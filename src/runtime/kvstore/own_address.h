// SPDX-License-Identifier: Apache-2.0
// The address under which other processes of a job reach this one. Private to kvstore/.
#ifndef MXN_KVSTORE_OWN_ADDRESS_H
#define MXN_KVSTORE_OWN_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

// In network order: loopback if all are on `one_host`; else the address of the interface
// DMLC_INTERFACE, or of the first that is up and no loopback. MXP_EIO: there is no such interface.
int mxn__own_address(bool one_host, uint32_t *ip);

#endif
