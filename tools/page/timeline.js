// SPDX-License-Identifier: Apache-2.0
// The timeline: what is in view, what has the focus, what is selected, and one drawing of it a frame. Moves by calls
// only; keys, mouse and fingers are in input.js, what a view contains in scene.js.
import { AXIS, ROW, layoutOf } from './layout.js';
import { flowPoints, flowsOf } from './flows.js';
import { besideSpan, longestIn, otherRow, spanAt, spanOf } from './neighbours.js';
import { linksOf, operatorOf } from './operators.js';
import { drawArrows, drawFocus, drawPath, drawSelection } from './overlays.js';
import { drawCurves } from './curves.js';
import { fillOf, groundOf, palette } from './palette.js';
import { joinScenes, nsOf, perPixel, sceneOf, THIN_PX, xOf } from './scene.js';
import { drawAxis, drawGap, drawHeadings, drawNote, drawScene, drawStepLines } from './strokes.js';
import { SvgBrush } from './svg.js';
import { count, name, time } from './text.js';
/** @import { Place, Profile } from './lod.js' */
/** @import { Layout } from './layout.js' */
/** @import { Scene, View } from './scene.js' */
/** @import { Span } from './neighbours.js' */
/** @import { Path } from './path_data.js' */
/** @import { Known } from './overlays.js' */
/** @import { Curves } from './curves.js' */

/** @typedef {{from: number, to: number}} Range */
/** @typedef {'view' | 'focus' | 'selection' | 'overlay' | 'drawn'} Event */

const LEAST_NS = 20, BEYOND = 0.05, LEAST_HEIGHT = 220, OF_WINDOW = 0.62;

export class Timeline {
  /** @param {HTMLCanvasElement} canvas @param {HTMLElement} scroller @param {Profile} profile @param {Curves} curves */
  constructor(canvas, scroller, profile, curves) {
    this.canvas = canvas;
    this.scroller = scroller;
    this.profile = profile;
    this.curves = curves;
    this.head = profile.head;
    this.fills = this.head.kinds.map(fillOf);
    /** @type {View} */
    this.view = { from: 0, to: this.head.length, width: 800, left: 0 };
    /** @type {Layout} */
    this.layout = layoutOf(this.head, 800);
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {Range | null} */
    this.selection = null;
    /** @type {Span | null} */
    this.focus = null;
    /** @type {Set<number> | null} */
    this.find = null;
    this.hasArrows = true;
    /** @type {Path | null} the path, where it is shown */
    this.path = null;
    /** @type {Known | null} of the focused operator */
    this.known = null;
    /** @type {Promise<import('./flows.js').FlowPoints | null> | undefined} */
    this.flowPoints = undefined;
    /** @type {Map<Event, (() => void)[]>} */
    this.listeners = new Map();
    this.frame = 0;
    this.height = LEAST_HEIGHT;
    this.top = 0;
    this.drawMs = 0;
    profile.onload = curves.onload = () => this.invalidate();
    new ResizeObserver(() => this.invalidate()).observe(canvas);
    scroller.addEventListener('scroll', () => this.invalidate(), { passive: true });
  }

  /** @param {Event} event @param {() => void} listener */
  on(event, listener) {
    this.listeners.set(event, [...this.listeners.get(event) ?? [], listener]);
  }

  /** @param {Event} event */
  tell(event) {
    for (const listener of this.listeners.get(event) ?? []) listener();
  }

  /** Shows a range, clamped to the trace. @param {number} from @param {number} to */
  show(from, to) {
    const all = this.head.length, width = Math.min(Math.max(to - from, LEAST_NS), all * (1 + 2 * BEYOND));
    const begin = Math.max(-all * BEYOND, Math.min(from - Math.max(0, width - (to - from)) / 2, all * (1 + BEYOND) - width));
    this.view.from = begin;
    this.view.to = begin + width;
    this.invalidate();
    this.tell('view');
  }

  whole() {
    this.show(0, this.head.length);
  }

