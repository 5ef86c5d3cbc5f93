// SPDX-License-Identifier: Apache-2.0
// The workers of a job beside each other: who keeps the others waiting, what its owners do, which keys are waited for. The
// numbers of `mxprof explain --json`'s between_ranks.
import { h } from './dom.js';
import { countColumn, csvOfAll, table, timeColumn } from './table.js';
import { name, size, time, wholeName } from './text.js';
/** @import { Head } from './head.js' */

/** What to try for a job as a whole, of explain's words: whom the others wait for, else what bounds it; "": neither. @param {Head} head */
export function ranksAdvice({ explain, workers }) {
  const ranks = explain?.between_ranks, slow = (ranks?.workers ?? []).find((/** @type {any} */ row) => row.rank === ranks.straggler);
  if (slow) return `${name(slow.worker)} keeps the others waiting: as fast as the second slowest it saves ${time(ranks.gain_ns, 3)} a step`;
  const what = /** @type {Record<string, string>} */ ({ network: 'Network-bound', owners: 'Owner-bound' })[ranks?.bound], advice = /\bTry ([^]+?)\.?\s*$/.exec(workers)?.[1];
  return what && advice ? `${what}: try ${name(advice.replace(/\n/g, ' '))}` : '';
}

/** @param {string} caption @param {string} key @param {any[]} rows @param {import('./table.js').Column<any>[]} columns */
function part(caption, key, rows, columns) {
  return rows.length ? table(caption, [{ title: caption, value: row => row[key], show: row => name(row[key]) }, ...columns], rows, { text: row => row[key] }) : null;
}

/** @param {Head} head @returns {import('./tabs.js').Panel | null} */
export function ranksPart({ explain, workers: words }) {
  const ranks = explain?.between_ranks;
  if (!ranks) return null;
  const bytes = { title: 'Bytes', minor: true, value: (/** @type {any} */ row) => row.bytes, show: (/** @type {any} */ row) => size(row.bytes) };
  const each = (/** @type {string} */ key, /** @type {string} */ of) => (/** @type {any} */ row) => (row[of] ? row[key] / row[of] : null);
  const workers = part('Worker', 'worker', ranks.workers ?? [], [timeColumn('A step', row => row.step_ns), timeColumn('Own', row => row.own_ns), timeColumn('Blocked', row => row.blocked_ns, true),
    timeColumn('Waited', row => row.waited_ns), timeColumn('Caused', row => row.caused_ns), countColumn('Last in', row => row.last_steps), bytes]);
  const owners = part('Owner', 'owner', ranks.owners ?? [], [timeColumn('Waited for workers', each('spread_ns', 'rounds')), timeColumn('Adding and answering', each('busy_ns', 'rounds')), countColumn('Rounds', row => row.rounds)]);
  const keys = part('Key', 'key', ranks.keys ?? [], [timeColumn('Waited each time', each('waited_ns', 'waits')), countColumn('Times', row => row.waits), bytes]);
  return { element: h('section', { class: 'panel', 'aria-label': 'Workers' }, h('h3', {}, 'Between the workers'), h('p', { class: 'evidence' }, wholeName(words.slice(0, 2000).replace(/\n/g, ' '))), workers?.element,
    h('div', { class: 'beside' }, owners?.element, keys?.element)), csv: () => csvOfAll([workers, owners, keys]) };
}
