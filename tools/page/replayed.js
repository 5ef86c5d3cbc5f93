// SPDX-License-Identifier: Apache-2.0
// What each step gains by each prediction of What-if (section `w`). Pure.
import { columnsOf, signedVarints, varints } from './bytes.js';
/** @import { Head, Step } from './head.js' */

/** By prediction, in the order of head.whatif. @param {Uint8Array} bytes @param {Head} head @returns {Map<number, Map<Step, number>>} */
export function replayedOf(bytes, { steps }) {
  const { count, columns } = columnsOf(bytes, 3), prediction = varints(columns[0], new Float64Array(count)), place = varints(columns[1], new Float64Array(count), steps.length), gain = signedVarints(columns[2], count);
  /** @type {Map<number, Map<Step, number>>} */
  const all = new Map();
  for (let i = 0; i < count; i++) {
    const of = all.get(prediction[i]) ?? new Map();
    all.set(prediction[i], of.set(steps[place[i]], gain[i]));
  }
  return all;
}
