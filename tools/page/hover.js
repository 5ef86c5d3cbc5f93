// SPDX-License-Identifier: Apache-2.0
// What is told of the thing below the pointer, and of the focused span to a screen reader: the same words.
import { byId, h } from './dom.js';
import { LANE, lowerBound } from './lod.js';
import { deviceName, ofMany, ROW } from './layout.js';
import { PHASES } from './palette.js';
import { nsOf, perPixel, THIN_PX } from './scene.js';
import { bytesAt, valueAt } from './curves.js';
import { isDropped, segmentsOf } from './dropped.js';
import { spanOf } from './neighbours.js';
import { operatorOf } from './operators.js';
import { amount, between, count, counted, dotted, name, percent, size, time } from './text.js';
/** @import { Timeline } from './timeline.js' */
/** @import { Span } from './neighbours.js' */
/** @import { Kind } from './head.js' */

/** Where a kind is: scope and phase, or its category. @param {Kind} kind */
export function placeOf({ category, scope, phase }) {
  return dotted([scope && name(scope.replace(/:$/, '')), phase ? PHASES[phase] : category && category !== 'operator' && name(category)]);
}

/** The step of a process at a moment. @param {Timeline['head']} head @param {number} process @param {number} ns */
export function stepAt({ steps }, process, ns) {
  return steps.find(each => each.process === process && each.begin <= ns && each.end > ns);
}

/** @param {Timeline} timeline @param {Span} span @returns {string[]} its name first */
export function wordsOf(timeline, span) {
  const { head } = timeline, kind = head.kinds[span.kind], operator = operatorOf(timeline.profile, span), step = stepAt(head, head.tracks[span.track].process, span.begin);
  return [name(kind.name), placeOf(kind), span.end > span.begin ? `${time(span.end - span.begin)} from ${time(span.begin, 7)}` : `at ${time(span.begin, 7)}`,
    operator ? `queued ${time(operator.push)}, ready for ${time(operator.ready)} of it` : '', step ? `step ${step.number}` : ''].filter(Boolean);
}

/** @param {Timeline} timeline @param {number} x @param {number} y @returns {string[] | null} */
export function describe(timeline, x, y) {
  const place = timeline.hit(x, y), { profile, head, view } = timeline;
  if (place) {
    const block = profile.get(place.block), span = block && spanOf(profile, block, place), [from, to] = [nsOf(view, x - THIN_PX), nsOf(view, x + THIN_PX)];
    const others = span && place.others !== undefined ? place.others + (sumsOf(timeline, span.track, span.depth, from, to)?.spans ?? 0) : 0;
    return span && [...wordsOf(timeline, span), others ? `${counted(others, 'further span')} within ${time(to - from, 3)}: zoom in to see each` : ''].filter(Boolean);
  }
  const at = y + timeline.top, row = timeline.layout.rows.find(each => at >= each.y && at < each.y + each.height);
  if (!row || x < view.left) return null;
  const ns = nsOf(view, x), gap = gapAt(timeline, row, ns);
  if (gap) return gap;
  if (row.what === 'memory') {
    const curve = timeline.curves.memory?.[row.track];
    return curve ? [deviceName(head, row.track), `${between(...bytesAt(curve, ns), size)} live at ${time(ns, 6)}`] : null;
  }
  if (row.what === 'counter') {
    const { name: counter, unit, width, process } = head.counters[row.track], curve = timeline.curves.counters[row.track], value = curve && valueAt(curve, width, ns);
    return value ? [dotted([name(counter), ofMany(head, process)]), `${between(...value, each => amount(each, unit))} at ${time(ns, 6)}`] : null;
  }
  return row.what === 'spans' ? describeBin(timeline, row.track, Math.floor((at - row.y) / ROW), nsOf(view, Math.floor(x))) : null;
}

/** What was lost or not recorded here. @param {Timeline} timeline @param {import('./layout.js').Row} row @param {number} ns */
function gapAt({ head }, row, ns) {
  const process = row.what === 'spans' ? head.tracks[row.track].process : -1;
  const isHere = (/** @type {{process: number, from: number, to: number}} */ gap) => ns >= gap.from && ns <= gap.to && (process < 0 || gap.process === process);
  const lost = head.losses.find(isHere), gap = lost ?? head.states.find(isHere);
  return gap ? [lost ? `${counted(lost.records, 'record')} lost: ${name(lost.reason)}` : name(head.states.find(isHere)?.what ?? ''), `from ${time(gap.from, 6)} to ${time(gap.to, 6)}`] : null;
}

