// SPDX-License-Identifier: Apache-2.0
// Events: pairs of a start and an end by a number, and starts alone, which are moments. The old
// marks are moments, too. Each function is the one of ITT's interface whose name it ends with.
#ifndef MXP_COLLECT_ITT_EVENTS_H
#define MXP_COLLECT_ITT_EVENTS_H

// A number of an event, or of a mark, is the id of its name: the same name gives the same number.
int mxp__itt_event_create(const char *name, int length);
int mxp__itt_event_start(int event);
int mxp__itt_event_end(int event);

int mxp__itt_mark_create(const char *name);
int mxp__itt_mark(int mark, const char *parameter);
int mxp__itt_mark_global(int mark, const char *parameter);

#endif
