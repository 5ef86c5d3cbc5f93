// SPDX-License-Identifier: Apache-2.0
// A locale whose decimal point is a comma, as programs have that call setlocale(LC_ALL, "").
#ifndef COMMA_LOCALE_H
#define COMMA_LOCALE_H

#include <stdbool.h>

// Makes it the process's, built in the working directory if the system has none. False: it has no
// means for that either. setlocale(LC_ALL, "C") ends it.
bool comma_locale_set(void);

#endif
