// SPDX-License-Identifier: Apache-2.0
// What the page's budget left out, and where: outside of kept times the shortest classes are in no block, so the tile above
// them goes on standing however near one comes, and says so. Pure.
/** @import { Head } from './head.js' */

/** @typedef {{from: number, to: number, level: number, isCut: boolean}} Segment level: of the tile that completes it */

/** @param {number[][]} ranges @param {number} ns */
function within(ranges, ns) {
  return ranges.some(([from, to]) => ns >= from && ns < to);
}

/** The first class that is not in the page of what begins here; Infinity: all are. @param {Head['dropped']} dropped @param {number} ns */
function firstMissing({ isWhole, cls, kept, clsKept, full }, ns) {
  if (isWhole) return Infinity;
  const outside = cls !== null && !within(kept, ns) ? cls : Infinity;
  return Math.min(outside, clsKept !== null && !within(full, ns) ? clsKept : Infinity);
}

/** The parts of a view by what is missing in them. @param {Head} head @param {number} from @param {number} to
 * @param {number} level that the view's width asks for @returns {Segment[]} */
export function segmentsOf({ dropped }, from, to, level) {
  if (dropped.isWhole) return [{ from, to, level, isCut: false }];
  const edges = [...dropped.kept, ...dropped.full].flat().filter(edge => edge > from && edge < to).sort((a, b) => a - b);
  /** @type {Segment[]} */
  const segments = [];
  let at = from;
  for (const end of [...edges, to]) {
    const missing = firstMissing(dropped, at), last = segments[segments.length - 1];
    const own = Math.min(level, missing - 1), isCut = own < level;
    if (last && last.level === own && last.isCut === isCut) last.to = end;
    else if (end > at) segments.push({ from: at, to: end, level: own, isCut });
    at = end;
  }
  return segments;
}

/** Is a view of this level not whole at a moment? @param {Head} head @param {number} ns @param {number} level */
export function isDropped({ dropped }, ns, level) {
  return level >= firstMissing(dropped, ns);
}

/** Does a range have spans that are in no block? @param {Head} head @param {number} from @param {number} to */
export function hasDropped(head, from, to) {
  return segmentsOf(head, from, to, head.tiles.length).some(segment => segment.isCut);
}
