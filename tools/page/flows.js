// SPDX-License-Identifier: Apache-2.0
// Arrows that the trace has (section `f`): messages between processes, and what other profilers recorded. Points of one kind and
// number are a flow; those of the focused span are drawn, with the spans at their other ends. Pure but for the blocks it asks for.
import { columnsOf, sums, varints } from './bytes.js';
import { lowerBound } from './lod.js';
import { deepestAt } from './neighbours.js';
/** @import { Head } from './head.js' */
/** @import { Profile } from './lod.js' */
/** @import { Span } from './neighbours.js' */

/** @typedef {{time: Float64Array, kind: Float64Array, thread: Float64Array, track: Float64Array, before: Int32Array, after: Int32Array}} FlowPoints
 * thread, track: place + 1, 0: none; before, after: the points beside it in its flow, -1: none */
/** @typedef {{at: number, track: number, depth: number, kind: number}} FlowEnd kind: of the span there, -1: none */
/** @typedef {{kind: number, from: FlowEnd, to: FlowEnd, isOut: boolean}} FlowArrow isOut: it leaves the focused span */

const STARTS = 1, ENDS = 3, ARROWS = 8, OF_THREAD = ['operators', 'calls', 'async', 'lane'];

/** @param {Uint8Array} bytes @param {Head} head @returns {FlowPoints} */
export function flowPoints(bytes, { kinds, threads, tracks }) {
  const { count: n, columns } = columnsOf(bytes, 6), limits = [undefined, kinds.length, undefined, ENDS + 1, threads.length + 1, tracks.length + 1];
  const [time, kind, number, phase, thread, track] = limits.map((limit, i) => varints(columns[i], new Float64Array(n), limit));
  const before = new Int32Array(n).fill(-1), after = new Int32Array(n).fill(-1);
  /** @type {Map<number, number>} */
  const last = new Map(); // point of each flow
  sums(time, 0);
  for (let i = 0; i < n; i++) {
    const key = number[i] * kinds.length + kind[i], old = last.get(key) ?? -1;
    const isEarly = old >= 0 && phase[i] === STARTS && phase[old] === ENDS && before[old] < 0; // of another clock: it ends before it starts
    if (isEarly) [after[i], before[old]] = [old, i];
    else if (old >= 0 && phase[i] !== STARTS) [before[i], after[old]] = [old, i];
    last.set(key, i);
  }
  return { time, kind, thread, track, before, after };
}

/** The tracks of a point. @param {Head} head @param {FlowPoints} points @param {number} i */
function tracksOfPoint({ tracks }, points, i) {
  if (points.track[i] > 0) return [points.track[i] - 1];
  const thread = points.thread[i] - 1;
  return thread < 0 ? [] : tracks.flatMap((track, k) => (track.thread === thread && OF_THREAD.includes(track.what) ? [k] : []))
    .sort((a, b) => OF_THREAD.indexOf(tracks[a].what) - OF_THREAD.indexOf(tracks[b].what));
}

/** Where a point is drawn: at the innermost span around it. @param {Profile} profile @param {FlowPoints} points @param {number} i @returns {Promise<FlowEnd | null>} */
async function endOf(profile, points, i) {
  const tracks = tracksOfPoint(profile.head, points, i), at = points.time[i];
  for (const track of tracks) {
    const span = await deepestAt(profile, track, at);
    if (span) return { at, track, depth: span.depth, kind: span.kind };
  }
  return tracks.length ? { at, track: tracks[0], depth: 0, kind: -1 } : null;
}

/** The arrows that begin or end in a span, at most ARROWS of them. @param {Profile} profile @param {FlowPoints} points @param {Span} span
 * @returns {Promise<{arrows: FlowArrow[], more: number}>} */
export async function flowsOf(profile, points, span) {
  /** @type {FlowArrow[]} */
  const arrows = [];
  const { thread, what } = profile.head.tracks[span.track], isOfThread = OF_THREAD.includes(what);
  let more = 0;
  for (let i = lowerBound(points.time, span.begin); i < points.time.length && points.time[i] <= span.end; i++) {
    if (points.track[i] > 0 ? points.track[i] - 1 !== span.track : !isOfThread || thread < 0 || points.thread[i] - 1 !== thread) continue;
    for (const other of [points.before[i], points.after[i]]) {
      if (other < 0) continue;
      if (arrows.length === ARROWS) {
        more++;
        continue;
      }
      const end = await endOf(profile, points, other), own = { at: points.time[i], track: span.track, depth: span.depth, kind: span.kind }, isOut = other === points.after[i];
      if (end) arrows.push({ kind: points.kind[i], from: isOut ? own : end, to: isOut ? end : own, isOut });
    }
  }
  return { arrows, more };
}
