// SPDX-License-Identifier: Apache-2.0
// The first screen: what takes the step, which step was slowest, can the profile be trusted, what to try first. All figures
// of the three cards are of one window, the verdict's, and the cards say which.
import { button, h, meter, terms } from './dom.js';
import { FORM } from './head.js';
import { processName } from './layout.js';
import { PARTS } from './palette.js';
import { medianOf } from './strip.js';
import { change, count, counted, name, percent, time } from './text.js';
/** @import { Head, Step } from './head.js' */
/** @import { Child } from './dom.js' */

/** @typedef {{name: string, share: number, each: number, parts: [string, number][]}} LayerShare each: ns a step */
/** @typedef {{head: Head, goStep: (step: Step) => void, choose: (tab: string) => void}} CardsOptions */

const ROWS = 4, FAR = 1.5, NEAR = 1.1;

/** The shortest end of each scope that no other has: "conv1" of "lenet:conv1". @param {string[]} scopes */
export function shortScopes(scopes) {
  const parts = scopes.map(scope => scope.replace(/:$/, '').split(':'));
  /** @type {Map<string, number>} */
  const ends = new Map();
  const end = (/** @type {string[]} */ of, /** @type {number} */ n) => of.slice(-n).join(':');
  for (const of of parts) for (let n = 1; n <= of.length; n++) ends.set(end(of, n), (ends.get(end(of, n)) ?? 0) + 1);
  return parts.map(of => {
    let n = 1;
    while (n < of.length && (ends.get(end(of, n)) ?? 0) > 1) n++;
    return end(of, n) ? name(end(of, n)) : '<no scope>';
  });
}

/** Layers of the verdict's window with their share of it: of the path where it is known, else of the wall time.
 * @param {Head} head @returns {LayerShare[]} */
export function layerShares({ report }) {
  const steps = Math.max(1, report.chosen_steps || 1), wall = Math.max(1, report.wall_ns || 1);
  const layers = [...report.layers ?? []], names = shortScopes(layers.map(layer => String(layer.scope)));
  return layers.map((layer, i) => ({ name: names[i], each: layer.sum_ns / steps, share: layer.sum_ns / wall,
    parts: partsOf(layer).map(([token, ns]) => /** @type {[string, number]} */ ([token, ns / steps])) }))
    .sort((a, b) => b.each - a.each);
}

/** Where no scopes were recorded: operators, and where there are none, calls by their own time. @param {Head} head @returns {LayerShare[]} */
export function namedShares({ report, kinds }) {
  const steps = Math.max(1, report.chosen_steps || 1), wall = Math.max(1, report.wall_ns || 1), hasOperators = (report.operators ?? []).length > 0;
  const frames = new Set(kinds.filter(({ form }) => form === FORM.asynchronous || form === FORM.step).map(kind => kind.name)); // they are no work
  /** @type {any[]} */
  const rows = hasOperators ? report.operators : (report.spans ?? []).filter((/** @type {any} */ row) => !frames.has(row.name));
  return rows.map(row => ({ name: name(row.name), each: row.self_ns / steps, share: row.self_ns / wall,
    parts: /** @type {[string, number][]} */ ([[hasOperators && PARTS.includes(row.phase) ? row.phase : hasOperators ? 'other' : 'call', row.self_ns / steps]]) }))
    .filter(row => row.each > 0).sort((a, b) => b.each - a.each);
}

/** What makes a layer's sum. Exchanges that run beside its computing are no part of it.
 * @param {any} layer @returns {[string, number][]} */
export function partsOf(layer) {
  const computing = layer.forward_ns + layer.backward_ns + layer.update_ns + layer.no_phase_ns;
  return [['forward', layer.forward_ns], ['backward', layer.backward_ns], ['update', layer.update_ns],
    ['communication', Math.max(0, layer.sum_ns - computing)], ['other', layer.no_phase_ns]];
}

/** Phases and idle time of the chosen steps, as shares of the longer of their time and their work.
 * @param {Step[]} steps @returns {{parts: [string, number][], work: number, wall: number}} */
export function phaseShares(steps) {
  const sums = PARTS.map((_, k) => steps.reduce((sum, step) => sum + step.parts[k], 0));
  const wall = steps.reduce((sum, step) => sum + step.end - step.begin, 0), work = sums.reduce((a, b) => a + b, 0);
  const whole = Math.max(wall, work, 1);
  const parts = PARTS.map((part, k) => /** @type {[string, number]} */ ([part, sums[k] / whole]));
  return { parts: [.../** @type {[string, number][]} */ (parts), ['idle', Math.max(0, 1 - work / whole)]], work, wall };
}

