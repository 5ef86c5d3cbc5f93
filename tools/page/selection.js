// SPDX-License-Identifier: Apache-2.0
// What lies in a range of time. A span counts if it touches the range; `inside` is its time within it; all else is of
// whole spans. Blocks that lie inside as a whole come from their statistics, the edges from decoded blocks. Sums, counts,
// least and largest are exact; percentiles are up to EXACT_SPANS, else to a bucket. Pure but for the blocks it asks for.
import { columnsOf, varints, Damage } from './bytes.js';
/** @import { Profile } from './lod.js' */

/** @typedef {{kind: number, count: number, sum: number, least: number, largest: number, buckets: Map<number, number>}} BlockStat */
/** @typedef {{kind: number, count: number, inside: number, sum: number, least: number, largest: number, p50: number, p90: number,
 *             p99: number, isExact: boolean}} Selected */
/** @typedef {{rows: Selected[], from: number, to: number, spans: number, unread: number}} Selection
 * unread: blocks that are damaged, whose spans are in no row */
/** @typedef {{count: number, inside: number, sum: number, least: number, largest: number, durations: number[],
 *             buckets: Map<number, number>}} Sum */

export const EXACT_SPANS = 200000;

/** Rows of a statistics' section, by its row. @param {Uint8Array} bytes @param {number} kinds @returns {BlockStat[]} */
export function statisticsOf(bytes, kinds) {
  const { count, columns } = columnsOf(bytes, 8);
  const kind = varints(columns[0], new Float64Array(count), kinds);
  const [n, sum, least, largest, many] = columns.slice(1, 6).map(column => varints(column, new Float64Array(count)));
  let total = 0;
  for (const m of many) total += m;
  if (total > columns[6].length) throw new Damage('has more buckets than bytes');
  const index = varints(columns[6], new Float64Array(total)), amount = varints(columns[7], new Float64Array(total));
  /** @type {BlockStat[]} */
  const rows = [];
  for (let i = 0, at = 0; i < count; i++) {
    /** @type {Map<number, number>} */
    const buckets = new Map();
    for (const end = at + many[i]; at < end; at++) buckets.set(index[at], amount[at]);
    rows.push({ kind: kind[i], count: n[i], sum: sum[i], least: least[i], largest: largest[i], buckets });
  }
  return rows;
}

/** The bucket of a duration: four each power of two (docs/format.md, STATS). @param {number} ns */
export function bucketOf(ns) {
  if (ns < 4) return ns;
  const power = Math.floor(Math.log2(ns)), exact = 2 ** power > ns ? power - 1 : power;
  return 4 * (exact - 1) + Math.floor(ns / 2 ** (exact - 2)) - 4;
}

/** The least value of a bucket. @param {number} bucket */
export function bucketBegin(bucket) {
  return bucket < 4 ? bucket : (4 + bucket % 4) * 2 ** (Math.floor(bucket / 4) - 1);
}

/** Statistics of blocks, section by section as they are asked for. */
export class Statistics {
  /** @param {Profile} profile */
  constructor(profile) {
    this.profile = profile;
    /** @type {Map<number, Promise<BlockStat[] | null>>} */
    this.sections = new Map();
  }

  /** null: the block has none. @param {number} number @returns {Promise<BlockStat[] | null>} */
  async ofBlock(number) {
    const { stats, row, rows } = this.profile.head.blocks[number];
    if (stats < 0) return null;
    let section = this.sections.get(stats);
    if (!section) {
      const { sections, head } = this.profile;
      section = sections.read(`s${stats}`, bytes => statisticsOf(bytes, head.kinds.length)).catch(() => null);
      this.sections.set(stats, section);
    }
    const all = await section;
    return all && row + rows <= all.length ? all.slice(row, row + rows) : null;
  }

  /** May a block have spans of these kinds? @param {Set<number>} kinds @returns {(number: number) => Promise<boolean>} */
  mayHave(kinds) {
    return async number => {
      const rows = await this.ofBlock(number);
      return !rows || rows.some(row => kinds.has(row.kind));
    };
  }
}

