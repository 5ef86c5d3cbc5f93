// SPDX-License-Identifier: Apache-2.0
// The critical path: what the window's time is made of, the rows of `mxprof path --json`, lower bounds; and the overlay.
import { bars, button, empty, h, terms } from './dom.js';
import { nameOfPid } from './layout.js';
import { countColumn, processColumn, shareColumn, table, timeColumn } from './table.js';
import { counted, dotted, name, percent, time } from './text.js';
/** @import { Head } from './head.js' */
/** @import { Panel } from './tabs.js' */

const PATH_TOKENS = /** @type {Record<string, string>} */ ({ run: 'path', communication: 'communication', unknown: 'bad' });

/** Categories of the path with a share, the largest first; unknown is always there. @param {Record<string, number>} kinds
 * @returns {[string, number][]} */
export function pathCategories(kinds) {
  return Object.entries(kinds ?? {}).filter(([kind, ns]) => ns > 0 || kind === 'unknown').sort((a, b) => b[1] - a[1]);
}

/** @param {Head} head @param {boolean} isOn @param {() => void} toggle @param {(text: string) => void} search @returns {Panel} */
export function pathPanel(head, isOn, toggle, search) {
  const processes = head.path?.document?.processes ?? [];
  if (!processes.length) return { element: empty(head.pathRefused ? name(head.pathRefused) : 'No dependencies in this trace: the path is not known.') };
  /** @type {any[]} */
  const rows = processes.flatMap((/** @type {any} */ process) => (process.rows ?? []).map((/** @type {any} */ row) => ({ ...row, pid: process.pid, steps: process.steps, whole: process.total_ns })));
  const groups = head.path?.steps ?? [], pieces = groups.length, steps = groups.filter(([step]) => step >= 0).length, isRun = processes.every((/** @type {any} */ process) => !process.steps);
  const list = table('Pieces of the path', [
    { title: 'What', value: row => row.what, show: row => name(row.what) }, { title: 'Where', kind: 'text', value: row => row.where, show: row => name(row.where) },
    timeColumn(isRun ? 'In all' : 'A step', row => (row.steps || isRun ? row.total_ns / Math.max(1, row.steps) : null)), shareColumn('Share', row => row.total_ns / Math.max(1, row.whole)), countColumn('Pieces', row => row.pieces, true),
    { title: 'Phase', kind: 'text', value: row => (row.phase === 'none' ? '' : row.phase || ''), minor: true }, ...processColumn(head, (/** @type {any} */ row) => row.pid),
  ], rows, { sort: 2, text: row => dotted([row.what, row.where, row.phase]), pick: row => search(String(row.where).split('/').pop() ?? '') });
  return { element: h('div', { class: 'panel' },
    processes.map((/** @type {any} */ process) => processPath(process, processes.length > 1 ? nameOfPid(head, process.pid) : '')),
    h('div', { class: 'bar' }, button(isOn ? 'Hide it on the timeline (P)' : 'Show it on the timeline (P)', toggle, { 'aria-pressed': String(isOn), disabled: !pieces }),
      h('span', { class: 'note' }, pieces ? `Pieces of ${steps ? counted(steps, 'step') : 'the whole run'} are in this page; hatched where nobody ran.` : 'No pieces are in this page.')),
    list.element), filter: list.filter, csv: list.csv };
}

/** @param {any} process @param {string} title */
function processPath(process, title) {
  const kinds = pathCategories(process.kinds_ns), steps = Math.max(1, process.steps), whole = Math.max(1, process.total_ns), { bounds_ns: bounds } = process;
  return h('section', {}, title && h('h3', {}, title), bars(kinds.map(([kind, ns]) => ({ name: name(kind), parts: [[PATH_TOKENS[kind] ?? 'call', ns]], figures: [percent(ns / whole), time(ns / steps, 3)] })), 'path'),
  bounds && terms([[process.steps ? 'a step' : 'in all', time(whole / steps)], ['not below', dotted([`${time(bounds.dependencies / steps, 3)} by dependencies`,
    `${time(bounds.work / steps / Math.max(1, bounds.workers), 3)} by work of ${counted(bounds.workers, 'worker')}`, `${time(bounds.program / steps, 3)} by the program\u2019s own thread`])],
  process.contradictions ? ['contradictions', String(process.contradictions)] : null]));
}
