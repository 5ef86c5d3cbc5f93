// SPDX-License-Identifier: Apache-2.0
// What a trace knows of an operator beyond its span: when it was pushed and ready, who pushed it, what released it
// and what it released. Columns are decoded where an operator has the focus, not before. Pure.
import { signedVarints } from './bytes.js';
import { spanOf } from './neighbours.js';
/** @import { Block, Profile } from './lod.js' */
/** @import { Span } from './neighbours.js' */

/** @typedef {{push: Float64Array, ready: Float64Array, ids: Float64Array | null, released: Float64Array | null,
 *             pusher: Float64Array | null}} Columns */
/** @typedef {{push: number, ready: number, id: number, pusher: number, released: number}} Operator
 * push, ready: ns before its start; pusher: place of the thread, -1: unknown; released: id of what released it, 0: none */
/** @typedef {{by: Span | null, to: Span[], more: number}} Links */

const DRAWN = 8, AHEAD_NS = 1e8, BEFORE_NS = 1e6;

/** @type {WeakMap<Block, Columns | null>} */
const cache = new WeakMap();

/** @param {Block} block @returns {Columns | null} null: a host's spans */
function columnsOfBlock(block) {
  const found = cache.get(block);
  if (found !== undefined) return found;
  /** @type {Columns | null} */
  let columns = null;
  if (block.more.length >= 2) {
    const [push, ready, ids, released, pusher] = block.more.map(bytes => signedVarints(bytes, block.count));
    if (ids) for (let i = 1; i < ids.length; i++) ids[i] += ids[i - 1];
    columns = { push, ready, ids: ids ?? null, released: released ?? null, pusher: pusher ?? null };
  }
  cache.set(block, columns);
  return columns;
}

/** null: no operator, or its block is not there. @param {Profile} profile @param {Span} span @returns {Operator | null} */
export function operatorOf(profile, span) {
  const block = profile.get(span.block), columns = block && columnsOfBlock(block), i = span.index;
  if (!columns) return null;
  const id = columns.ids ? columns.ids[i] : 0, back = columns.released ? columns.released[i] : 0;
  return { push: columns.push[i], ready: columns.ready[i], id, pusher: columns.pusher ? columns.pusher[i] : -1,
    released: id && back ? id - back : 0 };
}

/** The neighbours of an operator in the graph: what released it, and the first of those that it released.
 * @param {Profile} profile @param {Span} span @returns {Promise<Links>} */
export async function linksOf(profile, span) {
  /** @type {Links} */
  const links = { by: null, to: [], more: 0 };
  const operator = operatorOf(profile, span);
  if (!operator || !operator.id) return links;
  const readyAt = span.begin - operator.ready;
  for (const track of operatorTracks(profile, span)) {
    if (operator.released && !links.by) {
      links.by = await find(profile, track, readyAt - BEFORE_NS, span.begin, (columns, i) => columns.ids?.[i] === operator.released);
    }
    await each(profile, track, span.end, span.end + AHEAD_NS, (block, number, columns, i) => {
      if (!columns.ids || !columns.released?.[i] || columns.ids[i] - columns.released[i] !== operator.id) return false;
      if (links.to.length < DRAWN) links.to.push(spanOf(profile, block, { block: number, index: i })); else links.more++;
      return false;
    });
  }
  return links;
}

/** @param {Profile} profile @param {Span} span */
function operatorTracks(profile, span) {
  const { tracks } = profile.head, { process } = tracks[span.track];
  return tracks.flatMap((track, i) => (track.what === 'operators' && track.process === process ? [i] : []));
}

/** @param {Profile} profile @param {number} track @param {number} from @param {number} to
 * @param {(block: Block, number: number, columns: Columns, index: number) => boolean} visit true: enough */
async function each(profile, track, from, to, visit) {
  for (const number of profile.blocks(track, Infinity, from, to)) {
    const block = await profile.load(number).catch(() => null), columns = block && columnsOfBlock(block);
    if (!block || !columns) continue;
    const begin = profile.head.blocks[number].cls === 0 ? 0 : profile.first(number, block, from);
    for (let i = begin; i < block.count && block.begin[i] <= to; i++) {
      if (block.begin[i] + block.duration[i] < from) continue;
      if (visit(block, number, columns, i)) return;
    }
  }
}

/** @param {Profile} profile @param {number} track @param {number} from @param {number} to
 * @param {(columns: Columns, index: number) => boolean} wanted */
async function find(profile, track, from, to, wanted) {
  /** @type {Span | null} */
  let found = null;
  await each(profile, track, from, to, (block, number, columns, i) => {
    if (wanted(columns, i)) found = spanOf(profile, block, { block: number, index: i });
    return found !== null;
  });
  return /** @type {Span | null} */ (found);
}
