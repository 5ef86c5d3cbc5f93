// SPDX-License-Identifier: Apache-2.0
// The parts of the page's head, each a JSON value that is appended.
#ifndef MXP_TOOLS_VIEW_HEAD_H
#define MXP_TOOLS_VIEW_HEAD_H

#include "text/figure.h"
#include "view/view.h"

void mxp__view_put_told(const mxp_view *view, mxp_strbuf *out);  // view_told.c
void mxp__view_put_workers(const mxp_view *view, mxp_strbuf *out);
void mxp__view_put_trust(const mxp_view *view, mxp_strbuf *out);

// view_tables.c: what is a list of numbers.
void mxp__view_put_processes(const mxp_view *view, mxp_strbuf *out);
void mxp__view_put_threads(const mxp_view *view, mxp_strbuf *out);
void mxp__view_put_kinds(const mxp_view *view, mxp_strbuf *out);
void mxp__view_put_stats(const mxp_view *view, mxp_strbuf *out);
void mxp__view_put_tracks(const mxp_view *view, mxp_strbuf *out);
void mxp__view_put_steps(const mxp_view *view, mxp_strbuf *out);
void mxp__view_put_cpu(const mxp_view *view, mxp_strbuf *out);
void mxp__view_put_tiles(const mxp_view *view, mxp_strbuf *out);
void mxp__view_put_blocks(const mxp_view *view, mxp_strbuf *out);
void mxp__view_put_sizes(const mxp_view *view, mxp_strbuf *out);
void mxp__view_put_counters(const mxp_view *view, mxp_strbuf *out);
void mxp__view_put_flows(const mxp_view *view, mxp_strbuf *out);
void mxp__view_put_losses(const mxp_view *view, mxp_strbuf *out);
void mxp__view_put_states(const mxp_view *view, mxp_strbuf *out);
void mxp__view_put_dropped(const mxp_view *view, mxp_strbuf *out);

#endif
