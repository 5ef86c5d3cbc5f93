// SPDX-License-Identifier: Apache-2.0
// The page's state in its address: view, selection, focus, step, tab, search, path, memory's cursor. What does not parse is
// ignored, numbers are clamped; a link is good for one profile, which `id` names. Pure.

/** @typedef {{from: number, to: number}} LinkRange */
/** @typedef {{view?: LinkRange, selection?: LinkRange, focus?: {track: number, begin: number}, step?: number, tab?: string, search?: string,
 *             path?: boolean, at?: number, id?: string}} LinkState */

const LONGEST_SEARCH = 200;

/** @param {LinkState} state @returns {string} without the # */
export function linkOf(state) {
  /** @type {string[]} */
  const parts = [];
  const put = (/** @type {string} */ key, /** @type {string | number} */ value) => parts.push(`${key}=${encodeURIComponent(value).replace(/%20/g, '+')}`);
  const range = (/** @type {LinkRange} */ { from, to }) => `${Math.round(from)}-${Math.round(to)}`;
  if (state.id) put('id', state.id);
  if (state.view) put('t', range(state.view));
  if (state.selection) put('s', range(state.selection));
  if (state.focus) put('f', `${state.focus.track}.${Math.round(state.focus.begin)}`);
  if (state.step !== undefined) put('step', state.step);
  if (state.tab) put('tab', state.tab);
  if (state.search) put('q', state.search.slice(0, LONGEST_SEARCH));
  if (state.path) put('path', 1);
  if (state.at !== undefined) put('at', Math.round(state.at));
  return parts.join('&');
}

/** @param {string} hash with or without the # @param {{length: number, tracks: number}} limits @returns {LinkState} */
export function stateOf(hash, limits) {
  const values = new URLSearchParams(hash.replace(/^#/, ''));
  /** @type {LinkState} */
  const state = {};
  const text = (/** @type {string} */ key) => values.get(key) ?? '';
  const clamp = (/** @type {string} */ digits) => Math.max(-limits.length, Math.min(2 * limits.length, Number(digits)));
  const range = (/** @type {string} */ key) => {
    const found = /^(-?\d{1,17})-(-?\d{1,17})$/.exec(text(key));
    if (!found) return undefined;
    const from = clamp(found[1]), to = clamp(found[2]);
    return to > from ? { from, to } : undefined;
  };
  const view = range('t'), selection = range('s'), focus = /^(\d{1,6})\.(\d{1,17})$/.exec(text('f'));
  if (view) state.view = view;
  if (selection) state.selection = selection;
  if (focus && Number(focus[1]) < limits.tracks) state.focus = { track: Number(focus[1]), begin: clamp(focus[2]) };
  if (/^\d{1,16}$/.test(text('step'))) state.step = Number(text('step'));
  if (/^[A-Za-z-]{1,20}$/.test(text('tab'))) state.tab = text('tab');
  if (text('q')) state.search = text('q').slice(0, LONGEST_SEARCH);
  if (text('path') === '1') state.path = true;
  if (/^\d{1,17}$/.test(text('at'))) state.at = Math.max(0, Math.min(limits.length, Number(text('at'))));
  if (/^[0-9a-f]{8}$/.test(text('id'))) state.id = text('id');
  return state;
}

/** The profile's id: the CRC of the head's gzip trailer. @param {Uint8Array} gzip */
export function idOf(gzip) {
  if (gzip.length < 18) return '';
  const crc = new DataView(gzip.buffer, gzip.byteOffset + gzip.length - 8, 4).getUint32(0, true);
  return crc.toString(16).padStart(8, '0');
}
