// SPDX-License-Identifier: Apache-2.0
// The first screen: what takes the step, which step was slowest, can the profile be trusted, what to try first. All figures
// of the three cards are of one window, the verdict's, and the cards say which.
import { bars, button, h, sumOf, terms } from './dom.js';
import { causeOf, gainShort, isOfOneStep, ONE_STEP } from './explain_panel.js';
import { FORM } from './head.js';
import { ofMany } from './layout.js';
import { PARTS } from './palette.js';
import { ranksAdvice } from './ranks_panel.js';
import { chosenOf, lengthOf, medianOf, workOf } from './strip.js';
import { count, counted, name, percent, time } from './text.js';
/** @import { Head, Step } from './head.js' */
/** @import { Child } from './dom.js' */

/** @typedef {{name: string, share: number, each: number, parts: [string, number][]}} LayerShare each: ns a step */
/** @typedef {{head: Head, goStep: (step: Step) => void, choose: (tab: string) => void}} CardsOptions */

const ROWS = 6, SIDE_BY_SIDE = 1.005, FAR = 1.5, NEAR = 1.1, HEADLINE = 46; // characters

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

/** The rows of layers; none where no operator has a scope. @param {any} report @returns {any[]} */
export function layersOf({ layers }) {
  return (layers ?? []).some((/** @type {any} */ layer) => layer.scope) ? layers : [];
}

/** Do layers tell what takes most? Not where more time is in no scope than in any. @param {Head} head */
export function isOfLayers({ report }) {
  const most = layersOf(report).reduce((/** @type {any} */ a, /** @type {any} */ b) => (b.sum_ns > (a?.sum_ns ?? -1) ? b : a), null);
  return Boolean(most?.scope);
}

/** Layers of the verdict's window with their share of it.
 * @param {Head} head @returns {LayerShare[]} */
export function layerShares({ report }) {
  const steps = Math.max(1, report.chosen_steps || 1), wall = Math.max(1, report.wall_ns || 1);
  const layers = layersOf(report), names = shortScopes(layers.map(layer => String(layer.scope)));
  return layers.map((layer, i) => ({ name: names[i], each: layer.sum_ns / steps, share: layer.sum_ns / wall,
    parts: partsOf(layer).map(([token, ns]) => /** @type {[string, number]} */ ([token, ns / steps])) }))
    .sort((a, b) => b.each - a.each);
}

/** Where most has no scope: operators, and where there are none, calls by their own time. @param {Head} head @returns {LayerShare[]} */
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

/** Phases and idle time of the chosen steps, as shares of their time: together more than all of it where work ran side by side.
 * @param {Step[]} steps @returns {{parts: [string, number][], work: number, wall: number}} */
export function phaseShares(steps) {
  const wall = sumOf(steps, lengthOf), work = sumOf(steps, workOf), whole = Math.max(wall, 1);
  const parts = PARTS.map((part, k) => /** @type {[string, number]} */ ([part, sumOf(steps, step => step.parts[k]) / whole]));
  return { parts: [...parts, ['idle', Math.max(0, 1 - work / whole)]], work, wall };
}

/** Why a step is slow, from what is known of it beside the median one. @param {Step} step @param {Step[]} steps all of its process */
export function whyStep(step, steps) {
  const others = chosenOf(steps.filter(each => each !== step));
  if (!others.length) return 'the only one';
  const typical = (/** @type {(of: Step) => number} */ of) => Float64Array.from(others, of).sort()[others.length >> 1];
  const length = lengthOf(step), usual = typical(lengthOf);
  if (length < usual * NEAR) return 'no step stands out';
  if (step.isFirstRun || (step === steps[0] && length > usual * FAR)) return 'the first one, with the costs of a first run';
  const more = PARTS.map((part, k) => ({ word: `${part} took`, ns: step.parts[k] - typical(each => each.parts[k]) }));
  const idle = (/** @type {Step} */ of) => Math.max(0, lengthOf(of) - workOf(of));
  if (steps.some(workOf)) more.push({ word: 'no operator ran for', ns: idle(step) - typical(idle) });
  if (step.runDelay > 0) more.push({ word: 'its threads together waited for a core for', ns: step.runDelay - typical(each => Math.max(0, each.runDelay)) });
  const most = more.reduce((a, b) => (b.ns > a.ns ? b : a));
  const words = most.ns > 0 ? `${most.word} ${time(most.ns, 3)} more than in a typical step` : '';
  return [words, ...step.marks.map(mark => `it has ${mark}`)].filter(Boolean).join('; ') || 'nothing recorded in it stands out';
}

