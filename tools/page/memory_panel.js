// SPDX-License-Identifier: Apache-2.0
// Live bytes by owner over the timeline's own axis, the exact table of the peak, owners at a cursor, growth. The stack is
// drawn from bins that keep their largest, so its top reaches the device's peak.
import { button, empty, h, terms } from './dom.js';
import { lowerBound } from './lod.js';
import { fill, groundOf, SANS, write } from './palette.js';
import { perPixel, xOf } from './scene.js';
import { drawAxis, fitText } from './strokes.js';
import { deviceName } from './layout.js';
import { csvOfAll, table, shareColumn, countColumn } from './table.js';
import { counted, dotted, name, size, time } from './text.js';
/** @import { Curves, MemoryCurve } from './curves.js' */
/** @import { Head, Device } from './head.js' */
/** @import { Timeline } from './timeline.js' */
/** @import { Panel } from './tabs.js' */

const COLOURS = 7, OTHERS = 'others', STACK = 150, STACK_AXIS = 24;

/** @typedef {{at: number | undefined, moved: () => void}} Cursor where the reader put it, undefined: on the peak */
/** @typedef {{owner: string, bytes: number, token: string}} Owned */

/** Owners at a bin, the largest of the whole run first; what is behind `most` of them is "others". @param {Device} device
 * @param {MemoryCurve} curve @param {number[]} order @param {number} bin @param {number} [most] @returns {Owned[]} */
export function ownersAt(device, curve, order, bin, most = COLOURS) {
  if (bin < 0) return [];
  /** @type {Owned[]} */
  const rows = order.slice(0, most).map((owner, i) => ({ owner: device.owners[owner], bytes: curve.owners[owner][bin], token: `own${Math.min(i, COLOURS)}` }));
  const known = rows.reduce((sum, row) => sum + row.bytes, 0);
  return [...rows, { owner: OTHERS, bytes: Math.max(0, curve.most[bin] - known), token: 'own7' }];
}

/** Owners by the most that they held in any bin. @param {Device} device @param {MemoryCurve} curve */
export function orderOfOwners(device, curve) {
  const most = device.owners.map((_, i) => curve.owners[i].reduce((a, b) => Math.max(a, b), 0));
  return device.owners.map((_, i) => i).sort((a, b) => most[b] - most[a]);
}

class MemoryView {
  /** @param {Head} head @param {number} number of the device @param {MemoryCurve} curve @param {Timeline} timeline @param {Cursor} cursor */
  constructor(head, number, curve, timeline, cursor) {
    this.device = head.memory.devices[number];
    this.name = deviceName(head, number);
    this.curve = curve;
    this.timeline = timeline;
    this.order = orderOfOwners(this.device, curve);
    this.shared = cursor;
    this.cursor = cursor.at ?? this.device.peakAt;
    this.canvas = h('canvas', { tabindex: '0', class: 'stacked', 'aria-label': `${this.name} over time. Arrows move the cursor, P puts it on the peak.`, role: 'application', on: {
      click: event => this.setCursor(timeline.nsAt(event.offsetX)), keydown: event => this.key(event) } });
    this.list = h('div');
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.fill();
  }

  get bin() {
    return lowerBound(this.curve.time, this.cursor + 1) - 1;
  }

  /** @param {number} ns */
  setCursor(ns) {
    this.cursor = Math.max(0, ns);
    this.shared.at = this.cursor === this.device.peakAt ? undefined : this.cursor;
    this.shared.moved();
    this.fill();
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { time: times } = this.curve, by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) this.setCursor(times[Math.max(0, Math.min(times.length - 1, this.bin + by))] ?? 0);
    else if (event.key.toLowerCase() === 'p') this.setCursor(this.device.peakAt);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  fill() {
    const named = this.order.filter(owner => this.device.owners[owner] !== OTHERS), rows = ownersAt(this.device, this.curve, named, this.bin, named.length).filter(row => row.bytes > 0), whole = Math.max(1, this.bin < 0 ? 0 : this.curve.most[this.bin]);
    this.table = table('Owners at the cursor', [
      { title: `Owner at ${time(this.cursor, 6)}`, value: (/** @type {Owned} */ row) => row.owner, show: row => h('span', {}, h('i', { class: 'key', style: { background: `var(--${row.token})` } }), name(row.owner)) },
      { title: 'Bytes', value: row => row.bytes, show: row => size(row.bytes) }, shareColumn('Share', row => row.bytes / whole),
    ], rows, { text: row => row.owner });
    this.list.replaceChildren(this.table.element);
  }

  draw() {
    if (!this.canvas.isConnected) return;
    const { c, p, width } = groundOf(this.canvas, STACK + STACK_AXIS), view = { ...this.timeline.view, width }, { curve, device } = this;
    drawAxis(c, p, view, 0);
    const first = Math.max(0, lowerBound(curve.time, view.from) - 1), end = Math.min(curve.time.length, lowerBound(curve.time, view.to) + 1);
    const scale = (STACK - 6) / Math.max(1, device.peak), ground = STACK + STACK_AXIS, one = perPixel(view);
    for (let i = first, next; i < end; i = next) {
      let tallest = i;
      for (next = i + 1; next < end && curve.time[next] - curve.time[i] < one; next++) if (curve.most[next] > curve.most[tallest]) tallest = next;
      const x = Math.round(Math.max(view.left, xOf(view, curve.time[i]))), right = Math.round(Math.min(width, next < curve.time.length ? xOf(view, curve.time[next]) : width));
      let y = ground;
      for (const { bytes, token } of right > x ? ownersAt(device, curve, this.order, tallest) : []) {
        fill(c, p[token], x, y - bytes * scale, right - x, bytes * scale);
        y -= bytes * scale;
      }
    }
    this.drawMarks(c, p, view, ground, scale);
  }

