// SPDX-License-Identifier: Apache-2.0
// The steps in order: a bar a step, its height the time, its colours the phases, idle pale. Steps above four times the
// median are cut with a gap and their time above. More steps than pixels: each pixel shows the slowest of its own.
import { byId, h, sumOf } from './dom.js';
import { showTip } from './hover.js';
import { fill, groundOf, PARTS, write } from './palette.js';
import { time } from './text.js';
/** @import { Head, Step } from './head.js' */
/** @import { Palette } from './palette.js' */

/** @typedef {{from: number, to: number, line: {ns: number, word: string, gains: Map<Step, number> | null} | null}} Marks what the timeline shows; what-if's
 * mean, and what each step gains by it */
/** @typedef {{x: number, width: number, step: number, first: number, end: number}} Bar step: the slowest of those from `first` to before `end` */

const HEIGHT = 76, TOP = 14, CUT = 4, HEADROOM = 1.25, LABELS = 2, LABELS_TRIED = 200, LABEL_GAP = 8;

/** @param {Step} step */
export function lengthOf({ begin, end }) {
  return end - begin;
}

/** Time in operators of a step. @param {Step} step */
export function workOf({ parts }) {
  return sumOf(parts, ns => ns);
}

/** Those of the verdict's window, or all. @param {Step[]} steps */
export function chosenOf(steps) {
  const chosen = steps.filter(step => step.isChosen);
  return chosen.length ? chosen : steps;
}

/** The median of lengths; 0 where there are none. @param {Step[]} steps */
export function medianOf(steps) {
  if (!steps.length) return 0;
  const sorted = Float64Array.from(steps, lengthOf).sort(), middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** How high the strip is: as the longest step that is not cut, and a little more where one is. @param {Step[]} steps @param {number} cut */
function topOf(steps, cut) {
  let top = 1, longest = 1;
  for (const step of steps) {
    const length = lengthOf(step);
    longest = Math.max(longest, length);
    if (length <= cut) top = Math.max(top, length);
  }
  return longest > top ? Math.min(longest, Math.max(top * HEADROOM, cut / 2)) : top;
}

/** How many of the first it holds for, of what stands in order. @template T @param {T[]} list @param {(each: T) => boolean} holds */
function leading(list, holds) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(list[middle])) low = middle + 1; else high = middle;
  }
  return low;
}

/** Bars of at least a pixel. @param {Step[]} steps @param {number} width @returns {Bar[]} */
export function barsOf(steps, width) {
  const each = width / Math.max(1, steps.length), shared = Math.max(1, Math.ceil(steps.length / width));
  /** @type {Bar[]} */
  const bars = [];
  for (let i = 0; i < steps.length; i += shared) {
    let slowest = i;
    const end = Math.min(steps.length, i + shared);
    for (let k = i + 1; k < end; k++) {
      if (lengthOf(steps[k]) > lengthOf(steps[slowest])) slowest = k;
    }
    const x = Math.round(i * each), right = Math.round((i + shared) * each);
    bars.push({ x, width: Math.max(1, right - x - (each > 4 ? 1 : 0)), step: slowest, first: i, end });
  }
  return bars;
}

/** The bar at a place, or the nearest before it: they are no nearer to one another than a pixel. @param {Bar[]} bars in order @param {number} x @returns {Bar | null} */
export function barAt(bars, x) {
  return bars[Math.max(0, leading(bars, bar => bar.x <= x) - 1)] ?? null;
}

/** Which bars have their time above them: the highest first, as far as there is room. @param {Bar[]} bars @param {(bar: Bar) => number} widthOf the label
 * @param {(bar: Bar) => number} heightOf @param {number} width of all @returns {Bar[]} */
export function labelledOf(bars, widthOf, heightOf, width) {
  /** @type {[number, number][]} */
  const taken = [];
  return [...bars].sort((a, b) => heightOf(b) - heightOf(a)).slice(0, LABELS_TRIED).filter(bar => {
    const from = bar.x, to = bar.x + widthOf(bar) + LABEL_GAP;
    if (to - LABEL_GAP > width || taken.some(([a, b]) => from < b && to > a)) return false;
    taken.push([from, to]);
    return true;
  });
}