/** @param {Step[]} steps @returns {Step | null} */
export function slowestOf(steps) {
  return steps.reduce((slowest, step) => (!slowest || lengthOf(step) > lengthOf(slowest) ? step : slowest), /** @type {Step | null} */ (null));
}

/** @param {string} part */
function fillToken(part) {
  return `var(--${part === 'idle' ? 'line' : part})`;
}

/** @param {string} title @param {Child[]} children */
function card(title, ...children) {
  return h('section', { class: 'card', 'aria-label': title }, h('h2', {}, title), ...children);
}

/** @param {CardsOptions} options */
export function cards(options) {
  return [whatCard(options), stepsCard(options), trustCard(options.head)];
}

/** As many names with their shares as a line holds; exchanges that are waited for and idle time are among them. @param {LayerShare[]} layers
 * @param {[string, number][]} parts of the steps; none where nothing is known of them */
export function headline(layers, parts) {
  const besides = parts.filter(([part, share]) => (part === 'communication' || part === 'idle') && share > 0.005).map(([part, share]) => ({ name: part, share }));
  let words = '';
  for (const { name: word, share } of [...layers, ...besides].sort((a, b) => b.share - a.share).slice(0, 3)) {
    const next = `${words && `${words}, `}${word} ${(100 * share).toFixed(share > 0 && share < 0.01 ? 1 : 0)}\u00a0%`;
    if (words && next.length > HEADLINE) break;
    words = next;
  }
  return words || 'No operators and no calls were recorded';
}

/** @param {CardsOptions} options */
function whatCard({ head }) {
  const { steps } = head, isLayers = isOfLayers(head), all = isLayers ? layerShares(head) : namedShares(head), layers = all.slice(0, ROWS), chosen = chosenOf(steps);
  const whole = Math.max(1, head.report.wall_ns || 1), { parts, work, wall } = phaseShares(chosen), busy = work || (steps.length ? wall : whole) * sumOf(all, layer => layer.share), shown = parts.filter(([, share]) => share >= 0.005);
  const hasWork = steps.length > 0 && work > 0;
  return card(steps.length ? 'What takes the step' : 'What takes the run', h('p', { class: 'big' }, headline(layers, hasWork ? parts : [])),
    hasWork && h('div', { class: 'stack', role: 'img', 'aria-label': parts.map(([part, share]) => `${part} ${percent(share)}`).join(', ') }, shown.map(([part, share]) => h('span', {
      title: `${part} ${percent(share)}`, style: { 'flex-grow': String(share), background: fillToken(part) } }))),
    hasWork && h('p', { class: 'legend' }, shown.map(([part, share]) => h('span', { class: 'item' }, h('i', { class: 'key', style: { background: fillToken(part) } }), `${part} ${(100 * share).toFixed(0)} %`))),
    bars(layers.map((layer, i) => ({ name: layer.name, parts: layer.parts, figures: [percent(layer.share), time(layer.each, 3)], isMinor: i > 1 }))),
    h('p', { class: 'fine' }, isLayers || !layers.length ? '' : head.report.operators?.length ? `${layersOf(head.report).length ? 'Most has no scope' : 'No scopes were recorded'}: these are operators. ` : 'No operators were recorded: these are calls, by their own time. ',
      h('span', { class: 'minor' }, steps.length ? windowWords(head, chosen) : `Shares are of the whole run${head.report.processes?.length > 1 ? ` of each of ${count(head.report.processes.length)} processes` : ''}. `), sideBySide(busy / Math.max(1, steps.length ? wall : whole))));
}

/** @param {Head} head @param {Step[]} chosen */
function windowWords({ steps }, chosen) {
  const of = chosen.length === steps.length ? `all ${count(steps.length)} steps` : `${count(chosen.length)} of ${count(steps.length)} steps`, processes = new Set(chosen.map(step => step.process)).size;
  return `Shares and times a step are of ${of}${processes > 1 ? ` of ${count(processes)} processes` : ''}. `;
}

/** Why shares are more than all together. @param {number} atATime */
export function sideBySide(atATime) {
  return atATime > SIDE_BY_SIDE ? `Work ran side by side, ${atATime.toFixed(atATime > 1.05 ? 1 : 2)} at a time.` : '';
}