  /** @param {CanvasRenderingContext2D} c @param {import('./palette.js').Palette} p @param {import('./scene.js').View} view @param {number} ground @param {number} scale */
  drawMarks(c, p, view, ground, scale) {
    const { device } = this, cursor = xOf(view, this.cursor), peak = xOf(view, device.peakAt);
    c.fillStyle = p.text;
    if (cursor >= view.left && cursor <= view.width) c.fillRect(cursor, STACK_AXIS, 1, STACK);
    c.font = SANS;
    c.textBaseline = 'top';
    const words = `peak ${size(device.peak)}`;
    if (view.left) {
      c.fillText(fitText(c, this.name, view.left - 10), 0, STACK_AXIS + 4);
      write(c, p.soft, words, 0, STACK_AXIS + 20);
      c.fillText(`at ${time(device.peakAt, 5)}`, 0, STACK_AXIS + 36);
    } else {
      fill(c, p.page, 0, STACK_AXIS, c.measureText(words).width + 8, 16);
      write(c, p.soft, words, 4, STACK_AXIS + 3);
    }
    if (peak < view.left || peak > view.width) return;
    c.beginPath();
    c.arc(peak, ground - device.peak * scale, 3.5, 0, 7);
    c.fillStyle = p.path;
    c.fill();
  }
}

/** The exact table of the peak, as `mxprof memory` has it. @param {any} device of its JSON */
function peakTable(device) {
  const whole = Math.max(1, device.peak?.bytes ?? 1), owners = device.owners ?? [];
  return table('Owners at the peak', [
    { title: 'Owner at the peak', value: (/** @type {any} */ row) => row.owner, show: row => name(row.owner) },
    { title: 'Bytes', value: row => row.bytes, show: row => size(row.bytes) }, shareColumn('Share', row => row.bytes / whole), countColumn('Blocks', row => row.blocks ?? null),
    { title: 'Of it', kind: 'text', minor: true, value: row => dotted(Object.entries(row.categories ?? {}).map(([what, bytes]) => `${name(what)} ${size(Number(bytes))}`)) },
  ], owners, { text: row => row.owner });
}

/** Does it grow? In the words of the analysis' own numbers. @param {any} growth */
export function growthWords(growth) {
  if (!growth?.is_known) return 'growth over steps: not known, too few steps';
  if (!growth.grows) return `does not grow over ${counted(growth.steps, 'step')}`;
  const most = (growth.owners ?? []).filter((/** @type {any} */ row) => row.bytes_a_step > 0).slice(0, 3).map((/** @type {any} */ row) => `${name(row.owner)} ${size(row.bytes_a_step)}`);
  return `grows by ${size(growth.bytes_a_step)} a step (${size(growth.bytes_a_step_low)} to ${size(growth.bytes_a_step_high)}) over ${counted(growth.steps, 'step')}${most.length ? `: ${most.join(', ')}` : ''}`;
}

/** @param {Head} head @param {Curves} curves @param {Timeline} timeline @param {Cursor} cursor @returns {Promise<Panel>} */
export async function memoryPanel(head, curves, timeline, cursor) {
  if (!head.memory.devices.length) return { element: empty('No memory was recorded: profiler.set_config(profile_memory=True).') };
  const all = await curves.loadMemory(), documents = head.memory.documents.flatMap(document => (document?.devices ?? []).map((/** @type {any} */ device) => device));
  /** @type {MemoryView[]} */
  const views = [];
  const parts = head.memory.devices.map((device, i) => {
    const view = all?.[i] ? new MemoryView(head, i, all[i], timeline, cursor) : null, document = documents.find(each => each.device === device.name && each.peak?.bytes === device.peak) ?? documents[i];
    if (view) views.push(view);
    const exact = document ? peakTable(document) : null, ran = document?.peak?.ran;
    return { view, exact, element: h('section', { 'aria-label': deviceName(head, i) }, head.memory.devices.length > 1 && h('h3', {}, deviceName(head, i)),
      terms([['peak', dotted([`${size(device.peak)} at ${time(device.peakAt, 5)}`, document?.peak?.step > 0 && `step ${document.peak.step}`, ran && `while ${name(ran.name)} ran`, document?.peak?.block_of && `reached by ${name(document.peak.block_of)}`])],
        ['over steps', growthWords(document?.growth)]]),
      view ? view.canvas : empty('Its curve cannot be read: the section is damaged.'),
      h('div', { class: 'bar' }, button('Show the peak', () => {
        const width = timeline.view.to - timeline.view.from;
        timeline.show(device.peakAt - width / 2, device.peakAt + width / 2);
        view?.setCursor(device.peakAt);
      }), h('span', { class: 'note' }, 'A click on the picture puts the cursor there.')),
      h('div', { class: 'beside' }, view?.list, exact?.element)) };
  });
  return { element: h('div', { class: 'panel' }, parts.map(part => part.element)), redraw: () => views.forEach(view => view.draw()), ...(parts.some(part => part.exact) ? { csv: () => csvOfAll(parts.map(part => part.exact)) } : {}) };
}
