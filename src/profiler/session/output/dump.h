// SPDX-License-Identifier: Apache-2.0
// Folder profiler/session/output: the files that a session writes, and their names.
//
// The files of a session and who may write them. Functions ending in _locked need the session's
// lock, those ending in _in_turn the turn of the files as well; both give the lock up while they
// wait, format or write. dump.c says how it all works.
#ifndef MXP_SESSION_DUMP_H
#define MXP_SESSION_DUMP_H

#include "profiler/session/session.h"

void mxp__files_take_locked(mxp_session *session);
void mxp__files_give_locked(mxp_session *session);  // after acting on notes of other threads
// Both close the files. They differ in a pending dump that only the Chrome trace has. `_end_` keeps
// it, for the next native file, if that trace stays as it is. `_close_` drops it: the next files,
// of the same names, get its records.
void mxp__files_end_in_turn(mxp_session *session);
void mxp__files_close_in_turn(mxp_session *session);
void mxp__files_close_locked(mxp_session *session);  // now, or when the turn is given

// Writes what is pending to the files that are open and leaves them open.
int mxp__dump_write_in_turn(mxp_session *session);
// As the timer does it: writes what is new, keeps the files open.
int mxp__dump_background_locked(mxp_session *session);
int mxp__dump_last_locked(mxp_session *session);  // when the process ends

// Whether `path` is its trace's or its native file's.
bool mxp__session_writes_to(const mxp_session *session, const char *path);
// The file that store "file" records into, under the present configuration: now, or when the turn
// is given.
int mxp__record_file_begin_locked(mxp_session *session);
int mxp__record_file_end_in_turn(mxp_session *session);

#endif