/** What to try first: what holds up a job as a whole, else the first cause that is told, else the largest single gain, else the largest there is.
 * @param {Head} head @param {(tab: string) => void} choose */
function tryFirst(head, choose) {
  const told = head.told[0], cause = told && causeOf(head, told), best = bestPrediction(head), isLayers = isOfLayers(head), [largest] = isLayers ? layerShares(head) : namedShares(head);
  const ofWorkers = ranksAdvice(head), tab = ofWorkers || told ? 'Explain' : best ? 'What-if' : !largest ? '' : isLayers ? 'Layers' : head.report.operators?.length ? 'Operators' : 'Calls';
  const nothing = !largest ? 'record operators and calls: profiler.set_config(profile_all=True)' : head.explainRefused ? name(head.explainRefused) : isOfOneStep(head) ? ONE_STEP : head.steps.length ? 'nothing stands out from the noise' : 'mark steps, without which no cause is told';
  const words = ofWorkers || (told ? `${name(told.title)}${cause?.gain_ns > 0 ? `: saves ${gainShort(cause)}` : ''}`
    : best ? `${best.words} would save ${time(best.gain, 3)} ${head.steps.length ? 'a step' : 'of the run'}; ${nothing}` : largest && head.steps.length ? `the largest, ${largest.name}, ${percent(largest.share)}; ${nothing}` : largest ? `${nothing}; the largest is ${largest.name}, ${percent(largest.share)}` : nothing);
  return h('p', { class: 'try' }, h('b', {}, 'Try first: '), h('span', { class: 'name' }, words), ' ', tab && button(tab, () => choose(tab), { class: 'small' }));
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
  const steps = head.steps.filter(step => step.process === slowest.process), of = chosenOf(steps), length = lengthOf(slowest), many = head.processes.length > 1;
  const process = head.explain?.processes?.find((/** @type {any} */ each) => each.pid === head.processes[slowest.process]?.pid);
  const median = process?.median_ns ?? medianOf(of);
  return card('Steps', h('p', { class: 'big' }, `Slowest: step ${slowest.number}, ${time(length, 3)} `, button(length > FAR * median ? 'Show the slowest' : 'Show it', () => goStep(slowest), { class: 'small' })),
    terms([['that is', `${(length / Math.max(1, median)).toFixed(1)} \u00d7 the median: ${whyStep(slowest, steps)}`],
      ['median', `${time(median)} of ${counted(of.length, 'step')}${many ? ` of ${ofMany(head, slowest.process)}` : ''}`],
      process?.p90_ns ? ['90 % within', time(process.p90_ns), true] : null,
      process?.noise_ns ? ['noise', noiseWords(process), !process.is_noisy] : null]),
    many && processRows(head), tryFirst(head, choose));
}

/** How exact the mean is, and whether the machine is why, as explain says it. @param {any} process of its JSON */
export function noiseWords({ noise_ns: noise, mean_ns: mean, is_noisy: isNoisy, is_busy: isBusy, run_delay_share: delay }) {
  const why = !isNoisy ? '' : isBusy ? 'the machine was busy, ' : 'the steps differ much from one another, ';
  return `${time(noise, 3)}, ${percent(noise / mean)} of a step; ${why}run delay ${typeof delay === 'number' ? `${percent(delay)} of the time` : 'not recorded'}`;
}

/** The median step of each process, the slowest first. @param {Head} head */
function processRows(head) {
  const rows = head.processes.map((_, i) => ({ i, median: medianOf(chosenOf(head.steps.filter(step => step.process === i))) })).filter(row => row.median > 0).sort((a, b) => b.median - a.median);
  return h('div', {}, bars(rows.slice(0, ROWS).map(({ i, median }) => ({ name: ofMany(head, i), parts: [['accent', median]], figures: [time(median, 3)] }))),
    rows.length > ROWS && h('p', { class: 'fine' }, `and ${count(rows.length - ROWS)} that are faster`));
}

/** @param {Head} head */
function trustCard(head) {
  const { state, word, rows } = head.trust;
  return card('Can it be trusted?', h('p', { class: `big state ${state}` }, word), terms(rows.map(([label, value]) => [name(label), name(value), ['machine', 'own cost'].includes(label)])));
}
