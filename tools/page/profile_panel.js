// SPDX-License-Identifier: Apache-2.0
// The profile itself: what it cost, what it lost and when, what this page leaves out, and all of INFO.
import { h, terms } from './dom.js';
import { processName } from './layout.js';
import { countColumn, table, timeColumn } from './table.js';
import { count, counted, dotted, name, size, time, traceSeconds, wholeName } from './text.js';
/** @import { Head } from './head.js' */
/** @import { Sections } from './sections.js' */
/** @import { Panel } from './tabs.js' */

const LEAST_PAUSE_NS = 1000; // recording that ends does so a moment before the file

/** What is not in the page, in a sentence. @param {Head} head */
export function droppedWords({ dropped }) {
  if (dropped.word) return name(dropped.word);
  return dropped.isWhole ? 'every span, to the nanosecond' : `${count(dropped.keptSpans)} of ${count(dropped.spans)} spans; the others as sums`;
}

/** @param {Head} head @param {Sections} sections @param {{bytes: number, frameMs: number}} cost @returns {Panel} */
export function profilePanel(head, sections, cost) {
  const { quality } = head.report, { rest } = head.dropped, info = head.processes.flatMap((process, i) => process.info.map(([key, value]) => ({ i, key, value })));
  const many = head.processes.length > 1, cut = Object.entries(head.truncated).filter(([, n]) => Number(n) > 0).map(([what, n]) => `${count(Number(n))} ${what}`);
  const paused = head.states.filter(state => state.to - state.from >= LEAST_PAUSE_NS), said = new Set(head.trust.rows.map(([label]) => label));
  const losses = table('Losses', [
    { title: 'Thread', value: row => dotted([many && processName(head, row.process), row.thread >= 0 ? name(head.threads[row.thread]?.name ?? '') : 'all threads']) },
    countColumn('Records', row => row.records), timeColumn('From', row => row.from), timeColumn('To', row => row.to), { title: 'Why', value: row => row.reason, show: row => name(row.reason) },
  ], head.losses, { text: row => row.reason });
  const list = table('Info', [
    { title: 'Key', value: row => row.key, show: row => name(row.key) }, { title: 'Value', value: row => row.value, show: row => name(row.value), hint: row => wholeName(row.value.slice(0, 2000)) },
    ...(many ? [{ title: 'Process', value: (/** @type {typeof info[number]} */ row) => processName(head, row.i) }] : []),
  ], info, { sort: 0, up: true, text: row => `${row.key} ${row.value}` });
  return { element: h('div', { class: 'panel left' },
    terms([['complete', name(head.trust.word)], ...head.trust.rows.map(([label, value]) => /** @type {[string, string]} */ ([name(label), name(value)])),
      quality && !said.has('recorded') && ['records', `${count(quality.records ?? 0)}, ${count(quality.lost ?? 0)} lost`], quality?.own_cost_ns > 0 && !said.has('own cost') && ['own cost', time(quality.own_cost_ns)],
      head.begin !== 0n && ['times', `since ${traceSeconds(head.begin, 0)} s of the trace, which the commands count from 0`], !said.has('this page') && ['this page', droppedWords(head)], ['its size', `${size(cost.bytes)} of data in this page`], cost.frameMs > 0 && ['last frame', `${cost.frameMs.toFixed(1)} ms to draw`],
      cut.length > 0 && ['cut by the writer', cut.join(', ')], rest.quiet_threads > 0 && ['quiet threads', `${counted(rest.quiet_threads, 'thread')} are shown as one`],
      head.flowsLeftOut > 0 && ['arrows', `${counted(head.flowsLeftOut, 'end')} of arrows ${head.flowsLeftOut === 1 ? 'has' : 'have'} no room in this page`],
      rest.counter_samples > 0 && ['counters', `${counted(rest.counter_samples, 'sample')} of further counters ${rest.counter_samples === 1 ? 'is' : 'are'} not in this page`],
      rest.clock_spans > 0 && ['other clocks', `${counted(rest.clock_spans, 'span')} have no place in time`],
      paused.length > 0 && ['not recorded', paused.map(state => `${name(state.what)} from ${time(state.from)} to ${time(state.to)}`).slice(0, 20).join('; ')],
      sections.problems.size > 0 && ['damaged', [...sections.problems].slice(0, 20).map(([section, what]) => `section ${section} ${what}`).join('; ')]]),
    head.losses.length ? h('div', {}, h('h3', {}, 'Losses'), losses.element) : null, h('h3', {}, 'What the profile says of itself'), list.element),
  filter: list.filter, csv: list.csv };
}