export class Strip {
  /** @param {HTMLCanvasElement} canvas @param {Head} head @param {Step[]} steps of one process @param {(step: Step) => void} go */
  constructor(canvas, head, steps, go) {
    this.canvas = canvas;
    this.legend = byId('steps-legend');
    this.head = head;
    this.steps = steps;
    this.go = go;
    this.at = -1;
    /** @type {Marks} */
    this.marks = { from: 0, to: 0, line: null };
    this.median = medianOf(chosenOf(steps));
    this.top = topOf(steps, this.median * CUT);
    this.hasWork = steps.some(workOf);
    this.bars = document.createElement('canvas'); // as they were drawn last
    this.drawn = '';
    canvas.addEventListener('click', event => this.goTo(this.barAt(event)?.step ?? -1));
    canvas.addEventListener('pointermove', event => this.hover(event));
    canvas.addEventListener('pointerleave', () => showTip(null, null));
    canvas.addEventListener('keydown', event => this.key(event));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  /** @param {MouseEvent} event */
  barAt(event) {
    return barAt(barsOf(this.steps, this.canvas.clientWidth), event.offsetX);
  }

  /** @param {PointerEvent} event */
  hover(event) {
    const bar = this.barAt(event), step = bar && this.steps[bar.step];
    if (!bar || !step) return;
    showTip([`step ${step.number}`, `${time(lengthOf(step))}, ${(lengthOf(step) / Math.max(1, this.median)).toFixed(1)} \u00d7 the median`, step.marks.length ? `it has ${step.marks.join(', ')}` : '',
      bar.end - bar.first > 1 ? `the slowest of the ${bar.end - bar.first} steps here` : ''].filter(Boolean), event);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const to = /** @type {Record<string, number>} */ ({ ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: this.steps.length - 1 })[event.key];
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.goTo(to);
  }

  /** @param {number} at */
  goTo(at) {
    if (!this.steps[at]) return;
    this.at = at;
    this.go(this.steps[at]);
  }

  /** The step before or after the last chosen one, or after the first in view. @param {1 | -1} direction */
  step(direction) {
    const inView = this.steps.findIndex(step => step.end > this.marks.from);
    this.goTo(this.at < 0 ? Math.max(0, inView) : Math.max(0, Math.min(this.steps.length - 1, this.at + direction)));
  }

  /** The bars change seldom, what is shown of them with every move. */
  draw() {
    const { steps, canvas, bars, marks: { line } } = this;
    if (!steps.length) return;
    const { c, p, width } = groundOf(canvas, HEIGHT), drawn = [width, canvas.width, this.at, line?.ns, line?.word, line?.gains?.size, p.page, p.text].join();
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.drawBars(c, p, width);
      bars.width = canvas.width;
      bars.height = canvas.height;
      bars.getContext('2d')?.drawImage(canvas, 0, 0);
    } else c.drawImage(bars, 0, 0, width, HEIGHT);
    this.drawShown(c, p, width);
  }

  /** @param {CanvasRenderingContext2D} c @param {Palette} p @param {number} width */
  drawBars(c, p, width) {
    const { steps, median, top, marks: { line } } = this, scale = (HEIGHT - TOP - 4) / top;
    const all = barsOf(steps, width), text = (/** @type {Bar} */ bar) => time(lengthOf(steps[bar.step]), 3);
    for (const bar of all) this.drawBar(c, p, bar, top, scale);
    const cut = all.filter(bar => lengthOf(steps[bar.step]) > top * 1.001);
    for (const bar of labelledOf(cut, each => c.measureText(text(each)).width, each => lengthOf(steps[each.step]), width)) write(c, p.text, text(bar), bar.x + 1, LABELS);
    this.drawLine(c, width, median * scale, p.text);
    if (line && !line.gains) this.drawLine(c, width, Math.min(line.ns, top) * scale, p.path);
    for (const { x, width: room, step } of line?.gains ? all : []) {
      const gain = line?.gains?.get(steps[step]);
      if (gain !== undefined) fill(c, p.path, x, HEIGHT - 4 - Math.min(Math.max(0, lengthOf(steps[step]) - gain), top) * scale, Math.max(2, room), 2);
    }
    this.legend.replaceChildren(h('span', { class: 'minor' }, `height is time${this.hasWork ? ', colour is phase, pale is idle' : ''}; `), `the line is the median, ${time(median, 3)}`,
      line ? h('b', {}, `; with ${line.word}${line.gains ? ': the marks are where each would end' : ''}`) : '');
  }

  /** @param {CanvasRenderingContext2D} c @param {Palette} p @param {Bar} bar @param {number} top @param {number} scale */
  drawBar(c, p, { x, width, step: n, first, end }, top, scale) {
    const step = this.steps[n], total = lengthOf(step), ground = HEIGHT - 4, shown = Math.min(total, top) * scale;
    const of = total / Math.max(total, workOf(step), 1); // operators side by side
    fill(c, this.hasWork ? p.line : p.call, x, ground - shown, width, shown);
    let y = ground;
    step.parts.forEach((ns, k) => {
      const part = Math.min(ns * of * scale, y - (ground - shown));
      c.fillStyle = p[PARTS[k]];
      y -= part;
      c.fillRect(x, y, width, part);
    });
    if (this.at >= first && this.at < end) {
      c.strokeStyle = p.accent;
      c.lineWidth = 2;
      c.strokeRect(x + 1, ground - shown, Math.max(1, width - 2), shown - 1);
    }
    if (total > top * 1.001) fill(c, p.page, x - 1, ground - shown + 6, width + 2, 2);
  }

  /** @param {CanvasRenderingContext2D} c @param {number} width @param {number} height above the ground @param {string} colour */
  drawLine(c, width, height, colour) {
    fill(c, colour, 0, Math.max(TOP, HEIGHT - 4 - height), width, 1);
  }

  /** Below the bars: what the timeline shows. @param {CanvasRenderingContext2D} c @param {Palette} p @param {number} width */
  drawShown(c, p, width) {
    const { steps, marks } = this, each = width / steps.length;
    const first = leading(steps, step => step.end <= marks.from), last = leading(steps, step => step.begin < marks.to) - 1;
    if (last < first) return;
    fill(c, p.accent, first * each, HEIGHT - 3, Math.max(2, (last - first + 1) * each), 3);
  }
}
