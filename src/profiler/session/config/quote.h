// SPDX-License-Identifier: Apache-2.0
// How much of a user's string a message repeats: names and values may be megabytes long.
#ifndef MXP_SESSION_QUOTE_H
#define MXP_SESSION_QUOTE_H

enum { MXP__QUOTE_MAX = 120 };

// For "%.*s": the whole string, or its first part cut between two characters of UTF-8.
int mxp__quote_length(const char *text);

#endif
