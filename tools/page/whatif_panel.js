// SPDX-License-Identifier: Apache-2.0
// What steps would take if one thing were different: the predictions of `mxprof whatif --json`. The chosen one marks on
// each step where it would end and leaves on the timeline only what it changes.
import { button, empty, h } from './dom.js';
import { changeWords } from './cards.js';
import { gainRange } from './explain_panel.js';
import { nameOfPid } from './layout.js';
import { barColumn, processColumn, shareColumn, table, timeColumn } from './table.js';
import { largestOf } from './tables.js';
import { counted, dotted, name, time } from './text.js';
/** @import { Head } from './head.js' */
/** @import { Panel } from './tabs.js' */

/** @typedef {{words: string, mean: number, kinds: Set<number>, process: number, place: number}} Chosen kinds: what the change is of; place: among all predictions */

/** Which kinds a change is of: of a scope all inside it, of a name those with it. @param {Head} head @param {any[]} changes */
export function changedKinds(head, changes) {
  /** @type {Set<number>} */
  const kinds = new Set();
  for (const { change, of } of changes ?? []) {
    const scope = typeof of === 'string' ? of.replace(/:$/, '') : null;
    if (scope === null) continue;
    head.kinds.forEach((kind, i) => {
      const own = kind.scope.replace(/:$/, '');
      if (change === 'scope' ? own === scope || own.startsWith(`${scope}:`) : kind.name === of) kinds.add(i);
    });
  }
  return kinds;
}

/** What a prediction is worth. @param {any} prediction */
export function validity(prediction) {
  return dotted([prediction.upper_bound && 'at most', prediction.model && 'modelled', prediction.other_operators_share_cores && 'cores are shared with other operators',
    prediction.without_roof > 0 && `${counted(prediction.without_roof, 'operator')} without a known roof`]) || 'replayed';
}

/** @param {Head} head @returns {{prediction: any, chosen: Chosen, recorded: number, pid: number, steps: number}[]} */
export function predictionsOf(head) {
  const { processes } = head.whatif ?? { processes: [] }, of = head.path?.document?.processes ?? []; // in the same order
  return processes.flatMap((/** @type {any} */ process, /** @type {number} */ i) => (process.predictions ?? []).map((/** @type {any} */ prediction) => ({
    prediction, recorded: process.recorded_mean_ns, pid: of[i]?.pid ?? 0, steps: process.steps, chosen: { words: changeWords(prediction.changes), mean: prediction.mean_ns, kinds: changedKinds(head, prediction.changes), process: Math.max(0, head.processes.findIndex(each => each.pid === of[i]?.pid)), place: 0 } })))
    .map((/** @type {any} */ row, /** @type {number} */ place) => Object.assign(row, { chosen: { ...row.chosen, place } }));
}

/** @param {Head} head @param {Chosen | null} on @param {(chosen: Chosen | null) => void} choose @returns {Panel} */
export function whatifPanel(head, on, choose) {
  const all = predictionsOf(head), most = largestOf(all, row => Math.abs(row.prediction.gain_ns)), isOfSteps = head.steps.length > 0;
  if (!all.length) return { element: empty(head.whatifRefused ? name(head.whatifRefused) : 'Nothing was predicted.') };
  const list = table('What-if', [
    { title: 'If', value: row => row.chosen.words },
    { title: isOfSteps ? 'A step' : 'Gain', kind: 'text', value: row => row.prediction.gain_ns, show: row => gainRange(row.prediction) }, barColumn(row => [['good', Math.max(0, row.prediction.gain_ns)]], most),
    timeColumn('Then takes', row => row.prediction.mean_ns), shareColumn(isOfSteps ? 'Of a step' : 'Of the run', row => row.prediction.gain_ns / row.recorded, true),
    { title: 'Worth', kind: 'text', value: row => validity(row.prediction), minor: true }, ...processColumn(head, row => row.pid),
    { title: '', value: row => row.chosen.words, show: ({ chosen }) => {
      const isOn = on !== null && on.words === chosen.words && on.process === chosen.process;
      return button(isOn ? 'Hide' : 'Show', () => choose(isOn ? null : chosen), { class: 'small', 'aria-pressed': String(isOn), 'aria-label': `${isOn ? 'Hide' : 'Show'} ${chosen.words}` });
    } },
  ], all, { text: row => row.chosen.words });
  const recorded = new Map(all.filter(row => row.steps > 0).map(row => [row.pid, row.recorded]));
  const takes = [...recorded].map(([pid, ns]) => `${time(ns)}${recorded.size > 1 ? ` in ${nameOfPid(head, pid)}` : ''}`).join(', ');
  return { element: h('div', { class: 'panel' }, h('p', { class: 'note' }, takes && `${isOfSteps ? 'A step' : 'The run'} takes ${takes} as recorded. `, `Each row is one change alone${isOfSteps ? '; the range is of the steps\u2019 own spread' : ''}.`), list.element), filter: list.filter,
    csv: () => [['if', 'gain (ns)', 'low (ns)', 'high (ns)', 'mean (ns)', 'worth'], ...all.map(({ prediction, chosen }) => [chosen.words, prediction.gain_ns, prediction.gain_low_ns, prediction.gain_high_ns, prediction.mean_ns, validity(prediction)])] };
}
