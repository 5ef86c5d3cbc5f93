// SPDX-License-Identifier: Apache-2.0
// Two profiles beside each other: the numbers of `mxprof diff --json`, steps of both on one scale, and what the difference of
// a step is made of, as bars from a middle line.
import { empty, h, terms } from './dom.js';
import { groundOf, write } from './palette.js';
import { chosenOf, lengthOf, medianOf } from './strip.js';
import { shareColumn, table, timeColumn } from './table.js';
import { largestOf } from './tables.js';
import { change, counted, dotted, name, percent, time, wholeName } from './text.js';
/** @import { Head } from './head.js' */
/** @import { Sections } from './sections.js' */
/** @import { Panel } from './tabs.js' */

const PAIR = 92, WORDS = /** @type {Record<string, string>} */ ({ none: 'One run a side: no verdict', disturbed: 'No verdict: runs were disturbed', refused: 'These two cannot be compared', slower: 'Slower', faster: 'Faster', same: 'No difference that is sure' });

/** @param {Uint8Array} bytes @returns {any} */
export function differenceOf(bytes) {
  const json = JSON.parse(new TextDecoder().decode(bytes));
  if (json === null || typeof json !== 'object') throw new Error('is no object');
  return json;
}

/** @param {any} judged @param {string} what @returns {[string, string] | null} */
function judgedRow(judged, what) {
  if (!judged) return null;
  const range = typeof judged.change_low === 'number' ? ` (${signedPercent(judged.change_low)} to ${signedPercent(judged.change_high)}, p ${judged.p})` : '';
  return [what, `${time(judged.before_ns)} \u2192 ${time(judged.after_ns)}: ${signedPercent(judged.change)}${range}${judged.verdict === 'none' ? '' : `; ${(WORDS[judged.verdict] ?? name(judged.verdict)).toLowerCase()}`}`];
}

/** @param {number} share */
function signedPercent(share) {
  return `${share > 0 ? '+' : share < 0 ? '\u2212' : ''}${percent(Math.abs(share))}`;
}

/** @typedef {{lengths: number[], median: number}} Lengths of the steps, ns; median: of the whole ones without the slow first ones, as the verdicts have it */

/** Steps of both sides. @param {Head} head @param {any} difference @returns {{before: Lengths, after: Lengths}} */
export function stepsOfBoth(head, difference) {
  /** @type {any[]} */
  const before = (difference.other?.processes ?? []).flatMap((/** @type {any} */ process) => process.steps ?? []).filter((/** @type {any} */ row) => row[1] >= 0), plain = before.filter(row => row[2]);
  return { before: { lengths: before.map(row => Number(row[1])), median: medianNs((plain.length ? plain : before).map(row => Number(row[1]))) },
    after: { lengths: head.steps.map(lengthOf), median: medianNs(chosenOf(head.steps).map(lengthOf)) } };
}

/** @param {number[]} list */
function medianNs(list) {
  return list.length ? medianOf(/** @type {any[]} */ (list.map(ns => ({ begin: 0, end: ns })))) : NaN;
}

/** Two strips on one scale, with their median steps. @param {HTMLCanvasElement} canvas @param {{before: Lengths, after: Lengths}} both */
function drawStrips(canvas, both) {
  if (!canvas.isConnected) return;
  const { c, p, width } = groundOf(canvas, PAIR), sorted = Float64Array.from([...both.before.lengths, ...both.after.lengths]).sort();
  const top = Math.min(sorted[sorted.length - 1] ?? 1, 4 * (sorted[sorted.length >> 1] ?? 1)) || 1, left = 90;
  [both.before, both.after].forEach(({ lengths: list, median }, k) => {
    const ground = k * PAIR / 2 + PAIR / 2 - 2, each = (width - left) / Math.max(1, list.length);
    write(c, p.soft, k ? 'after' : 'before', 0, ground - 28);
    c.fillText(`median ${time(median, 3)}`, 0, ground - 14);
    c.fillStyle = k ? p.accent : p.call;
    list.forEach((ns, i) => {
      const height = Math.min(1, ns / top) * (PAIR / 2 - 6);
      c.fillRect(left + i * each, ground - height, Math.max(1, each - (each > 4 ? 1 : 0)), height);
    });
  });
}