  /** @param {number} factor below 1: closer @param {number} [at] ns that stays where it is */
  zoom(factor, at = (this.view.from + this.view.to) / 2) {
    this.show(at - (at - this.view.from) * factor, at + (this.view.to - at) * factor);
  }

  /** @param {number} ns */
  move(ns) {
    this.show(this.view.from + ns, this.view.to + ns);
  }

  /** With some room beside it. @param {Range} range */
  fit({ from, to }) {
    const room = Math.max((to - from) * 0.05, LEAST_NS / 2);
    this.show(from - room, to + room);
  }

  /** The focused span, or else the selection. */
  fitChosen() {
    if (this.focus) this.fit({ from: this.focus.begin, to: this.focus.end });
    else if (this.selection) this.fit(this.selection);
  }

  /** @param {Range | null} range */
  select(range) {
    const clamp = (/** @type {number} */ ns) => Math.round(Math.min(Math.max(ns, 0), this.head.length));
    const old = this.selection;
    this.selection = range && { from: clamp(Math.min(range.from, range.to)), to: clamp(Math.max(range.from, range.to)) };
    this.invalidate();
    if (this.selection || old) this.tell('selection');
  }

  /** @param {Span | null} span */
  setFocus(span) {
    if (!span && !this.focus) return;
    this.focus = span;
    this.known = null;
    if (span) {
      this.reveal(span);
      this.learn(span).catch(() => {});
    }
    this.invalidate();
    this.tell('focus');
  }

  /** What is known of the focused operator comes later. @param {Span} span */
  async learn(span) {
    await this.profile.load(span.block);
    const operator = operatorOf(this.profile, span), links = await linksOf(this.profile, span), points = await this.flows(), flows = points && await flowsOf(this.profile, points, span);
    if (this.focus !== span || !(operator || flows?.arrows.length)) return;
    this.known = { operator, links, flows: flows ?? { arrows: [], more: 0 } };
    this.invalidate();
    this.tell('focus');
  }

  /** Read where the first span has the focus; null: there are none, or they are damaged. @returns {Promise<import('./flows.js').FlowPoints | null>} */
  flows() {
    const { profile, head } = this;
    this.flowPoints ??= head.flows ? profile.sections.read('f', bytes => flowPoints(bytes, head)).catch(() => null) : Promise.resolve(null);
    return this.flowPoints;
  }

  /** @param {Place} place */
  focusPlace(place) {
    const block = this.profile.get(place.block);
    if (block) this.setFocus(spanOf(this.profile, block, place));
  }

  letGo() {
    this.setFocus(null);
    this.select(null);
  }

  /** Moves the view so that a span is in it. @param {Span} span */
  reveal(span) {
    const { from, to } = this.view, width = to - from;
    if (span.end < from + width * 0.02 || span.begin > to - width * 0.02) {
      const middle = (span.begin + Math.min(span.end, span.begin + width)) / 2;
      this.show(middle - width / 2, middle + width / 2);
    }
    const row = this.rowOf(span.track);
    if (!row) return;
    const y = row.y + span.depth * ROW, { scrollTop, clientHeight } = this.scroller;
    if (y < scrollTop + AXIS) this.scroller.scrollTop = y - AXIS - ROW;
    else if (y + ROW > scrollTop + clientHeight) this.scroller.scrollTop = y + 2 * ROW - clientHeight;
  }

  /** Scrolls to the rows of one of several processes, unless some of them are in sight. @param {number} process */
  revealProcess(process) {
    const rows = this.rowsOf(process), { scrollTop, clientHeight } = this.scroller;
    if (rows && (rows.y >= scrollTop + clientHeight - 2 * ROW || rows.y + rows.height < scrollTop + AXIS + ROW)) this.scroller.scrollTop = rows.y - AXIS - 2 * ROW;
  }

  /** @param {number} track */
  rowOf(track) {
    return this.layout.rows.find(row => row.what === 'spans' && row.track === track) ?? null;
  }

  /** Tracks in the order they are drawn. */
  tracks() {
    return this.layout.rows.filter(row => row.what === 'spans').map(row => row.track);
  }

