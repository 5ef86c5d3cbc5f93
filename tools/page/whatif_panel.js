// SPDX-License-Identifier: Apache-2.0
// What steps would take if one thing were different: the predictions of `mxprof whatif --json`. The chosen one draws its mean
// over the steps and leaves on the timeline only what it changes.
import { button, empty, h, meter } from './dom.js';
import { changeWords } from './cards.js';
import { gainRange } from './explain_panel.js';
import { largestOf } from './tables.js';
import { counted, dotted, name, percent, time } from './text.js';
/** @import { Head } from './head.js' */
/** @import { Panel } from './tabs.js' */

/** @typedef {{words: string, mean: number, kinds: Set<number>, process: number}} Chosen kinds: what the change is of */

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

/** @param {Head} head @returns {{prediction: any, chosen: Chosen, recorded: number}[]} */
export function predictionsOf(head) {
  return (head.whatif?.processes ?? []).flatMap((/** @type {any} */ process, /** @type {number} */ i) => (process.predictions ?? []).map((/** @type {any} */ prediction) => ({
    prediction, recorded: process.recorded_mean_ns, chosen: { words: changeWords(prediction.changes), mean: prediction.mean_ns, kinds: changedKinds(head, prediction.changes), process: i } })));
}

/** @param {Head} head @param {Chosen | null} on @param {(chosen: Chosen | null) => void} choose @returns {Panel} */
export function whatifPanel(head, on, choose) {
  const all = predictionsOf(head);
  if (!all.length) return { element: empty(head.whatifRefused ? name(head.whatifRefused) : 'Nothing was predicted.') };
  const most = largestOf(all, row => Math.abs(row.prediction.gain_ns));
  const rows = all.map(({ prediction, chosen, recorded }) => {
    const isOn = on !== null && on.words === chosen.words && on.process === chosen.process;
    return h('tr', {}, h('th', { scope: 'row' }, chosen.words), h('td', {}, gainRange(prediction)), h('td', { class: 'bar' }, meter([['good', Math.max(0, prediction.gain_ns)]], most)),
      h('td', {}, time(prediction.mean_ns)), h('td', { class: 'minor' }, percent(prediction.gain_ns / recorded)), h('td', { class: 'minor' }, validity(prediction)),
      h('td', {}, button(isOn ? 'Hide' : 'Show', () => choose(isOn ? null : chosen), { class: 'small', 'aria-pressed': String(isOn), 'aria-label': `${isOn ? 'Hide' : 'Show'} ${chosen.words}` })));
  });
  const titles = ['If', 'A step', '', 'Then takes', 'Of a step', 'Worth', ''];
  return { element: h('div', { class: 'panel' },
    h('p', { class: 'note' }, `A step takes ${time(all[0].recorded)} as recorded. Each row is one change alone; the range is of the steps\u2019 own spread.`),
    h('div', { class: 'scroll' }, h('table', { 'aria-label': 'What-if' }, h('thead', {}, h('tr', {}, titles.map((title, i) => h('th', { scope: 'col', class: i > 3 && i < 6 ? 'minor plain' : 'plain' }, title)))), h('tbody', {}, rows)))),
  csv: () => [['if', 'gain (ns)', 'low (ns)', 'high (ns)', 'mean (ns)', 'worth'], ...all.map(({ prediction, chosen }) => [chosen.words, prediction.gain_ns, prediction.gain_low_ns, prediction.gain_high_ns, prediction.mean_ns, validity(prediction)])] };
}

