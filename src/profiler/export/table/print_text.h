// SPDX-License-Identifier: Apache-2.0
// Private to src/profiler/export: text that all printers of rows share.
#ifndef MXP_EXPORT_PRINT_TEXT_H
#define MXP_EXPORT_PRINT_TEXT_H

#include "profiler/export/table/aggregate.h"

// A name for people and CSV: valid UTF-8 on one line. Control characters become escapes (\n,
// \u001b), invalid bytes U+FFFD; everything else stays as it is. Padded on the right to `width`
// bytes.
void mxp__put_name(mxp_strbuf *out, const char *text, size_t length, size_t width);

// Right-aligned in 16 columns, whatever the program's locale: with four decimals; exact.
void mxp__put_fixed(mxp_strbuf *out, double value);
void mxp__put_number(mxp_strbuf *out, mxp_number number, uint32_t type);

// What the unit of a row's figures is divided by for printing: ns to ms, bytes to kB, else 1.
double mxp__row_scale(const mxp_row *row);
// Whether the figures are printed as they were recorded, exactly and in their own type.
int mxp__row_is_plain(const mxp_row *row);

// A figure of the row for programs, in its unit, as JSON writes numbers; `exact` is the same as it
// was recorded, or null.
void mxp__put_figure(mxp_strbuf *out, const mxp_row *row, double value, const mxp_number *exact);

int mxp__same_section(const mxp_row *a, const mxp_row *b);

#endif