/** Why a step is slow, from what is known of it beside the median one. @param {Step} step @param {Step[]} steps all of its process */
export function whyStep(step, steps) {
  const chosen = steps.filter(each => each.isChosen && each !== step), others = chosen.length ? chosen : steps.filter(each => each !== step);
  if (!others.length) return 'the only one';
  const typical = (/** @type {(of: Step) => number} */ of) => {
    const sorted = Float64Array.from(others, of).sort();
    return sorted[sorted.length >> 1];
  };
  const length = step.end - step.begin, usual = typical(each => each.end - each.begin);
  if (length < usual * NEAR) return 'no step stands out';
  if (step.isFirstRun || (step === steps[0] && length > usual * FAR)) return 'the first one, with the costs of a first run';
  const idle = (/** @type {Step} */ of) => Math.max(0, of.end - of.begin - of.parts.reduce((a, b) => a + b, 0));
  const more = PARTS.map((part, k) => ({ word: `${part} took`, ns: step.parts[k] - typical(each => each.parts[k]) }));
  more.push({ word: 'no operator ran for', ns: idle(step) - typical(idle) });
  if (step.runDelay > 0) more.push({ word: 'other programs had the cores for', ns: step.runDelay - typical(each => Math.max(0, each.runDelay)) });
  const most = more.reduce((a, b) => (b.ns > a.ns ? b : a));
  const words = most.ns > 0 ? `${most.word} ${time(most.ns, 3)} more than in a typical step` : '';
  return [words, ...step.marks.map(mark => `it has ${mark}`)].filter(Boolean).join('; ') || 'nothing in it stands out';
}

/** @param {Step[]} steps @returns {Step | null} */
export function slowestOf(steps) {
  return steps.reduce((slowest, step) => (!slowest || step.end - step.begin > slowest.end - slowest.begin ? step : slowest), /** @type {Step | null} */ (null));
}

/** @param {string} token @param {string} text */
function key(token, text) {
  return h('span', { class: 'item' }, h('i', { class: 'key', style: { background: `var(--${token === 'idle' ? 'line' : token})` } }), text);
}

/** @param {string} title @param {Child[]} children */
function card(title, ...children) {
  return h('section', { class: 'card', 'aria-label': title }, h('h2', {}, title), ...children);
}

/** @param {CardsOptions} options */
export function cards(options) {
  return [whatCard(options), stepsCard(options), trustCard(options.head)];
}

/** @param {CardsOptions} options */
function whatCard({ head }) {
  const { steps } = head; // of all processes, as the report's figures are
  const scopes = layerShares(head), layers = (scopes.length ? scopes : namedShares(head)).slice(0, ROWS), chosen = steps.filter(step => step.isChosen);
  const { parts, work, wall } = phaseShares(chosen.length ? chosen : steps), shown = parts.filter(([, share]) => share >= 0.005);
  const words = parts.map(([part, share]) => `${part} ${percent(share)}`).join(', ');
  const top = layers[0]?.each ?? 0, hasSteps = steps.length > 0, hasWork = hasSteps && work > 0;
  return card(hasSteps ? 'What takes the step' : 'What takes the run',
    h('p', { class: 'big' }, layers.length ? layers.slice(0, 3).map(layer => `${layer.name} ${(100 * layer.share).toFixed(0)} %`).join(', ')
      : 'No operators and no calls were recorded'),
    hasWork && h('div', { class: 'stack', role: 'img', 'aria-label': words }, shown.map(([part, share]) => h('span', {
      title: `${part} ${percent(share)}`, style: { 'flex-grow': String(share), background: `var(--${part === 'idle' ? 'line' : part})` } }))),
    hasWork && h('p', { class: 'legend' }, shown.map(([part, share]) => key(part, `${part} ${(100 * share).toFixed(0)} %`))),
    h('div', { class: 'rows' }, layers.flatMap((layer, i) => [h('span', { class: ['name', i > 1 && 'minor'].filter(Boolean).join(' ') }, layer.name),
      h('span', { class: i > 1 ? 'minor' : undefined }, meter(layer.parts, top)), h('b', { class: i > 1 ? 'minor' : undefined }, percent(layer.share)),
      h('span', { class: i > 1 ? 'minor' : undefined }, time(layer.each, 3))])),
    scopes.length || !layers.length ? null : h('p', { class: 'fine' }, head.report.operators?.length ? 'No scopes were recorded: these are operators.' : 'No operators were recorded: these are calls, by their own time.'),
    h('p', { class: 'fine minor' }, hasSteps ? windowWords(head, chosen.length || steps.length, steps.length, work, wall) : 'Shares are of the whole run.'));
}

