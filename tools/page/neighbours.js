// SPDX-License-Identifier: Apache-2.0
// From one span to another: the next and the one before in its row, the nearest in another row, the next that a
// search finds. Blocks come as they are needed and no others: one that begins behind the best found is not read.
import { lowerBound } from './lod.js';
/** @import { Block, Place, Profile } from './lod.js' */

/** @typedef {Place & {track: number, begin: number, end: number, kind: number, depth: number}} Span */

/** @param {Profile} profile @param {Block} block @param {Place} place @returns {Span} */
export function spanOf(profile, block, { block: number, index }) {
  const begin = block.begin[index];
  return { block: number, index, track: profile.head.blocks[number].track, begin, end: begin + block.duration[index],
    kind: block.kind[index], depth: block.depth[index] };
}

/**
 * The first span behind a moment (direction 1), or the last before it (-1), of those that `wanted` takes.
 * @param {Profile} profile @param {number} track @param {number} at ns @param {1 | -1} direction
 * @param {(block: Block, index: number) => boolean} wanted
 * @param {(number: number) => Promise<boolean>} [mayHave] false: this block has none of them
 * @returns {Promise<Span | null>}
 */
export async function nearestBehind(profile, track, at, direction, wanted, mayHave) {
  const { blocks } = profile.head;
  const order = [...profile.ofTrack[track]].sort((a, b) => (direction > 0 ? blocks[a].first - blocks[b].first : blocks[b].last - blocks[a].last));
  /** @type {Span | null} */
  let best = null;
  for (const number of order) {
    const info = blocks[number];
    if (direction > 0 ? info.last <= at && info.first <= at : info.first >= at) continue;
    if (best && (direction > 0 ? info.first >= best.begin : info.last < best.begin)) break;
    if (profile.damaged.has(number) || (mayHave && !await mayHave(number))) continue;
    const block = await profile.load(number).catch(() => null);
    const index = block ? scan(block, at, direction, wanted) : -1;
    if (!block || index < 0) continue;
    const found = spanOf(profile, block, { block: number, index });
    if (!best || (direction > 0 ? found.begin < best.begin : found.begin > best.begin)) best = found;
  }
  return best;
}

/** @param {Block} block @param {number} at @param {1 | -1} direction @param {(block: Block, index: number) => boolean} wanted */
function scan(block, at, direction, wanted) {
  if (direction > 0) {
    for (let i = lowerBound(block.begin, at + 1); i < block.count; i++) if (wanted(block, i)) return i;
  } else {
    for (let i = lowerBound(block.begin, at) - 1; i >= 0; i--) if (wanted(block, i)) return i;
  }
  return -1;
}

/** The next span in the row of one, or the one before. @param {Profile} profile @param {Span} span @param {1 | -1} direction */
export function besideSpan(profile, span, direction) {
  return nearestBehind(profile, span.track, span.begin, direction, (block, i) => block.depth[i] === span.depth);
}

/** The span of a row that covers a moment, or is nearest to it. @param {Profile} profile @param {number} track
 * @param {number} depth @param {number} at */
export async function spanAt(profile, track, depth, at) {
  const inRow = (/** @type {Block} */ block, /** @type {number} */ i) => block.depth[i] === depth;
  const before = await nearestBehind(profile, track, at + 1, -1, inRow);
  if (before && before.end >= at) return before;
  const after = await nearestBehind(profile, track, at, 1, inRow);
  if (!before || !after) return before ?? after;
  return at - before.end <= after.begin - at ? before : after;
}

/** The innermost span of a track around a moment. @param {Profile} profile @param {number} track @param {number} at @returns {Promise<Span | null>} */
export async function deepestAt(profile, track, at) {
  /** @type {Span | null} */
  let deepest = null;
  for (const number of profile.blocks(track, Infinity, at, at)) {
    const block = await profile.load(number).catch(() => null);
    if (!block) continue;
    for (let i = profile.first(number, block, at); i < block.count && block.begin[i] <= at; i++) {
      if (block.begin[i] + block.duration[i] >= at && (!deepest || block.depth[i] >= deepest.depth)) deepest = spanOf(profile, block, { block: number, index: i });
    }
  }
  return deepest;
}

/** Of the spans of a row that touch a range the longest, and how many further ones do: of blocks that are decoded, up to a level.
 * @param {Profile} profile @param {number} track @param {number} depth @param {{from: number, to: number, level: number}} range @returns {Place & {others: number} | null} */
export function longestIn(profile, track, depth, { from, to, level }) {
  /** @type {Place | null} */
  let longest = null;
  let most = -1, found = 0;
  for (const number of profile.blocks(track, level, from, to)) {
    const block = profile.get(number);
    for (let i = block ? profile.first(number, block, from) : 0; block && i < block.count && block.begin[i] <= to; i++) {
      if (block.depth[i] !== depth || block.begin[i] + block.duration[i] < from) continue;
      found++;
      if (block.duration[i] > most) [most, longest] = [block.duration[i], { block: number, index: i }];
    }
  }
  return longest && { ...longest, others: found - 1 };
}

/** The row above (-1) or below (1) in the order that is drawn. @param {Profile} profile @param {number[]} tracks in order
 * @param {Span} span @param {1 | -1} direction */
export async function otherRow(profile, tracks, span, direction) {
  const lanes = tracks.flatMap(track => Array.from({ length: profile.head.tracks[track].rows }, (_, depth) => ({ track, depth })));
  let at = lanes.findIndex(lane => lane.track === span.track && lane.depth === span.depth);
  const middle = span.begin + Math.floor((span.end - span.begin) / 2);
  for (at += direction; at >= 0 && at < lanes.length; at += direction) {
    const found = await spanAt(profile, lanes[at].track, lanes[at].depth, middle);
    if (found) return found;
  }
  return null;
}

/** The next span of some kinds in any track, or the one before. @param {Profile} profile @param {Set<number>} kinds
 * @param {number} at @param {1 | -1} direction @param {(number: number) => Promise<boolean>} mayHave */
export async function nextOf(profile, kinds, at, direction, mayHave) {
  /** @type {Span | null} */
  let best = null;
  for (let track = 0; track < profile.head.tracks.length; track++) {
    const found = await nearestBehind(profile, track, at, direction, (block, i) => kinds.has(block.kind[i]), mayHave);
    if (found && (!best || (direction > 0 ? found.begin < best.begin : found.begin > best.begin))) best = found;
  }
  return best;
}
