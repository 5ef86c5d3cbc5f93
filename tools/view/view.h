// SPDX-License-Identifier: Apache-2.0
// Folder tools/view: what `mxprof view` puts into a page: the documents that other commands print,
// the spans, memory, counters and paths as sections, and what a smaller page leaves out. The form
// of it all is docs/page-format.md; the bytes are written by tools/page.
//
// Numbers are those of report, explain, memory, path, whatif and diff; nothing is computed here
// that they compute.
#ifndef MXP_TOOLS_VIEW_H
#define MXP_TOOLS_VIEW_H

#include "explain_view.h"
#include "page/join_page.h"
#include "page/page_walk.h"
#include "report/report.h"

typedef struct mxp_view_wish {
    const char *out, *other, *size, *assets, *memory;  // as given, or null
    int is_anonymous, opens;
    mxp_selection selection;  // what is shown to the nanosecond
    mxp_selection verdict;  // steps of which verdict and tables are
    uint64_t limit_bytes;  // of the page; UINT64_MAX: none
    uint64_t memory_bytes;  // that a window of steps may take
    const char *file;
} mxp_view_wish;

// A section that is no block, under its name.
typedef struct mxp_view_section {
    char name[32];
    mxp_spooled_section at;
    bool is_dropped;
} mxp_view_section;

typedef struct mxp_view_process {
    mxp_report_process *of;  // its source, steps and choice, in the report
    uint32_t thread_base;
    bool *is_quiet;  // by thread, or null
    size_t thread_count;
    mxp_step_sums *sums;
} mxp_view_process;

// What was left out of the page, and why it is whole where it is.
typedef struct mxp_view_dropped {
    bool columns;  // of operators outside of kept times
    unsigned class_outside, class_kept;  // these and above are in no block; above view.levels: none
    bool icicle;
    size_t quiet_threads;
    size_t path_steps;
    uint64_t spans;
} mxp_view_dropped;

// A fixed screen: a page is read elsewhere than where it is made.
static const mxp_screen mxp__page_screen = {.columns = MXP_SCREEN_COLUMNS, .is_utf8 = true};

typedef struct mxp_view {
    const mxp_command *command;
    const mxp_view_wish *wish;
    mxp_input input;
    mxp_report_wish report_wish;
    mxp_time_report report;
    bool has_report;
    mxp_explain_view explain;
    bool is_explained;
    mxp_view_process *processes;
    size_t process_count;
    mxp_page_data page;
    mxp_zone_window *windows;
    size_t window_count, window_capacity;
    size_t levels;  // of tiles that are in the page
    mxp_view_section *sections;  // but head and blocks
    size_t section_count, section_capacity;
    // Parts of `head`, as JSON values; empty where there are none.
    mxp_strbuf title, plain, explain_json, memory, path, whatif, icicle, texts;
    char explain_refused[256], path_refused[256], whatif_refused[256];
    mxp_view_dropped dropped;
    bool is_told;  // the line of the error that ended it
} mxp_view;

static inline mxp_source *mxp__view_source(const mxp_view *view, size_t process)
{
    return view->report.processes[process].source;
}

// Adds a section of these columns; `count` rows. MXP_ENOMEM, MXP_EIO.
int mxp__view_section(mxp_view *view, const char *name, const mxp_strbuf *columns,
                      size_t column_count, size_t count);
// The same of a text.
int mxp__view_text_section(mxp_view *view, const char *name, const mxp_strbuf *text);
int mxp__view_keep_section(mxp_view *view, const char *name, const mxp_spooled_section *at);

// All of them return 0 or a negative error with its line.
int mxp__view_documents(mxp_view *view);  // view_documents.c: report and explain, plain
int mxp__view_windows(mxp_view *view);  // view_windows.c: which times are wanted most
int mxp__view_spans(mxp_view *view);  // view_spans.c: tracks, blocks, tiles, counters
int mxp__view_memory(mxp_view *view);  // view_memory.c
int mxp__view_path(mxp_view *view);  // view_path.c: pieces, and the documents of path and whatif
int mxp__view_title(mxp_view *view);  // view_title.c: from what the others found
int mxp__view_icicle(mxp_view *view);  // view_icicle.c
int mxp__view_other(mxp_view *view);  // view_other.c: the difference to another trace
int mxp__view_fit(mxp_view *view, uint64_t page_bytes);  // view_fit.c: leaves out what is too much
int mxp__view_head(const mxp_view *view, mxp_strbuf *out);  // view_head.c
// view_html.c: to the place that was asked for.
int mxp__view_write(mxp_view *view, const mxp_page_text *assets);

// What explain has of the steps that the report of this process is of; null: it has looked at
// others.
mxp_explained *mxp__view_explained(mxp_view *view, const mxp_report_process *of);

// The step in which a told cause takes most, by its place in the process's steps; SIZE_MAX: it is
// no time, or of no step.
size_t mxp__view_told_step(const mxp_explained *of, const mxp_cause *cause);
// The process that explain's process is here, if it has the same steps; else SIZE_MAX.
size_t mxp__view_process_of(const mxp_view *view, const mxp_explained *of);

// The step in `head.steps` of a step of a process.
size_t mxp__view_step(const mxp_view *view, size_t process, size_t step);
// "this page: ..." in a few words.
void mxp__view_put_whole(const mxp_view *view, mxp_strbuf *out);

#endif
