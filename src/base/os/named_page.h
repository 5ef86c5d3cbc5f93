// SPDX-License-Identifier: Apache-2.0
// A page whose name other processes can read in /proc/PID/maps: a mark that costs nothing and ends
// with its process. The page has no content, and forked children do not inherit it.
#ifndef MXP_BASE_OS_NAMED_PAGE_H
#define MXP_BASE_OS_NAMED_PAGE_H

enum { MXP__PAGE_NAME_MAX = 240 };  // bytes of a name, the zero included

// The page, or null. /proc/PID/maps shows it as "/memfd:NAME (deleted)".
void *mxp__named_page(const char *name);
void mxp__named_page_remove(void *page);

#endif
