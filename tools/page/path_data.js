// SPDX-License-Identifier: Apache-2.0
// The pieces of the critical path (section `p`), step by step as the head lists them. Pure.
import { columnsOf, Damage, signedVarints, varints } from './bytes.js';
/** @import { Head } from './head.js' */

/** @typedef {{step: number, from: number, to: number}} Group pieces [from, to) are of a step */
/** @typedef {{thread: Float64Array, begin: Float64Array, length: Float64Array, category: Float64Array, kind: Float64Array,
 *             groups: Group[]}} Path thread: place + 1 in head.threads; kind: place + 1 of head.kinds; 0: none */

/** @param {Uint8Array} bytes @param {Head} head @returns {Path} */
export function pathOf(bytes, head) {
  const { count, columns } = columnsOf(bytes, 5), steps = head.path?.steps ?? [];
  const thread = varints(columns[0], new Float64Array(count), head.threads.length + 1);
  const begin = signedVarints(columns[1], count), length = varints(columns[2], new Float64Array(count));
  const category = varints(columns[3], new Float64Array(count), Math.max(1, head.path?.categories.length ?? 0));
  const kind = varints(columns[4], new Float64Array(count), head.kinds.length + 1);
  for (let i = 0, end = 0; i < count; i++) {
    begin[i] += end;
    end = begin[i] + length[i];
  }
  let at = 0;
  const groups = steps.map(([step, pieces]) => ({ step, from: at, to: at += pieces }));
  if (at !== count) throw new Damage('has another number of pieces than the head says');
  return { thread, begin, length, category, kind, groups };
}
