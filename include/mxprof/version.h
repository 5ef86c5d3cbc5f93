// SPDX-License-Identifier: Apache-2.0
// The version of the library these headers belong to.
#ifndef MXPROF_VERSION_H
#define MXPROF_VERSION_H

#define MXP_VERSION_MAJOR 0
#define MXP_VERSION_MINOR 1
#define MXP_VERSION_PATCH 0
#define MXP_VERSION_STRING "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

// The version of the library that is loaded, e.g. "0.1.0". The string is static.
const char *mxp_version(void);

#ifdef __cplusplus
}
#endif
#endif