  /** The next span in the focus's row, or the one before; without a focus the first in view. @param {1 | -1} direction */
  async focusBeside(direction) {
    const found = this.focus ? await besideSpan(this.profile, this.focus, direction) : await this.firstSeen();
    if (found) this.setFocus(found);
  }

  /** @param {1 | -1} direction */
  async focusRow(direction) {
    const found = this.focus ? await otherRow(this.profile, this.tracks(), this.focus, direction) : await this.firstSeen();
    if (found) this.setFocus(found);
  }

  async firstSeen() {
    const middle = (this.view.from + this.view.to) / 2;
    for (const track of this.tracks()) {
      const span = await spanAt(this.profile, track, 0, middle);
      if (span) return span;
    }
    return null;
  }

  /** The selection grows by the next span of the focus's row, or the one before. @param {1 | -1} direction */
  async extend(direction) {
    const { focus } = this;
    if (!focus) return;
    if (!this.selection) {
      this.select({ from: focus.begin, to: focus.end });
      return;
    }
    const edge = direction > 0 ? this.selection.to : this.selection.from;
    const found = await besideSpan(this.profile, { ...focus, begin: direction > 0 ? edge - 1 : edge }, direction);
    if (!found || !this.selection) return;
    const { from, to } = this.selection;
    this.select({ from: Math.min(from, found.begin), to: Math.max(to, found.end) });
  }

  selectFocus() {
    if (this.focus) this.select({ from: this.focus.begin, to: this.focus.end });
  }

  /** The span at a point of the canvas, or the longest of those that are too thin to be met. @param {number} x @param {number} y @returns {Place & {others?: number} | null}
   * others: further ones at the point */
  hit(x, y) {
    const hits = this.scene?.hits ?? [], at = y + this.top;
    for (let i = hits.length - 6; i >= 0; i -= 6) {
      if (x >= hits[i] && x <= hits[i + 2] && at >= hits[i + 1] && at < hits[i + 1] + ROW) return { block: hits[i + 4], index: hits[i + 5] };
    }
    const { view, profile } = this, row = x < view.left ? undefined : this.layout.rows.find(each => each.what === 'spans' && at >= each.y && at < each.y + each.height);
    if (!row) return null;
    return longestIn(profile, row.track, Math.floor((at - row.y) / ROW), { from: this.nsAt(x - THIN_PX), to: this.nsAt(x + THIN_PX), level: profile.level(perPixel(view)) });
  }

  /** @param {number} x */
  nsAt(x) {
    return nsOf(this.view, x);
  }