/** A bar from a middle line: less at the left, more at the right. @param {number} ns @param {number} most */
function difference(ns, most) {
  const share = 50 * Math.min(1, Math.abs(ns) / most);
  return h('span', { class: 'middle', 'aria-hidden': 'true' }, h('span', { style: { width: `${share}%`, left: `${ns < 0 ? 50 - share : 50}%`, background: `var(--${ns < 0 ? 'good' : 'bad'})` } }));
}

/** @param {any} row */
function whereOf(row) {
  return dotted([row.kind !== 'run' && row.kind !== row.name && name(row.kind), [row.scope && String(row.scope).replace(/:$/, ''), row.name].filter(Boolean).map(name).join('/')]);
}

/** What explain says of a side. @param {string} side @param {unknown} plain */
function verdictOf(side, plain) {
  return plain ? h('section', { 'aria-label': `verdict ${side}` }, h('h3', {}, side), h('pre', { class: 'verdict' }, wholeName(String(plain).slice(0, 8000)).replace(/\\u000a/g, '\n'))) : null;
}

/** @param {Head} head @param {Sections} sections @param {(text: string) => void} search @returns {Promise<Panel>} */
export async function comparePanel(head, sections, search) {
  if (head.other === null) return { element: empty('This page is of one profile. Made with --with OTHER it compares the two.') };
  const whole = await sections.read('d', differenceOf), json = whole.diff ?? {}, rows = json.path ?? [], most = largestOf(rows, row => Math.abs(row.change_ns ?? 0));
  const both = stepsOfBoth(head, whole), canvas = h('canvas', { class: 'pair', role: 'img', 'aria-label': `Steps before (${both.before.lengths.length}, median ${time(both.before.median, 3)}) and after (${both.after.lengths.length}, median ${time(both.after.median, 3)}) on one scale` });
  const redraw = () => drawStrips(canvas, both);
  new ResizeObserver(redraw).observe(canvas);
  const list = table('Difference of a step', [
    { title: 'On the path', value: row => whereOf(row) }, timeColumn('Before', row => row.before_ns), timeColumn('After', row => row.after_ns),
    { title: 'Change', unit: 'ns', value: row => row.change_ns, show: row => change(row.change_ns) },
    { title: '', kind: /** @type {'bar'} */ ('bar'), value: row => Math.abs(row.change_ns), show: row => difference(row.change_ns, most) },
    ...(rows.some((/** @type {any} */ row) => typeof row.adjusted_p === 'number') ? [shareColumn('Sure to', (/** @type {any} */ row) => (typeof row.adjusted_p === 'number' ? 1 - row.adjusted_p : null), true)] : []),
    { title: 'Only', kind: 'text', minor: true, value: row => (row.before_ns === 0 ? 'after' : row.after_ns === 0 ? 'before' : '') },
  ], rows, { sort: 4, text: row => whereOf(row), pick: row => search(row.name ?? '') });
  const fact = json.differences ?? {};
  return { element: h('div', { class: 'panel' }, h('p', { class: 'big' }, WORDS[json.verdict] ?? name(json.verdict)),
    terms([['before', name(head.other)], ['after', name(head.file)], judgedRow(json.wall, 'a step'), judgedRow(json.cpu, 'CPU time'),
      fact.operators_a_step && ['operators a step', `${fact.operators_a_step.before.toFixed(1)} \u2192 ${fact.operators_a_step.after.toFixed(1)}`],
      fact.rows && ['operators', `${fact.rows.common} in both, ${fact.rows.before - fact.rows.common} gone, ${fact.rows.after - fact.rows.common} new`],
      (fact.settings ?? []).length > 0 && ['other settings', fact.settings.map((/** @type {any} */ row) => `${name(row.key)}: ${name(row.before)} \u2192 ${name(row.after)}`).join('; ')],
      json.disturbed_runs ? ['disturbed', `${counted(json.disturbed_runs, 'run')} by other programs`] : null]),
    both.before.lengths.length ? canvas : null, list.element, h('div', { class: 'beside' }, verdictOf('before', whole.other?.plain), verdictOf('after', head.plain))), filter: list.filter, csv: list.csv, redraw };
}
