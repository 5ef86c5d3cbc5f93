// SPDX-License-Identifier: Apache-2.0
// Private to src/runtime/tensor: MXNet's file of arrays, byte by byte. Integers in the machine's
// order.
//
//   list:     u64 0x112 | u64 0 | u64 arrays | array ... | u64 names | name ...
//   name:     u64 length | bytes
//   array, version 2 and 3:   u32 magic | i32 storage type, 0 dense | shape | values
//   array, version 1:         u32 magic | shape | values
//   array, before versions:   u32 ndim | u32 dimension ... | values
//   shape:    i32 ndim | i64 dimension ...
//   values:   i32 device type | i32 device id | i32 dtype | elements
//
// A none array ends after its shape: rank 0, in version 3 rank -1. Names are none, or as many as
// arrays. Version 3 (numpy semantics) has scalars and empty arrays, the others do not.
#ifndef MXN_TENSOR_ARRAY_FILE_H
#define MXN_TENSOR_ARRAY_FILE_H

#define MXN__LIST_MAGIC 0x112u
#define MXN__ARRAY_V1 0xf993fac8u
#define MXN__ARRAY_V2 0xf993fac9u
#define MXN__ARRAY_V3 0xf993facau

#endif
