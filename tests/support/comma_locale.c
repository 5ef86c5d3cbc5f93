// SPDX-License-Identifier: Apache-2.0
#include "comma_locale.h"

#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

// Where the system has none installed, one is made from its sources.
bool comma_locale_set(void)
{
    char folder[4096];
    int status = system("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 >/dev/null 2>&1");
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL ||
           (status == 0 && getcwd(folder, sizeof folder) != NULL &&
            setenv("LOCPATH", folder, 1) == 0 && setlocale(LC_ALL, "de_DE.UTF-8") != NULL);
}
