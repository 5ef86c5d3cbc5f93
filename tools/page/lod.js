// SPDX-License-Identifier: Apache-2.0
// Level of detail: which tile and which blocks a view needs, and the cache of what was decoded. A span is in one
// block, by its track and class of duration; tile L sums up the classes above L. A view of p ns a pixel takes
// the first level whose bins are at most p: its tile, and blocks of classes 0 to L. Pure but for `sections`.
import { sums, columnsOf, varints, Damage } from './bytes.js';
/** @import { Head } from './head.js' */
/** @import { Sections } from './sections.js' */

/** @typedef {{index: Float64Array, busy: Uint8Array, spans: Float64Array, kind: Uint16Array}} Lane */
/** @typedef {{begin: Float64Array, duration: Float64Array, kind: Uint16Array, depth: Uint8Array, count: number,
 *             more: Uint8Array[]}} Block */
/** @typedef {{block: number, index: number}} Place where a span is */

const KINDS = 65536, DECODED_SPANS = 6e6;
export const LANE = 256; // lane = track * LANE + depth; a track has at most so many rows

/** @param {Uint8Array} bytes @param {Head} head @param {number} number @returns {Block} */
export function blockOf(bytes, head, number) {
  const row = head.blocks[number], { count, columns } = columnsOf(bytes, 4);
  if (count !== row.count) throw new Damage('has another count than its directory says');
  const begin = sums(varints(columns[0], new Float64Array(count)), row.first);
  const kinds = Math.min(KINDS, head.kinds.length), { rows } = head.tracks[row.track];
  const block = {
    count, begin, duration: varints(columns[1], new Float64Array(count)),
    kind: varints(columns[2], new Uint16Array(count), kinds), depth: varints(columns[3], new Uint8Array(count), rows),
    more: columns.slice(4).map(column => column.slice()),
  };
  if (count && begin[count - 1] > head.length) throw new Damage('has a span behind the end');
  return block;
}

/** Tile L as lanes. @param {Uint8Array} bytes @param {Head} head @param {number} level @returns {Map<number, Lane>} */
export function tileOf(bytes, head, level) {
  const tile = head.tiles[level], { count, columns } = columnsOf(bytes, 4);
  if (count !== tile.bins || columns[1].length !== count) throw new Damage('has another count than its directory says');
  const index = varints(columns[0], new Float64Array(count)), busy = columns[1].slice();
  const spans = varints(columns[2], new Float64Array(count));
  const kind = varints(columns[3], new Uint16Array(count), Math.min(KINDS, head.kinds.length));
  /** @type {Map<number, Lane>} */
  const lanes = new Map();
  let at = 0;
  for (const [track, depth, bins] of tile.lanes) {
    const end = at + bins;
    sums(index.subarray(at, end), 0);
    lanes.set(track * LANE + depth, {
      index: index.subarray(at, end), busy: busy.subarray(at, end), spans: spans.subarray(at, end),
      kind: kind.subarray(at, end),
    });
    at = end;
  }
  if (at !== count) throw new Damage('has lanes of another length than its count');
  return lanes;
}

/** The first index whose value is at least `least`. @param {Float64Array} values @param {number} least */
export function lowerBound(values, least) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < least) low = middle + 1; else high = middle;
  }
  return low;
}

export class Profile {
  /** @param {Head} head @param {Sections} sections */
  constructor(head, sections) {
    this.head = head;
    this.sections = sections;
    /** @type {(Map<number, Lane> | Promise<void> | null | undefined)[]} undefined: not asked for; null: damaged */
    this.tiles = head.tiles.map(() => undefined);
    /** @type {Map<number, Block>} in the order of use: the first was used longest ago */
    this.decoded = new Map();
    /** @type {Map<number, Promise<Block>>} */
    this.coming = new Map();
    /** @type {Map<number, string>} blocks that cannot be read, and why */
    this.damaged = new Map();
    this.held = 0;
    this.limit = DECODED_SPANS;
    this.onload = () => {};
    /** @type {number[][]} */
    this.ofTrack = head.tracks.map(() => []);
    head.blocks.forEach((block, i) => this.ofTrack[block.track].push(i));
  }

  /** The level whose bins are at most a pixel; tiles.length: all is exact. @param {number} perPixel */
  level(perPixel) {
    const { tiles } = this.head;
    let level = 0;
    while (level < tiles.length && tiles[level].width > perPixel) level++;
    return level;
  }

  /**
   * The lanes of a level, or of the coarser one that is there while it comes.
   * @param {number} level @returns {{level: number, lanes: Map<number, Lane>} | null}
   */
  tile(level) {
    if (this.tiles[level] === undefined) this.tiles[level] = this.loadTile(level);
    for (let l = level; l >= 0; l--) {
      const lanes = this.tiles[l];
      if (lanes instanceof Map) return { level: l, lanes };
    }
    return null;
  }

  /** @param {number} level */
  async loadTile(level) {
    try {
      this.tiles[level] = await this.sections.read(`t${level}`, bytes => tileOf(bytes, this.head, level));
    } catch {
      this.tiles[level] = null; // sections said so
    }
    this.onload();
  }

  /** What is on its way. @returns {Promise<unknown>[]} */
  pending() {
    return [...this.coming.values(), ...this.tiles.flatMap(tile => (tile instanceof Promise ? [tile] : []))];
  }

  /** A decoded block; null: it is on its way, or damaged. @param {number} number @returns {Block | null} */
  get(number) {
    const block = this.decoded.get(number);
    if (block) {
      this.decoded.delete(number);
      this.decoded.set(number, block);
      return block;
    }
    if (!this.damaged.has(number)) this.load(number).catch(() => {});
    return null;
  }

  /** Rejects with Damage where the block cannot be read. @param {number} number @returns {Promise<Block>} */
  load(number) {
    const there = this.decoded.get(number);
    if (there) return Promise.resolve(there);
    let promise = this.coming.get(number);
    if (!promise) {
      promise = this.decode(number);
      this.coming.set(number, promise);
    }
    return promise;
  }

  /** @param {number} number */
  async decode(number) {
    try {
      const block = await this.sections.read(`b${number}`, bytes => blockOf(bytes, this.head, number));
      this.decoded.set(number, block);
      this.held += block.count;
      this.forget(number);
      return block;
    } catch (error) {
      this.damaged.set(number, error instanceof Error ? error.message : String(error));
      throw error;
    } finally {
      this.coming.delete(number);
      this.onload();
    }
  }

  /** Least recently used blocks leave. @param {number} kept */
  forget(kept) {
    for (const [number, block] of this.decoded) {
      if (this.held <= this.limit) break;
      if (number === kept) continue;
      this.decoded.delete(number);
      this.held -= block.count;
    }
  }

  /**
   * Blocks of a track with classes up to `level` that touch [from, to].
   * @param {number} track @param {number} level @param {number} from @param {number} to
   */
  blocks(track, level, from, to) {
    const { blocks } = this.head;
    return this.ofTrack[track].filter(i => blocks[i].cls <= level && blocks[i].last >= from && blocks[i].first <= to);
  }

  /** The first span of a block that may reach into a view that begins at `from`. @param {number} number
   * @param {Block} block @param {number} from */
  first(number, block, from) {
    const { cls } = this.head.blocks[number];
    if (cls === 0) return 0;
    return lowerBound(block.begin, from - this.head.tiles[cls - 1].width);
  }
}
