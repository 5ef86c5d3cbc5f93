// SPDX-License-Identifier: Apache-2.0
// A table that sorts by its headings, is filtered by a text and can be written as CSV. At most ROWS_SHOWN rows are built. One
// row is in the tab order; arrows go from one to the next.
import { h, meter, sumOf } from './dom.js';
import { nameOfPid } from './layout.js';
import { count, NO_VALUE, percent, time } from './text.js';
/** @import { Head } from './head.js' */

/**
 * @template R
 * @typedef {{title: string, value: (row: R) => string | number | null, show?: (row: R) => string | Node, unit?: string, minor?: boolean,
 *            hint?: (row: R) => string, kind?: 'bar' | 'text'}} Column
 * value: what is sorted by and exported, null: not there; unit: beside the title in CSV; minor: hidden on narrow pages; kind: a bar has no number, a text stands left
 */
/** @typedef {{element: HTMLElement, filter: (text: string) => void, csv: () => unknown[][]}} Table */

const ROWS_SHOWN = 500;

/** A column of times. @template R @param {string} title @param {(row: R) => number | null} value @param {boolean} [minor]
 * @returns {Column<R>} */
export function timeColumn(title, value, minor) {
  return { title, value, unit: 'ns', minor, show: row => {
    const ns = value(row);
    return ns === null || !Number.isFinite(ns) ? NO_VALUE : time(ns);
  } };
}

/** @template R @param {string} title @param {(row: R) => number | null} value @param {boolean} [minor] @returns {Column<R>} */
export function countColumn(title, value, minor) {
  return { title, value, minor, show: row => {
    const n = value(row);
    return n === null ? NO_VALUE : count(n);
  } };
}

/** Where there are several processes: which one. @template R @param {Head} head @param {(row: R) => number} pid @returns {Column<R>[]} */
export function processColumn(head, pid) {
  return head.processes.length > 1 ? [{ title: 'Process', kind: 'text', value: row => nameOfPid(head, pid(row)), minor: true }] : [];
}

/** @template R @param {string} title @param {(row: R) => number | null} value @param {boolean} [minor] @returns {Column<R>} */
export function shareColumn(title, value, minor) {
  return { title, value, minor, show: row => {
    const share = value(row);
    return share === null ? NO_VALUE : percent(share);
  } };
}

/** A bar of phases or of one colour; it has no number of its own. @template R @param {(row: R) => [string, number][]} parts
 * @param {number} whole @returns {Column<R>} */
export function barColumn(parts, whole) {
  return { title: '', kind: 'bar', value: row => sumOf(parts(row), part => part[1]), show: row => meter(parts(row), whole) };
}

/**
 * @template R
 * @param {string} caption @param {Column<R>[]} columns @param {R[]} rows
 * @param {{sort?: number, up?: boolean, text: (row: R) => string, pick?: (row: R) => void, note?: string}} options
 * @returns {Table}
 */
export function table(caption, columns, rows, options) {
  let by = options.sort ?? 1, down = !options.up, filter = '';
  const body = h('tbody'), note = h('p', { class: 'note', role: 'status' });
  const heads = columns.map((column, i) => h('th', { scope: 'col', class: classesOf(column) },
    column.title ? h('button', { type: 'button', on: { click: () => {
      down = by === i ? !down : i > 0;
      by = i;
      fill();
    } } }, column.title) : h('span', { class: 'unseen' }, 'picture')));

  const found = () => {
    const list = rows.filter(row => !filter || options.text(row).toLowerCase().includes(filter)), { value } = columns[by];
    return list.sort((a, b) => compare(value(a), value(b)) * (down ? -1 : 1));
  };
  const fill = () => {
    heads.forEach((head, i) => (i === by ? head.setAttribute('aria-sort', down ? 'descending' : 'ascending') : head.removeAttribute('aria-sort')));
    const list = found();
    body.replaceChildren(...list.slice(0, ROWS_SHOWN).map((row, i) => h('tr', options.pick ? { tabindex: i ? -1 : 0, on: {
      click: () => options.pick?.(row), keydown: event => rowKey(event, () => options.pick?.(row)) } } : {},
    columns.map((column, k) => cell(column, row, k === 0)))));
    note.textContent = list.length > ROWS_SHOWN ? `${ROWS_SHOWN} of ${count(list.length)} rows: the search field filters them.`
      : list.length ? options.note ?? '' : `Nothing here matches \u201c${filter}\u201d.`;
  };
  fill();
  return {
    element: h('div', {}, h('div', { class: 'scroll' }, h('table', { 'aria-label': caption }, h('thead', {}, h('tr', {}, heads)), body)), note),
    filter: text => {
      filter = text.toLowerCase();
      fill();
    },
    csv: () => {
      const kept = columns.filter(column => column.title);
      return [kept.map(({ title, unit }) => (unit ? `${title} (${unit})` : title)), ...found().map(row => kept.map(column => column.value(row) ?? ''))];
    },
  };
}

/** Several tables in one file, an empty line between them. @param {({csv?: () => unknown[][]} | null)[]} tables @returns {unknown[][]} */
export function csvOfAll(tables) {
  return tables.flatMap(each => (each?.csv ? [[[]], each.csv()] : [])).slice(1).flat();
}

/** @template R @param {Column<R>} column */
function classesOf(column) {
  return [column.minor && 'minor', column.kind].filter(Boolean).join(' ') || undefined;
}

/** @template R @param {Column<R>} column @param {R} row @param {boolean} isFirst */
function cell(column, row, isFirst) {
  const shown = column.show ? column.show(row) : String(column.value(row) ?? NO_VALUE);
  const classes = classesOf(column);
  return isFirst ? h('th', { scope: 'row', class: classes, title: column.hint?.(row) }, shown) : h('td', { class: classes, title: column.hint?.(row) }, shown);
}

/** Numbers by size, texts by letters, what is not there last. @param {string | number | null} a @param {string | number | null} b */
function compare(a, b) {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** @param {KeyboardEvent} event @param {() => void} pick */
function rowKey(event, pick) {
  const row = /** @type {HTMLElement} */ (event.currentTarget);
  const to = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[event.key];
  if (event.key === 'Enter') pick();
  else if (to instanceof HTMLElement) {
    row.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  } else return;
  event.preventDefault();
}
