// SPDX-License-Identifier: Apache-2.0
// Names of C++ as they are written in its programs.
#ifndef MXP_TOOLS_DEMANGLE_H
#define MXP_TOOLS_DEMANGLE_H

// The name that `mangled` stands for (mxp__strfree); null: it stands for none, or the C++ library,
// which knows the rules, is not on this machine.
char *mxp__demangled(const char *mangled);

#endif