/** @param {Head} head @param {number} chosen @param {number} all @param {number} work @param {number} wall */
function windowWords(head, chosen, all, work, wall) {
  const of = chosen === all ? `all ${count(all)} steps` : `${count(chosen)} of ${count(all)} steps`;
  const side = work > wall * 1.005 ? `; operators ran side by side, ${(work / wall).toFixed(1)} at a time` : '';
  return `Shares and times a step are of ${of}${head.processes.length > 1 ? ` of ${count(head.processes.length)} processes` : ''}${side}.`;
}

/** What to try first: the first cause that is told, else the largest single gain. @param {Head} head @param {(tab: string) => void} choose */
function tryFirst(head, choose) {
  const told = head.told[0], best = bestPrediction(head);
  const words = told ? name(told.title) : best ? `${best.words}: ${change(-best.gain)} a step` : head.explainRefused ? name(head.explainRefused) : 'nothing stands out';
  return h('p', { class: 'try' }, h('b', {}, 'Try first: '), h('span', { class: 'name' }, words), ' ',
    told || best ? button(told ? 'Explain' : 'What-if', () => choose(told ? 'Explain' : 'What-if'), { class: 'small' }) : null);
}

/** @param {Head} head @returns {{words: string, gain: number} | null} */
export function bestPrediction(head) {
  /** @type {{words: string, gain: number} | null} */
  let best = null;
  for (const process of head.whatif?.processes ?? []) {
    for (const prediction of process.predictions ?? []) {
      if (typeof prediction.gain_ns === 'number' && (!best || prediction.gain_ns > best.gain)) best = { words: changeWords(prediction.changes), gain: prediction.gain_ns };
    }
  }
  return best;
}

/** A change in words: "conv1 twice as fast". @param {any[]} changes */
export function changeWords(changes) {
  return (changes ?? []).map(each => {
    const of = each.of ? name(each.of) : '';
    const factor = typeof each.factor !== 'number' ? '' : each.factor === 0.5 ? 'twice as fast' : each.factor === 0 ? 'without its time' : `at ${percent(each.factor)} of its time`;
    const known = /** @type {Record<string, string>} */ ({ prefetch: 'input fetched ahead', bulk: 'operators in bulks', 'no-wait': 'no wait at', workers: 'other number of workers' });
    return [of && factor ? of : known[each.change] ?? name(each.change), of && !factor ? of : '', factor].filter(Boolean).join(' ');
  }).join(', ');
}

/** @param {CardsOptions} options */
function stepsCard({ head, goStep, choose }) {
  const slowest = slowestOf(head.steps);
  if (!slowest) {
    return card('Steps', h('p', { class: 'big' }, 'No steps were marked'), h('p', { class: 'fine' }, 'The program can call profiler.step() once a step: then the page says which was slow, and why.'), tryFirst(head, choose));
  }
  const steps = head.steps.filter(step => step.process === slowest.process), chosen = steps.filter(step => step.isChosen), of = chosen.length ? chosen : steps;
  const process = head.explain?.processes?.find((/** @type {any} */ each) => each.pid === head.processes[slowest.process]?.pid);
  const median = process?.median_ns ?? medianOf(of), length = slowest.end - slowest.begin;
  const many = head.processes.length > 1;
  return card('Steps', h('p', { class: 'big' }, `Slowest: step ${slowest.number}, ${time(length, 3)}`),
    terms([['that is', `${(length / Math.max(1, median)).toFixed(1)} \u00d7 the median: ${whyStep(slowest, steps)}`],
      ['median', `${time(median)} of ${counted(of.length, 'step')}`],
      process?.p90_ns ? ['90 % within', time(process.p90_ns), true] : null,
      process?.noise_ns ? ['noise', `${time(process.noise_ns, 3)}${process.is_noisy ? ': the machine was busy' : ''}`, true] : null,
      many && ['process', processName(head, slowest.process)]]),
    many && processRows(head),
    button(length > FAR * median ? 'Show the slowest' : 'Show it', () => goStep(slowest)), tryFirst(head, choose));
}

/** One row a process: its median step. @param {Head} head */
function processRows(head) {
  const rows = head.processes.map((_, i) => ({ i, median: medianOf(head.steps.filter(step => step.process === i && step.isChosen)) })).filter(row => row.median > 0);
  const most = rows.reduce((top, row) => Math.max(top, row.median), 1);
  return h('div', { class: 'rows three' }, rows.slice(0, ROWS).flatMap(row => [h('span', { class: 'name' }, processName(head, row.i)), meter([['accent', row.median]], most), h('span', {}, time(row.median, 3))]));
}

/** @param {Head} head */
function trustCard(head) {
  const { state, word, rows } = head.trust;
  return card('Can it be trusted?', h('p', { class: `big state ${state}` }, word), terms(rows.map(([label, value], i) => [name(label), name(value), i > 1])));
}
