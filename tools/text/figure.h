// SPDX-License-Identifier: Apache-2.0
// Figures for people: three digits and a unit that fits, so that no figure has more than four
// characters ("3.37 ms", "944 us", "18.3 MB"). What reads them by program gets ns and bytes, exact.
#ifndef MXP_TOOLS_FIGURE_H
#define MXP_TOOLS_FIGURE_H

#include <stdint.h>

#include "text/screen.h"

// Values may be negative (a minus before the figure) and fractions, such as means. Not a number, or
// infinite: "-".

// ns, us, ms, s; from 10,000 s on h, d, y. With `screen->unit` set, in that one: at least three
// digits of what is above 1, three decimals below. Where the screen is UTF-8, "us" is written with
// its Greek letter.
void mxp__put_duration(const mxp_screen *screen, double ns, mxp_strbuf *out);
// B, kB, MB, GB, TB, PB, EB; 1 kB is 1000 B.
void mxp__put_bytes(double bytes, mxp_strbuf *out);
// Up to 9999 as it is, then with k, M, G, T, P, E: "60", "1.5", "12.3k".
void mxp__put_count(double count, mxp_strbuf *out);
// All its digits, grouped: "18,047".
void mxp__put_grouped(uint64_t count, mxp_strbuf *out);
// All digits that tell a number from others: "0.1", "1700000000.25", "inf".
void mxp__put_exact(double number, mxp_strbuf *out);
// With one decimal: "34.6%". A share is of 1; tenths are of 1000 (text/shares.h).
void mxp__put_percent(double share, mxp_strbuf *out);
void mxp__put_tenths(uint64_t tenths, mxp_strbuf *out);

// The same with a sign always, for differences: "+0.66 ms", "-1.2%", and "0 ns" for none.
void mxp__put_duration_change(const mxp_screen *screen, double ns, mxp_strbuf *out);
void mxp__put_bytes_change(double bytes, mxp_strbuf *out);
void mxp__put_percent_change(double share, mxp_strbuf *out);

// A share of 1 as a bar of `columns` at most, in eighths of a block; of "#" where the screen is not
// UTF-8. Never less than the smallest bar for a share that is above 0 and rounds to none in UTF-8.
// Shares above 1 fill it. Returns how many columns it took.
size_t mxp__put_bar(const mxp_screen *screen, double share, size_t columns, mxp_strbuf *out);

#endif
