// SPDX-License-Identifier: Apache-2.0
// How the timeline's scene becomes pixels: rectangles gathered by colour, hatches, labels, the axis. Drawing only:
// what is drawn was decided before (scene.js), where it stands too (layout.js).
import { AXIS, LEFT, ROW } from './layout.js';
import { fill, MONO, SANS, write } from './palette.js';
import { perPixel, xOf } from './scene.js';
import { cutText, name, time } from './text.js';
/** @import { Palette } from './palette.js' */
/** @import { Scene, View } from './scene.js' */
/** @import { Layout } from './layout.js' */
/** @import { Kind, Step } from './head.js' */

/** @typedef {CanvasRenderingContext2D} Context */

export const CHARACTER = 6.63; // of the label's font, px
const HOLLOW_FROM = 3, THIN = 0.45, TICK_ROOM = 78, STEP_ROOM = 30, WORD_FROM = 12;

/** @type {Map<string, CanvasPattern | null>} */
const hatches = new Map();

/** Stripes of a colour. @param {Context & {hatch?: (colour: string, width: number) => string}} c @param {string} colour @param {number} width */
export function hatch(c, colour, width) {
  if (c.hatch) return c.hatch(colour, width);
  const key = `${colour} ${width}`, found = hatches.get(key);
  if (found !== undefined) return found;
  const tile = document.createElement('canvas');
  tile.width = tile.height = 6;
  const g = /** @type {Context} */ (tile.getContext('2d'));
  g.strokeStyle = colour;
  g.lineWidth = width;
  g.beginPath();
  for (const k of [-3, 3, 9]) {
    g.moveTo(k - 1, 7);
    g.lineTo(k + 7, -1);
  }
  g.stroke();
  const pattern = c.createPattern(tile, 'repeat');
  hatches.set(key, pattern);
  return pattern;
}

/** Those wider than `from`, smaller on each side by an edge. @param {Context & {fillAll?: (list: number[], edge: number, from: number) => void}} c @param {number[]} list
 * x, y, width, height of each @param {number} edge @param {number} from */
function fillAll(c, list, edge, from) {
  if (c.fillAll) c.fillAll(list, edge, from);
  else for (let i = 0; i < list.length; i += 4) if (list[i + 2] > from) c.fillRect(list[i] + edge, list[i + 1] + edge, list[i + 2] - 2 * edge, list[i + 3] - 2 * edge);
}

/** @param {Context} c @param {Palette} p @param {Scene} scene @param {Kind[]} kinds */
export function drawScene(c, p, scene, kinds) {
  for (const [fill, list] of scene.rects) {
    const isHollow = fill === 'wait' || fill === 'task';
    c.fillStyle = p[fill] ?? p.other;
    c.globalAlpha = isHollow ? THIN : 1;
    fillAll(c, list, 0, 0);
    c.globalAlpha = 1;
    if (isHollow) hollowOut(c, p, fill, list);
  }
  c.font = MONO;
  c.textBaseline = 'middle';
  for (const label of scene.labels) {
    const fit = Math.floor(label.room / CHARACTER);
    if (fit < 3) continue;
    write(c, label.dim ? p.soft : label.fill === 'wait' || label.fill === 'task' ? p.text : p.label, cutText(name(kinds[label.kind].name), fit), label.x, label.y + ROW / 2 + 0.5);
  }
  c.fillStyle = p.text;
  for (let i = 0; i < scene.instants.length; i += 3) drawInstant(c, scene.instants[i], scene.instants[i + 1], scene.instants[i + 2]);
}

/** Waits are hatched, tasks and frames outlined: neither is work, and no colour is needed to see it.
 * @param {Context} c @param {Palette} p @param {string} fill @param {number[]} list */
function hollowOut(c, p, fill, list) {
  const stripes = fill === 'wait' ? hatch(c, p.line, 1.6) : null;
  for (const style of [p.soft, p.panel, ...(stripes ? [stripes] : [])]) {
    const edge = style === p.soft ? 0 : 1;
    c.fillStyle = style;
    fillAll(c, list, edge, HOLLOW_FROM);
  }
}

/** @param {Context} c @param {number} x @param {number} y @param {number} n */
function drawInstant(c, x, y, n) {
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(x + 4, y + 8);
  c.lineTo(x - 4, y + 8);
  c.fill();
  if (n > 1) {
    c.font = SANS;
    c.textBaseline = 'top';
    c.fillText(String(n), x + 6, y - 1);
  }
}

/** Names at the left of the rows, or above them. @param {Context} c @param {Palette} p @param {Layout} layout
 * @param {number} width */