  invalidate() {
    if (!this.frame) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
    }
  }

  measure() {
    const width = this.canvas.clientWidth || 800;
    if (width !== this.view.width || !this.scene) {
      this.layout = layoutOf(this.head, width);
      this.view.width = width;
      this.view.left = this.layout.left;
    }
    this.height = Math.min(this.layout.height, Math.max(LEAST_HEIGHT, Math.round(window.innerHeight * OF_WINDOW)));
    const space = /** @type {HTMLElement} */ (this.canvas.parentElement);
    if (space.style.height !== `${this.layout.height}px`) space.style.height = `${this.layout.height}px`;
    if (this.scroller.style.height !== `${this.height}px`) this.scroller.style.height = `${this.height}px`;
    this.top = Math.round(this.scroller.scrollTop);
  }

  draw() {
    const begun = performance.now();
    this.measure();
    const { c, p } = groundOf(this.canvas, this.height), { top, height, layout } = this;
    const rows = layout.rows.filter(row => row.y + row.height > top && row.y < top + height);
    this.scene = this.sceneOf(rows);
    c.save();
    c.translate(0, -top);
    this.paint(c, p, rows, this.scene);
    c.restore();
    this.drawMs = performance.now() - begun;
    this.tell('drawn');
  }

  /** @param {Layout['rows']} rows */
  sceneOf(rows) {
    return sceneOf(this.profile, rows, this.view, { find: this.find, fills: this.fills });
  }

  /** The scene of all rows, those out of sight too: row by row, because what all need may be more than is held decoded. */
  async wholeScene() {
    const { profile, curves, head, layout } = this, all = this.sceneOf([]);
    await Promise.all([head.memory.devices.length ? curves.loadMemory() : null, ...head.counters.map((_, i) => curves.loadCounter(i))]);
    for (const row of layout.rows) {
      let scene = this.sceneOf([row]);
      for (let coming = profile.pending(); !scene.isWhole && coming.length; coming = profile.pending()) {
        await Promise.allSettled(coming);
        scene = this.sceneOf([row]);
      }
      joinScenes(all, scene);
    }
    return all;
  }

  /** All rows of the view as SVG. @param {string} title */
  async svg(title) {
    const scene = await this.wholeScene(), { view, layout, top, height, canvas } = this, p = palette(), own = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    const brush = new SvgBrush((text, font) => {
      own.font = font;
      return own.measureText(text).width;
    });
    this.top = 0;
    this.height = layout.height;
    this.paint(/** @type {any} */ (brush), p, layout.rows, scene);
    if (brush.missing) drawNote(/** @type {any} */ (brush), p, view, AXIS + 8, `${count(brush.missing)} spans are not in this drawing: zoom in`);
    Object.assign(this, { top, height });
    return brush.text(view.width, layout.height, title, p.page);
  }

  /** @param {CanvasRenderingContext2D} c @param {import('./palette.js').Palette} p @param {Layout['rows']} rows @param {Scene} scene */
  paint(c, p, rows, scene) {
    const { view, top, height, layout } = this;
    drawStepLines(c, p, view, this.head.steps, top + AXIS - 6, top + height);
    c.save();
    c.beginPath();
    c.rect(view.left, top, view.width, height);
    c.clip();
    c.fillStyle = p.panel;
    for (const row of rows) c.fillRect(view.left, row.y, view.width, row.height - 1);
    drawScene(c, p, scene, this.head.kinds);
    drawCurves(c, p, view, rows, this.curves);
    this.drawGaps(c, rows);
    if (this.isEmpty()) drawNote(c, p, view, top + AXIS + 8, `Nothing was recorded between ${time(Math.max(0, view.from))} and ${time(view.to)}.`);
    if (this.path) drawPath(c, p, this, this.path);
    drawFocus(c, p, this);
    if (this.hasArrows) drawArrows(c, p, this);
    drawSelection(c, p, this);
    c.restore();
    drawHeadings(c, p, layout, view.width);
    drawAxis(c, p, view, top);
  }

  /** Where the rows of a process are; null: all rows are of one. @param {number} process */
  rowsOf(process) {
    if (this.head.processes.length < 2) return null;
    const own = this.layout.rows.filter(row => row.what === 'spans' && this.head.tracks[row.track].process === process);
    if (!own.length) return null;
    const last = own[own.length - 1];
    return { y: own[0].y, height: last.y + last.height - own[0].y };
  }

  isEmpty() {
    const { scene } = this;
    return scene !== null && scene.isWhole && !scene.rects.size && !scene.instants.length && !this.profile.damaged.size;
  }

  /** What was lost, paused or cannot be read. @param {CanvasRenderingContext2D} c @param {Layout['rows']} rows */
  drawGaps(c, rows) {
    const { head, view, profile, top, height } = this, p = palette();
    const all = { y: top + AXIS - 4, height };
    for (const { process, from, to, what } of head.states) drawGap(c, p, view, { from, to, word: name(what), ...this.rowsOf(process) ?? all });
    for (const { process, from, to, records } of head.losses) drawGap(c, p, view, { from, to, word: `${count(records)} lost`, ...this.rowsOf(process) ?? all });
    if (!profile.damaged.size) return;
    const level = profile.level(perPixel(view));
    for (const row of rows) {
      if (row.what !== 'spans') continue;
      for (const number of profile.blocks(row.track, level, view.from, view.to)) {
        const { first, last } = head.blocks[number];
        if (profile.damaged.has(number)) drawGap(c, p, view, { from: first, to: last, word: 'damaged', y: row.y, height: row.height });
      }
    }
  }

  /** @param {number} ns */
  xAt(ns) {
    return xOf(this.view, ns);
  }
}
