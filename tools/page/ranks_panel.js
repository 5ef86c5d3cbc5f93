// SPDX-License-Identifier: Apache-2.0
// The workers of a job beside each other: who keeps the others waiting, what its owners do, which keys are waited for. The
// numbers of `mxprof explain --json`'s between_ranks.
import { h } from './dom.js';
import { countColumn, csvOfAll, table, timeColumn } from './table.js';
import { counted, name, percent, size, time } from './text.js';
/** @import { Head } from './head.js' */

/** Who is waited for, in a sentence or two. @param {any} ranks */
export function ranksWords(ranks) {
  const slow = (ranks.workers ?? []).find((/** @type {any} */ row) => row.rank === ranks.straggler);
  if (!slow) return `No worker keeps the others waiting more than chance does. Their spread explains ${time(ranks.noise_ns, 3)} a step.`;
  const longer = ranks.longer && ranks.longer_ns > 0 ? ` Its ${name(ranks.longer)} takes ${time(ranks.longer_ns, 3)} a step longer than the others\u2019.` : '';
  return `${name(slow.worker)} was last in ${percent(slow.last_steps / Math.max(1, ranks.steps))} of ${counted(ranks.steps, 'step')}: the others waited ${time(ranks.cost_ns, 3)} of a ${time(ranks.step_ns, 3)} step for it.`
    + `${longer} Equal to the second slowest it would gain ${time(ranks.gain_ns, 3)} a step (${time(ranks.gain_low_ns, 3)} to ${time(ranks.gain_high_ns, 3)}).`;
}

/** @param {string} caption @param {string} key @param {any[]} rows @param {import('./table.js').Column<any>[]} columns */
function part(caption, key, rows, columns) {
  return rows.length ? table(caption, [{ title: caption, value: row => row[key], show: row => name(row[key]) }, ...columns], rows, { text: row => row[key] }) : null;
}

/** @param {Head} head @returns {import('./tabs.js').Panel | null} */
export function ranksPart({ explain }) {
  const ranks = explain?.between_ranks;
  if (!ranks) return null;
  const bytes = { title: 'Bytes', minor: true, value: (/** @type {any} */ row) => row.bytes, show: (/** @type {any} */ row) => size(row.bytes) };
  const each = (/** @type {string} */ key, /** @type {string} */ of) => (/** @type {any} */ row) => (row[of] ? row[key] / row[of] : null);
  const workers = part('Worker', 'worker', ranks.workers ?? [], [timeColumn('A step', row => row.step_ns), timeColumn('Own', row => row.own_ns), timeColumn('Blocked', row => row.blocked_ns, true),
    timeColumn('Waited', row => row.waited_ns), timeColumn('Caused', row => row.caused_ns), countColumn('Last in', row => row.last_steps), bytes]);
  const owners = part('Owner', 'owner', ranks.owners ?? [], [timeColumn('Waited for workers', each('spread_ns', 'rounds')), timeColumn('Adding and answering', each('busy_ns', 'rounds')), countColumn('Rounds', row => row.rounds)]);
  const keys = part('Key', 'key', ranks.keys ?? [], [timeColumn('Waited each time', each('waited_ns', 'waits')), countColumn('Times', row => row.waits), bytes]);
  return { element: h('section', { class: 'panel', 'aria-label': 'Workers' }, h('h3', {}, 'Between the workers'), h('p', { class: 'evidence' }, ranksWords(ranks)), workers?.element,
    h('div', { class: 'beside' }, owners?.element, keys?.element)), csv: () => csvOfAll([workers, owners, keys]) };
}
