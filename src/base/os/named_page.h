// SPDX-License-Identifier: Apache-2.0
// A page whose name the system shows to others, in /proc/PID/maps: a sign that costs nothing and
// goes with its process. It holds nothing, and forked children do not have it.
#ifndef MXP_BASE_OS_NAMED_PAGE_H
#define MXP_BASE_OS_NAMED_PAGE_H

enum { MXP__PAGE_NAME_MAX = 240 };  // bytes of a name, the zero included

// The page, or null. What stands in /proc/PID/maps is "/memfd:NAME (deleted)".
void *mxp__named_page(const char *name);
void mxp__named_page_remove(void *page);

#endif
