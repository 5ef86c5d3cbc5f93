// SPDX-License-Identifier: Apache-2.0
// Causes in explain's order and words: evidence, gain with what it is worth, the command to type, and Show, which sets
// view, search and overlay to where the cause is seen.
import { button, empty, h, terms } from './dom.js';
import { change, counted, dotted, name, time } from './text.js';
import { csvOfAll, processColumn, table } from './table.js';
import { ranksPart } from './ranks_panel.js';
/** @import { Head, Told } from './head.js' */
/** @import { Panel } from './tabs.js' */

/** @typedef {{search: string, place: number, process: number, overlay: 'path' | 'whatif' | '', isFirstRun: boolean}} Sight place: of the step in head.steps, -1: a
 * typical one of the process; process: its place in head.processes, -1: of none */

/** The cause of a told row in explain's own document. @param {Head} head @param {Told} told @returns {any} */
export function causeOf(head, told) {
  const group = told.process < 0 ? head.explain?.between_processes : head.explain?.processes?.[told.process];
  return group?.causes?.[told.cause] ?? null;
}

/** The place of a process of explain's document in the head. @param {Head} head @param {number} pid */
function placeOfPid({ processes }, pid) {
  return processes.findIndex(each => each.pid === pid);
}

/** Where a cause is seen: the name of its first place, its step, its process. @param {any} cause @param {number} place of its step
 * @param {number} process @returns {Sight} */
export function sightOf(cause, place, process) {
  const parts = String(cause?.where?.[0]?.place ?? '').split('/');
  return { search: parts[parts.length - 1], place, process, overlay: cause?.gain_from === 'path' || cause?.gain_from === 'replay' ? 'path' : '',
    isFirstRun: cause?.cause === 'first-run cost' };
}

export const ONE_STEP = 'of one step nothing can be said of variation, and no cause is told';

/** Has explain looked at one step alone? @param {Head} head */
export function isOfOneStep({ explain }) {
  const processes = explain?.processes ?? [];
  return processes.some((/** @type {any} */ process) => process.has_steps) && processes.every((/** @type {any} */ process) => !process.has_steps || process.steps === 1);
}

/** @param {any} cause */
export function gainShort(cause) {
  return `${cause.is_upper_bound ? 'at most ' : ''}${time(cause.gain_ns, 3)} ${cause.isRun ? 'of the run' : 'a step'}`;
}

/** A gain with its range, in words. @param {any} cause */
export function gainWords(cause) {
  if (typeof cause?.gain_ns !== 'number') return 'its gain is not known';
  const range = typeof cause.gain_low_ns === 'number' && cause.gain_high_ns > cause.gain_low_ns ? ` (${time(cause.gain_low_ns, 3)} to ${time(cause.gain_high_ns, 3)})` : '';
  const from = /** @type {Record<string, string>} */ ({ replay: 'replayed', path: 'from the path', counted: 'counted' })[cause.gain_from];
  return `${gainShort(cause)}${range}${from ? `, ${from}` : ''}`;
}

/** @param {string} command */
function commandLine(command) {
  const copied = h('span', { class: 'note', role: 'status' });
  return h('span', { class: 'command' }, h('code', {}, name(command)), button('Copy', () => {
    copyText(command).then(done => {
      copied.textContent = done ? 'copied' : 'select the text to copy it';
    }, () => {});
  }, { class: 'small' }), copied);
}

/** The clipboard's own function is refused under file:// in some browsers: then a field does it. @param {string} text */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = h('textarea', { class: 'unseen', 'aria-hidden': 'true' });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
  }
}

/** @param {Head} head @param {(sight: Sight) => void} show @returns {Panel} */
export function explainPanel(head, show) {
  const { told } = head, processes = head.explain?.processes ?? [], noise = processes[0]?.noise_ns;
  const list = told.map((row, i) => {
    const cause = causeOf(head, row);
    return h('li', {}, h('h3', {}, h('span', { class: 'rank' }, `${i + 1}`), h('span', { class: 'name' }, name(row.title))),
      row.evidence.map(line => h('p', { class: 'evidence' }, name(line))), terms([['gain', gainWords(cause)]]),
      h('div', { class: 'command' }, button('Show', () => show(sightOf(cause, row.step, placeOfPid(head, processes[row.process]?.pid))), { 'aria-label': `Show cause ${i + 1} on the timeline` }), row.next && commandLine(row.next)));
  });
  const others = processes.flatMap((/** @type {any} */ process) => (process.causes ?? []).filter((/** @type {any} */ cause) => !cause.is_told)
    .map((/** @type {any} */ cause) => ({ ...cause, pid: process.pid, isRun: process.has_steps === false })));
  const ranks = ranksPart(head), tables = [processes.length ? { csv: () => causeRows(processes) } : null, ranks];
  return { element: h('div', { class: 'panel' }, ranks?.element, list.length ? h('ol', { class: 'causes' }, list)
    : empty(head.explainRefused ? name(head.explainRefused) : processes.length && !processes.some((/** @type {any} */ process) => process.has_steps)
      ? 'No steps were marked, and without them no cause is told: the program can call profiler.step() once a step, in C and C++ mxp_step().' 
      : isOfOneStep(head) ? `${ONE_STEP[0].toUpperCase()}${ONE_STEP.slice(1)}.` : `Nothing stands out: no cause known here surely costs more than the noise${noise ? `, ${time(noise, 3)} a step` : ''}.`),
  others.length ? lookedAt(head, others, show) : null), ...(tables.some(Boolean) ? { csv: () => csvOfAll(tables) } : {}) };
}

/** Causes that were looked at and not told. @param {Head} head @param {any[]} causes @param {(sight: Sight) => void} show */
function lookedAt(head, causes, show) {
  return h('div', {}, h('h3', {}, 'Looked at, and not told'), table('Causes that were not told', [
    { title: 'Cause', value: cause => cause.cause },
    { title: 'Gain', kind: 'text', unit: 'ns', value: cause => cause.gain_ns ?? null, show: cause => gainWords(cause) },
    { title: 'Where', kind: 'text', value: cause => dotted((cause.where ?? []).slice(0, 3).map((/** @type {any} */ place) => (place.place === '' ? 'between calls' : name(place.place)))), minor: true },
    { title: 'In', value: cause => cause.steps ?? null, show: cause => (cause.isRun ? 'the run' : counted(cause.steps ?? 0, 'step')), minor: true }, ...processColumn(head, (/** @type {any} */ cause) => cause.pid),
  ], causes, { text: cause => cause.cause, pick: cause => show(sightOf(cause, -1, placeOfPid(head, cause.pid))) }).element);
}

/** @param {any[]} processes @returns {unknown[][]} */
function causeRows(processes) {
  return [['cause', 'told', 'gain (ns)', 'low (ns)', 'high (ns)', 'from', 'next'], ...processes.flatMap(process => (process.causes ?? [])
    .map((/** @type {any} */ cause) => [cause.cause, cause.is_told ? 'yes' : 'no', cause.gain_ns ?? '', cause.gain_low_ns ?? '', cause.gain_high_ns ?? '', cause.gain_from, cause.next ?? '']))];
}

/** @param {any} prediction */
export function gainRange(prediction) {
  return h('span', {}, change(-prediction.gain_ns), h('span', { class: 'minor' }, ` (${change(-prediction.gain_high_ns)} to ${change(-prediction.gain_low_ns)})`));
}
