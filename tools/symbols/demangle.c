// SPDX-License-Identifier: Apache-2.0
// libstdc++ is asked where it is there, and not linked: the command needs no C++ otherwise.
#include "symbols/demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { MANGLED_MOST = 16384 };  // the library's function is recursive

typedef char *(*demangler)(const char *mangled, char *buffer, size_t *length, int *status);

static demangler find(void)
{
    static demangler found;
    static bool asked;
    if (!asked) {
        asked = true;
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        void *symbol = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
        memcpy(&found, &symbol, sizeof found);
    }
    return found;
}

char *mxp__demangled(const char *mangled)
{
    const bool is_mangled = strncmp(mangled, "_Z", 2) == 0 && strlen(mangled) < MANGLED_MOST;
    const demangler demangle = is_mangled ? find() : NULL;
    int status = -1;
    char *given = demangle != NULL ? demangle(mangled, NULL, NULL, &status) : NULL;
    char *text = given != NULL && status == 0 ? mxp__strdup(given) : NULL;
    free(given);
    return text;
}
