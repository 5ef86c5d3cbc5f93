// SPDX-License-Identifier: Apache-2.0
// What the parts of `mxprof diff` share: the runs of both sides, read and judged, and how that is
// printed.
#ifndef MXP_TOOLS_DIFF_H
#define MXP_TOOLS_DIFF_H

#include "command.h"
#include "profiler/analysis/comparison/contributions.h"
#include "profiler/analysis/comparison/differences.h"
#include "text/screen.h"

// All that is printed of a comparison.
typedef struct mxp_diff {
    mxp_comparison comparison;
    mxp_differences differences;
    mxp_contributions contributions;
    bool is_refused;  // two programs; then there are no contributions
    bool is_forced;
    size_t rows_shown;
    mxp_choice_wish steps;  // of each run
    char **paths;  // of the runs, which are files in directories, too
    size_t path_count, path_capacity;
} mxp_diff;

// Adds the runs that `paths` name to a side: a file is a run, a directory all runs in it. The
// folder of one `mxprof run`, several processes, is one run; a directory may have such folders in
// it. Of several processes the one with most steps counts. 0, or an error with its line printed.
int mxp__diff_read_side(const mxp_command *command, mxp_diff *diff, int side, char *const *paths,
                        size_t count);
void mxp__diff_fini(mxp_diff *diff);

// ---- text (diff_text.c), Markdown (diff_markdown.c), JSON (diff_json.c) -------------------------
void mxp__diff_put_text(const mxp_screen *screen, const mxp_diff *diff, mxp_strbuf *out);
// The part of it on what differs besides times (diff_unlike.c).
void mxp__diff_put_differences(const mxp_screen *screen, const mxp_diff *diff, mxp_strbuf *out);
void mxp__diff_put_markdown(const mxp_diff *diff, mxp_strbuf *out);
void mxp__diff_put_json(const mxp_diff *diff, mxp_strbuf *out);

// ---- noise (diff_noise.c): of the runs of one side ----------------------------------------------
int mxp__diff_put_noise(const mxp_screen *screen, const mxp_diff *diff, bool as_json,
                        mxp_strbuf *out);

// ---- words that text and Markdown share (diff_words.c) ------------------------------------------
const char *mxp__verdict_name(mxp_verdict verdict);  // "slower", as JSON has it
// "+11.0 %" of a share.
void mxp__put_signed_percent(double share, mxp_strbuf *out);
// "p = 0.0021", "p < 0.0001".
void mxp__put_p(double p, mxp_strbuf *out);
// "+11.0 % (95 %: +6.1 % to +16.2 %), p = 0.0021".
void mxp__put_judgement(const mxp_judged *judged, mxp_strbuf *out);
// Why there is no verdict, "differences of one run cannot be told from noise"; "" where there is
// one.
void mxp__put_why_no_verdict(const mxp_diff *diff, mxp_strbuf *out);
// "The machine was busy: ...", a line; nothing where it was not.
void mxp__put_busy(const mxp_diff *diff, mxp_strbuf *out);
// "conv1/_backward_Convolution" of a row of the path; with its kind before it unless it runs.
void mxp__put_row_name(const mxp_row_key *key, mxp_strbuf *out);

#endif