/**
 * @param {Profile} profile @param {Statistics} statistics @param {number[]} tracks @param {number} from @param {number} to
 * @param {{exactSpans?: number}} [limits] @returns {Promise<Selection>}
 */
export async function select(profile, statistics, tracks, from, to, limits = {}) {
  const { blocks } = profile.head, numbers = tracks.flatMap(track => profile.blocks(track, Infinity, from, to));
  let touching = 0;
  for (const number of numbers) touching += blocks[number].count;
  const isExact = touching <= (limits.exactSpans ?? EXACT_SPANS);
  /** @type {Map<number, Sum>} */
  const sums = new Map();
  let unread = 0;
  for (const number of numbers) {
    const info = blocks[number], isInside = info.first >= from && info.last <= to;
    const rows = isInside && !isExact ? await statistics.ofBlock(number) : null;
    if (rows) {
      for (const row of rows) addStat(sums, row);
      continue;
    }
    const block = await profile.load(number).catch(() => null);
    if (block) addSpans(sums, profile, number, block, from, to, isExact); else unread++;
  }
  const rows = [...sums].map(([kind, sum]) => rowOf(kind, sum)).sort((a, b) => b.inside - a.inside);
  return { rows, from, to, spans: rows.reduce((n, row) => n + row.count, 0), unread };
}

/** @param {Map<number, Sum>} sums @param {number} kind */
function entryOf(sums, kind) {
  let sum = sums.get(kind);
  if (!sum) {
    sum = { count: 0, inside: 0, sum: 0, least: Infinity, largest: 0, durations: [], buckets: new Map() };
    sums.set(kind, sum);
  }
  return sum;
}

/** @param {Map<number, Sum>} sums @param {BlockStat} row */
function addStat(sums, row) {
  const sum = entryOf(sums, row.kind);
  sum.count += row.count;
  sum.inside += row.sum;
  sum.sum += row.sum;
  sum.least = Math.min(sum.least, row.least);
  sum.largest = Math.max(sum.largest, row.largest);
  for (const [bucket, n] of row.buckets) sum.buckets.set(bucket, (sum.buckets.get(bucket) ?? 0) + n);
}

/** @param {Map<number, Sum>} sums @param {Profile} profile @param {number} number @param {import('./lod.js').Block} block
 * @param {number} from @param {number} to @param {boolean} isExact */
function addSpans(sums, profile, number, block, from, to, isExact) {
  for (let i = profile.first(number, block, from); i < block.count && block.begin[i] <= to; i++) {
    const begin = block.begin[i], duration = block.duration[i], end = begin + duration;
    if (end < from) continue;
    const sum = entryOf(sums, block.kind[i]);
    sum.count++;
    sum.inside += Math.min(end, to) - Math.max(begin, from);
    sum.sum += duration;
    if (duration < sum.least) sum.least = duration;
    if (duration > sum.largest) sum.largest = duration;
    if (isExact) {
      sum.durations.push(duration);
    } else {
      const bucket = bucketOf(duration);
      sum.buckets.set(bucket, (sum.buckets.get(bucket) ?? 0) + 1);
    }
  }
}

/** @param {number} kind @param {Sum} sum @returns {Selected} */
function rowOf(kind, sum) {
  const isExact = sum.durations.length === sum.count, sorted = Float64Array.from(sum.durations).sort();
  const buckets = [...sum.buckets].sort(([a], [b]) => a - b);
  /** @param {number} share */
  const percentile = share => {
    const rank = Math.max(1, Math.ceil(share * sum.count));
    if (isExact) return sorted[rank - 1];
    let seen = 0;
    for (const [bucket, n] of buckets) {
      seen += n;
      if (seen >= rank) return Math.min(sum.largest, Math.max(sum.least, (bucketBegin(bucket) + bucketBegin(bucket + 1)) / 2));
    }
    return sum.largest;
  };
  return { kind, count: sum.count, inside: sum.inside, sum: sum.sum, least: sum.least, largest: sum.largest, p50: percentile(0.5),
    p90: percentile(0.9), p99: percentile(0.99), isExact };
}