/** The option that keeps what is here. @param {Timeline['head']} head @param {number} process @param {number} ns */
function stepOption(head, process, ns) {
  const step = stepAt(head, process, ns);
  return step ? ` --step ${step.number}` : ' --size none';
}

/** The bins of a lane that touch a range, as one; null: there are none. @param {import('./lod.js').Lane} lane @param {number} width ns @param {number} from @param {number} to */
function binsWithin(lane, width, from, to) {
  let spans = 0, busy = 0, most = -1, kind = 0;
  const first = Math.floor(from / width), last = Math.max(first, Math.ceil(to / width) - 1);
  for (let i = lowerBound(lane.index, first); i < lane.index.length && lane.index[i] <= last; i++) {
    spans += lane.spans[i];
    busy += lane.busy[i] / 255;
    if (lane.busy[i] > most) [most, kind] = [lane.busy[i], lane.kind[i]];
  }
  return spans ? { spans, kind, length: (last - first + 1) * width, busy: busy / (last - first + 1) } : null;
}

/** What the tile in view has of a range of a row. @param {Timeline} timeline @param {number} track @param {number} depth @param {number} from @param {number} to */
function sumsOf({ profile, head, view }, track, depth, from, to) {
  const [segment] = segmentsOf(head, from, from + 1, profile.level(perPixel(view)));
  const tile = segment.level < head.tiles.length ? profile.tile(segment.level) : null, lane = tile?.lanes.get(track * LANE + depth);
  return tile && lane ? binsWithin(lane, head.tiles[tile.level].width, from, to) : null;
}

/** @param {Timeline} timeline @param {number} track @param {number} depth @param {number} ns of the pixel's begin */
function describeBin(timeline, track, depth, ns) {
  const { profile, head, view } = timeline, bins = sumsOf(timeline, track, depth, ns, ns + perPixel(view));
  return bins && [`${counted(bins.spans, 'span')} in ${time(bins.length)}`,
    `busy ${percent(bins.busy)}, most of it ${name(head.kinds[bins.kind].name)}`, isDropped(head, ns, profile.level(perPixel(view)))
      ? `not in this page: ${name(head.command)}${stepOption(head, head.tracks[track].process, ns)}` : 'zoom in to see each'];
}

/** The box beside the pointer. @param {string[] | null} words @param {{clientX: number, clientY: number} | null} at */
export function showTip(words, at) {
  const tip = byId('tip');
  tip.hidden = !words;
  if (!words || !at) return;
  tip.replaceChildren(h('b', {}, words[0]), ...words.slice(1).map(line => h('div', {}, line)));
  tip.style.left = `${Math.max(4, Math.min(at.clientX + 12, window.innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(4, Math.min(at.clientY + 14, window.innerHeight - tip.offsetHeight - 8))}px`;
}

/** The flows of the focused span: "fwdbwd to aten::mm". @param {Timeline} timeline @returns {string[]} */
export function flowWords({ known, head }) {
  const words = (known?.flows.arrows ?? []).map(({ kind, from, to, isOut }) => {
    const [own, other] = isOut ? [from, to] : [to, from], track = head.tracks[other.track], process = track.process !== head.tracks[own.track].process && ofMany(head, track.process);
    return `${name(head.kinds[kind].name)} ${isOut ? 'to' : 'from'} ${other.kind < 0 ? name(track.name) : name(head.kinds[other.kind].name)}${process ? ` of ${process}` : ''}`;
  });
  return [...new Set(words)];
}

/** @param {Timeline} timeline */
export function sayFocus(timeline) {
  const { focus, known } = timeline;
  let words = '';
  if (focus) {
    words = [...wordsOf(timeline, focus), ...flowWords(timeline)].join(', ');
    if (known && (known.links.to.length || known.links.by)) {
      const released = known.links.to.length + known.links.more;
      words += `; released by ${known.links.by ? name(timeline.head.kinds[known.links.by.kind].name) : 'nothing in this page'}, releases ${count(released)}`;
    }
  }
  byId('say').textContent = words;
}
