// SPDX-License-Identifier: Apache-2.0
// Names of outputs: the one place where they are made. A configured name is a pattern: %p is the
// process, %t when the program was started (20261122T124500Z), %n its name, %h the machine's, %r
// the process's rank in its job (of none: the process), {role} its role there, %% a percent sign,
// %{ a brace; any other % stands for itself. Patterns are kept, and become names when a file is
// begun, because a forked child has names of its own: NAME.PID.EXT, unless the pattern has %p.
// Nothing here touches a file.
#ifndef MXP_SESSION_OUTPUT_NAME_H
#define MXP_SESSION_OUTPUT_NAME_H

#include "base/strbuf.h"
#include "profiler/session/session.h"

// Learns what patterns may ask for. Once, before anything else here; single-threaded.
void mxp__output_names_init(void);

// Whether the variable that MXPROF_RUN_RANK names has the rank, %r.
bool mxp__output_is_numbered(void);

// The configured name as a pattern that no change of the working directory touches. For
// mxp__strfree; null gives null, and without memory too. "" stays.
char *mxp__output_absolute(const char *configured);
// Appends the pattern that stands for `text`, whatever is in it.
void mxp__output_quote(const char *text, mxp_strbuf *pattern);
// The first letter that stands for nothing behind a % of the pattern; '\0': there is none.
char mxp__output_unknown(const char *pattern);
// What a pattern stands for in this process, for mxp__strfree.
char *mxp__output_expanded(const char *pattern);

// The name of the Chrome trace of this process, and of its native file (native_filename, or
// filename with the ending .mxp).
void mxp__chrome_name(const mxp_session *session, mxp_strbuf *name);
void mxp__native_name(const mxp_session *session, mxp_strbuf *name);
// What the name of a snapshot has before and after its number: snapshot.PID, and, for
// mxp__strfree, .mxp; null without memory.
char *mxp__snapshot_name(const mxp_session *session, mxp_strbuf *stem);

// What would keep a file from being made under this name now, in words; null if nothing is seen.
const char *mxp__output_obstacle(const char *path);

// What native files of this process's children are called, without folders.
void mxp__child_pattern(const mxp_session *session, mxp_strbuf *pattern);
// The child whose native file is called `file`, by such a pattern; 0: none, or this process itself.
unsigned long mxp__output_child(const char *pattern, const char *file);

#endif
