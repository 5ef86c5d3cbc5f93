// SPDX-License-Identifier: Apache-2.0
// The selection in numbers: what touches the range, how much of it lies inside, totals by category and phase, memory at both
// ends, and the distribution of the focused name's durations. Says its own definition.
import { empty, h, terms } from './dom.js';
import { FORM } from './head.js';
import { PHASES, fillOf } from './palette.js';
import { bytesAt } from './curves.js';
import { barColumn, countColumn, table, timeColumn } from './table.js';
import { hasDropped } from './dropped.js';
import { placeOf } from './hover.js';
import { deviceName } from './layout.js';
import { largestOf } from './tables.js';
import { bucketBegin, bucketOf } from './selection.js';
import { between, counted, dotted, name, NO_VALUE, size, time, traceSeconds } from './text.js';
/** @import { Selected, Selection } from './selection.js' */
/** @import { MemoryCurve } from './curves.js' */
/** @import { Head } from './head.js' */
/** @import { Panel } from './tabs.js' */

const BARS = 40;

/** Sums of what lies inside, by a word of each kind, the largest first. @param {Head} head @param {Selected[]} rows
 * @param {(kind: Head['kinds'][number]) => string} wordOf @returns {[string, number][]} */
export function totalsBy(head, rows, wordOf) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const row of rows) {
    const word = wordOf(head.kinds[row.kind]);
    sums.set(word, (sums.get(word) ?? 0) + row.inside);
  }
  return [...sums].filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
}

/** @param {Head['kinds'][number]} kind */
function categoryOf(kind) {
  return fillOf(kind) === 'wait' ? 'waiting' : kind.form === FORM.engine ? 'engine' : kind.category || 'no category';
}

/** @param {[string, number][]} totals */
function totalsList(totals) {
  return totals.map(([word, ns]) => `${name(word)} ${time(ns, 3)}`).join(' \u00b7 ') || NO_VALUE;
}

/** Live bytes at both ends of the range. @param {Head} head @param {MemoryCurve[] | null} curves @param {Selection} selection */
function memoryRows(head, curves, { from, to }) {
  return (curves ?? []).map((curve, i) => {
    const before = bytesAt(curve, from), after = bytesAt(curve, to), by = after[1] - before[1], isExact = before[0] === before[1] && after[0] === after[1];
    return /** @type {[string, string]} */ ([deviceName(head, i),
      `${between(...before, size)} at its begin, ${between(...after, size)} at its end${isExact ? `: ${by < 0 ? '\u2212' : '+'}${size(Math.abs(by))}` : ''}`]);
  });
}

/** @param {Head} head @param {Selection | null} selection @param {MemoryCurve[] | null} curves @param {(text: string) => void} search @returns {Panel} */
export function selectionPanel(head, selection, curves, search) {
  if (!selection) return { element: empty('Drag over the timeline, or press M on a span: count, sum, mean and percentiles of what lies in the range appear here.') };
  const { rows, from, to } = selection, isCut = hasDropped(head, from, to);
  const approximate = rows.some(row => !row.isExact);
  const shown = (/** @type {(row: Selected) => number} */ of) => (/** @type {Selected} */ row) => `${row.isExact ? '' : '~'}${time(of(row))}`;
  const percentiles = /** @type {['p50' | 'p90' | 'p99', boolean][]} */ ([['p50', false], ['p90', true], ['p99', false]]).map(([key, minor]) => (
    { title: key, unit: 'ns', minor, value: (/** @type {Selected} */ row) => row[key], show: shown(row => row[key]) }));
  const whole = largestOf(rows, row => row.inside);
  const list = table('Selection', [
    { title: 'Name', value: row => head.kinds[row.kind].name, show: row => name(head.kinds[row.kind].name) }, timeColumn('Inside', row => row.inside),
    countColumn('Count', row => row.count), timeColumn('Mean', row => row.sum / row.count), timeColumn('Min', row => row.least, true), ...percentiles,
    timeColumn('Max', row => row.largest), { title: 'Where', kind: 'text', minor: true, value: row => placeOf(head.kinds[row.kind]) },
    barColumn(row => [[barToken(head.kinds[row.kind]), row.inside]], whole),
  ], rows, { text: row => dotted([head.kinds[row.kind].name, head.kinds[row.kind].scope]), pick: row => search(head.kinds[row.kind].name) });
  const summary = h('div', { class: 'summary' },
    h('p', {}, h('b', {}, time(to - from)), ` from ${time(from, 7)}: ${counted(selection.spans, 'span')} ${selection.spans === 1 ? 'touches' : 'touch'} it.`,
      ' \u201cInside\u201d is their time within it; mean, min, max and percentiles are of whole spans. Where spans nest, each of them counts.', approximate ? ' ~: to a bucket of at most 25 %.' : '',
      selection.unread ? ` ${counted(selection.unread, 'block')} of this page ${selection.unread === 1 ? 'is' : 'are'} damaged and not counted.` : '',
      isCut ? ' The shortest spans here are not in this page and not counted.' : ''),
    terms([['by category', totalsList(totalsBy(head, rows, categoryOf))],
      ['by phase', totalsList(totalsBy(head, rows.filter(row => head.kinds[row.kind].form === FORM.operator), kind => (kind.phase ? PHASES[kind.phase] : 'no phase')))],
      ...memoryRows(head, curves, selection), ['for commands', h('code', {}, `--from ${traceSeconds(head.begin, from)} --until ${traceSeconds(head.begin, to)}`)]]));
  return { element: h('div', { class: 'panel' }, summary, list.element), filter: list.filter, csv: list.csv };
}

/** @param {Head['kinds'][number]} kind */
function barToken(kind) {
  const fill = fillOf(kind);
  return fill === 'wait' || fill === 'task' ? 'soft' : fill;
}

/** How long the spans of a kind take, as bars of the buckets of their statistics. @param {Map<number, number>} buckets @param {number} own ns of the focused one */
export function histogram(buckets, own) {
  const keys = [...buckets.keys()].sort((a, b) => a - b).slice(-BARS), most = largestOf([...buckets.values()], n => n), mine = bucketOf(own);
  return h('div', { class: 'histogram', role: 'img', 'aria-label': keys.map(key => `from ${time(bucketBegin(key), 3)}: ${buckets.get(key)}`).join(', ') },
    keys.map(key => h('span', { class: key === mine ? 'own' : undefined, title: `${time(bucketBegin(key), 3)} to ${time(bucketBegin(key + 1), 3)}: ${counted(buckets.get(key) ?? 0, 'span')}`,
      style: { height: `${Math.max(2, 100 * (buckets.get(key) ?? 0) / most)}%` } })));
}

