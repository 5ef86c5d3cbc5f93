// SPDX-License-Identifier: Apache-2.0
// Numbers and names as the page writes them. Pure: the same text goes into elements, canvases, CSV and SVG.

export const NO_VALUE = '\u2013';
const DOT = ' \u00b7 ';
/** @type {[number, string][]} */
const UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s']];

/**
 * @param {number} ns @param {number} [digits] how many significant ones
 */
export function time(ns, digits = 4) {
  if (!Number.isFinite(ns)) return NO_VALUE;
  const size = Math.abs(ns);
  for (const [scale, unit] of UNITS) {
    if (size >= scale * (1 - 0.5 / 10 ** digits)) return `${fixed(ns / scale, digits)} ${unit}`;
  }
  return `${Math.round(ns)} ns`;
}

/** Never in the form 1e+5. @param {number} value @param {number} digits */
function fixed(value, digits) {
  const whole = Math.max(1, Math.floor(Math.log10(Math.max(Math.abs(value), 1e-9))) + 1);
  return value.toFixed(Math.max(0, digits - whole));
}

/** A change, with its sign. @param {number} ns @param {number} [digits] */
export function change(ns, digits = 3) {
  return (ns > 0 ? '+' : ns < 0 ? '\u2212' : '') + time(Math.abs(ns), digits);
}

/** @param {number | bigint} n */
export function count(n) {
  if (typeof n === 'number' && !Number.isFinite(n)) return NO_VALUE;
  return String(typeof n === 'number' ? Math.round(n) : n).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** @param {number} share */
export function percent(share) {
  return Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : NO_VALUE;
}

/** Decimal units, as `mxprof memory` has them. @param {number} bytes */
export function size(bytes) {
  if (!Number.isFinite(bytes)) return NO_VALUE;
  const magnitude = Math.abs(bytes);
  for (const [scale, unit] of /** @type {[number, string][]} */ ([[1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB']])) {
    if (magnitude >= scale) return `${fixed(bytes / scale, 3)} ${unit}`;
  }
  return `${Math.round(bytes)} B`;
}

/** A moment in seconds of the trace, as --from and --until take it. @param {bigint} begin of the page, ns of the trace @param {number} ns since then */
export function traceSeconds(begin, ns) {
  const at = begin + BigInt(Math.round(ns)), size = at < 0n ? -at : at, rest = String(size % 1000000000n).padStart(9, '0').replace(/0+$/, '');
  return `${at < 0n ? '-' : ''}${size / 1000000000n}${rest && `.${rest}`}`;
}

const AMOUNT_DIGITS = 4;

/** What a counter shows, in its unit: 1 bytes, 2 ns, 3 percent, else a number. @param {number} value @param {number} unit */
export function amount(value, unit) {
  if (!Number.isFinite(value)) return NO_VALUE;
  if (unit === 1 || unit === 2) return unit === 1 ? size(value) : time(value);
  const magnitude = Math.abs(value), isPlain = Number.isInteger(value) ? magnitude < 1e15 : magnitude >= 10 ** AMOUNT_DIGITS && magnitude < 1e15;
  const digits = isPlain ? count(value) : String(Number(value.toPrecision(AMOUNT_DIGITS)));
  return `${digits.replace(/^-/, '\u2212')}${unit === 3 ? ' %' : ''}`;
}

/** "3", or "3 to 5" where they differ. @param {number} least @param {number} most @param {(value: number) => string} words */
export function between(least, most, words) {
  const [low, high] = [words(least), words(most)];
  return low === high ? high : `${low} to ${high}`;
}

// Control and direction marks, and halves of pairs: what could hide a name or turn the text around it.
const MARKS = new RegExp('[\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]'
  + '|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]', 'g');
const SHOWN = 200;

/** Marks made visible, nothing cut. @param {unknown} text */
export function wholeName(text) {
  const shown = String(text).replace(MARKS, mark => '\\u' + mark.charCodeAt(0).toString(16).padStart(4, '0'));
  return shown || '(no name)';
}

/** A name fit to be shown: marks made visible, cut at 200 characters. @param {unknown} text */
export function name(text) {
  const source = String(text), shown = wholeName(source.length > 2 * SHOWN ? source.slice(0, 2 * SHOWN) : source);
  return shown.length > SHOWN ? cutText(shown, SHOWN) : shown;
}

/** At most `length` characters, the last an ellipsis; no pair is parted. @param {string} text @param {number} length */
export function cutText(text, length) {
  if (text.length <= length) return text;
  const end = text.codePointAt(length - 2) ?? 0;
  return text.slice(0, end > 0xffff ? length - 2 : length - 1) + '\u2026';
}

/** Parts that are there, with dots between. @param {(string | null | undefined | false)[]} parts */
export function dotted(parts) {
  return parts.filter(Boolean).join(DOT);
}

/** "1 span", "2 spans". @param {number} n @param {string} word */
export function counted(n, word) {
  return `${count(n)} ${word}${n === 1 ? '' : 's'}`;
}

/** One field of CSV: spreadsheets must not take a name for a formula. @param {unknown} value */
export function csvField(value) {
  let text = typeof value === 'number' ? String(value) : String(value ?? '');
  if (typeof value !== 'number' && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}

/** @param {unknown[][]} rows @returns {string} CSV as spreadsheets take it: UTF-8 with a mark, CRLF */
export function csvOf(rows) {
  return '\ufeff' + rows.map(row => row.map(csvField).join(',') + '\r\n').join('');
}

/** Text within XML: escaped, without what XML forbids. @param {unknown} text */
export function xmlText(text) {
  return wholeName(text).replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);
}

/** What a file that is made here is called: after the trace. @param {string} trace @param {string} what @param {string} end */
export function fileName(trace, what, end) {
  const base = (trace.split(/[\\/]/).pop() || 'profile').replace(/\.(mxpz?|json|html)$/i, '');
  return `${base.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 80) || 'profile'}-${what}.${end}`;
}