export function drawHeadings(c, p, layout, width) {
  if (layout.left) {
    fill(c, p.page, 0, 0, layout.left, layout.height);
  }
  c.textBaseline = 'top';
  for (const { text, y, what } of layout.headings) {
    const isMain = what !== 'track';
    c.font = (what === 'process' ? '650 ' : '') + SANS.replace('11px', isMain && layout.left ? '12px' : '11px');
    c.fillStyle = isMain ? p.text : p.soft;
    const indent = layout.left && !isMain ? 10 : 0, room = (layout.left && what !== 'process' ? LEFT - 10 : width) - indent;
    c.fillText(fitText(c, text, room), indent, y + (isMain ? 1 : 2));
  }
}

/** Cut to fit, measured. @param {Context} c @param {string} text @param {number} room */
export function fitText(c, text, room) {
  let shown = text;
  while (shown.length > 2 && c.measureText(shown).width > room) {
    shown = cutText(shown.replace(/\u2026$/, ''), Math.max(2, Math.floor(shown.length * 0.9) - 1));
  }
  return shown;
}

/** The distance of ticks: 1, 2 or 5 times a power of ten, with room for their labels. @param {number} ns a pixel */
export function tickOf(ns) {
  const power = 10 ** Math.ceil(Math.log10(Math.max(ns * TICK_ROOM, 1)));
  return Math.max(1, [0.1, 0.2, 0.5].map(f => f * power).find(step => step / ns >= TICK_ROOM) ?? power);
}

/** @param {View} view @returns {{x: number, text: string}[]} */
export function ticksOf(view) {
  const tick = tickOf(perPixel(view));
  const ticks = [];
  for (let n = Math.ceil(view.from / tick); n * tick <= view.to; n++) {
    const t = n * tick, digits = Math.max(3, Math.ceil(Math.log10(Math.max(Math.abs(t) / tick, 1))) + 1);
    ticks.push({ x: xOf(view, t), text: n === 0 ? '0' : time(t, digits) });
  }
  return ticks;
}

/** @param {Context} c @param {Palette} p @param {View} view @param {number} top */
export function drawAxis(c, p, view, top) {
  fill(c, p.page, 0, top, view.width, AXIS - 4);
  c.font = SANS;
  c.textBaseline = 'top';
  for (const { x, text } of ticksOf(view)) {
    fill(c, p.line, Math.round(x), top + 14, 1, 5);
    c.fillStyle = p.soft;
    if (x + 3 + c.measureText(text).width < view.width) c.fillText(text, x + 3, top + 2);
  }
  if (view.left) {
    fill(c, p.page, 0, top, view.left, AXIS - 4);
    write(c, p.soft, `${time(view.to - view.from, 4)} shown`, 0, top + 2);
  }
}

/** A line where a step begins, only where there is room for them. @param {Context} c @param {Palette} p @param {View} view
 * @param {Step[]} steps @param {number} top @param {number} bottom */
export function drawStepLines(c, p, view, steps, top, bottom) {
  const lines = [];
  for (const { begin, end } of steps) {
    if (end <= view.from || begin >= view.to) continue;
    if (lines.push(Math.round(xOf(view, begin))) > view.width / STEP_ROOM) return;
  }
  c.fillStyle = p.line;
  for (const x of lines) if (x >= view.left) c.fillRect(x, top, 1, bottom - top);
}

/** A time of which nothing or not all is known. @param {Context} c @param {Palette} p @param {View} view
 * @param {{from: number, to: number, word: string, y: number, height: number}} range */
export function drawGap(c, p, view, { from, to, word, y, height }) {
  const x = Math.max(view.left, xOf(view, from)), end = Math.min(view.width, Math.max(xOf(view, to), x + 2));
  if (end <= view.left || x >= view.width) return;
  c.fillStyle = hatch(c, p.bad, 1) ?? p.bad;
  c.globalAlpha = 0.5;
  c.fillRect(x, y, end - x, height);
  c.globalAlpha = 1;
  c.font = SANS;
  const width = c.measureText(word).width, isInside = end - x >= width + 8, at = isInside ? x + 5 : x - width - 5;
  if (!isInside && (end - x < WORD_FROM || at < view.left)) return;
  fill(c, p.page, at - 3, y + 1, width + 6, 14);
  c.fillStyle = p.bad;
  c.textBaseline = 'top';
  c.fillText(word, at, y + 3);
}

/** A sentence where nothing is drawn. @param {Context} c @param {Palette} p @param {View} view @param {number} y @param {string} text */
export function drawNote(c, p, view, y, text) {
  c.font = SANS.replace('11px', '13px');
  c.textBaseline = 'top';
  write(c, p.soft, text, view.left + 12, y);
}
