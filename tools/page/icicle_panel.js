// SPDX-License-Identifier: Apache-2.0
// The icicle: a step from above, its layers, phases and operators below; width is time. A click or Enter goes into a part,
// Backspace comes up. Below it the numbers of what is seen.
import { button, empty, h } from './dom.js';
import { boxesOf, icicleOf, icicleOfSelection } from './icicle_data.js';
import { fill, groundOf, MONO, PHASES } from './palette.js';
import { CHARACTER } from './strokes.js';
import { countColumn, shareColumn, table, timeColumn } from './table.js';
import { count, cutText, dotted, name, percent, time } from './text.js';
import { showTip } from './hover.js';
/** @import { Icicle } from './icicle_data.js' */
/** @import { Head } from './head.js' */
/** @import { Selected } from './selection.js' */
/** @import { Sections } from './sections.js' */
/** @import { Panel } from './tabs.js' */

const LINE = 22, LEAST_WIDTH = 0.7, DEEPEST = 24;

class IcicleView {
  /** @param {Icicle} icicle @param {number} steps sums are of so many; 0: of the whole trace @param {(text: string) => void} search */
  constructor(icicle, steps, search) {
    this.icicle = icicle;
    this.steps = Math.max(1, steps);
    this.search = search;
    this.root = 0;
    this.focus = 0;
    /** @type {ReturnType<typeof boxesOf>} */
    this.boxes = [];
    this.canvas = h('canvas', { tabindex: '0', class: 'icicle', 'aria-label': 'Icicle. Arrows go from part to part, Enter goes into one, Backspace comes up.', role: 'application', on: {
      click: event => this.click(event), keydown: event => this.key(event), focus: () => this.draw(), blur: () => this.draw(), pointerleave: () => showTip(null, null),
      pointermove: event => this.hover(event) } });
    this.way = h('p', { class: 'way' });
    this.list = h('div');
    this.element = h('div', { class: 'panel' }, this.way, this.canvas, this.list);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.goInto(0);
  }

  /** @param {number} node @param {boolean} [hasKeys] the button or row that was pressed is gone: the picture has the focus */
  goInto(node, hasKeys = false) {
    this.root = this.focus = node;
    const way = [];
    for (let at = node; ; at = this.icicle.parent[at]) {
      way.unshift(at);
      if (at === 0) break;
    }
    this.way.replaceChildren(...way.flatMap((at, i) => [i ? ' \u203a ' : '', button(name(this.icicle.label[at]), () => this.goInto(at, true), { class: 'small', 'aria-current': at === node })]));
    const { icicle, steps } = this, list = [node, ...icicle.children[node]], whole = Math.max(1, icicle.total[node]);
    this.table = table('Parts', [
      { title: 'Part', value: (/** @type {number} */ at) => name(icicle.label[at]) }, timeColumn(steps > 1 ? 'A step' : 'Total', at => icicle.total[at] / steps),
      timeColumn(steps > 1 ? 'Self, a step' : 'Self', at => icicle.self[at] / steps || null), shareColumn('Share', at => icicle.total[at] / whole),
      { title: 'Phase', kind: 'text', value: at => (icicle.phase[at] ? PHASES[icicle.phase[at]] : ''), minor: true }, countColumn('Count', at => icicle.count[at] || null, true),
    ], list, { text: at => icicle.label[at], pick: at => (icicle.children[at].length ? this.goInto(at, true) : this.search(icicle.label[at])) });
    this.list.replaceChildren(this.table.element);
    if (hasKeys) this.canvas.focus({ preventScroll: true });
    this.draw();
  }

  draw() {
    if (!this.canvas.isConnected) return;
    const { icicle, canvas } = this, boxes = this.boxes = boxesOf(icicle, this.root, canvas.clientWidth || 800, LEAST_WIDTH);
    let rows = 1;
    for (const box of boxes) rows = Math.max(rows, Math.min(DEEPEST, box.row + 1));
    const { c, p } = groundOf(canvas, rows * LINE);
    c.font = MONO;
    c.textBaseline = 'middle';
    for (const box of boxes) this.drawBox(c, p, box);
  }

  /** @param {CanvasRenderingContext2D} c @param {import('./palette.js').Palette} p @param {ReturnType<typeof boxesOf>[number]} box */
  drawBox(c, p, { node, x, width, row }) {
    const { icicle } = this, hasPhase = icicle.phase[node] > 0, y = row * LINE, w = width > 3 ? width - 1 : width;
    fill(c, hasPhase ? p[PHASES[icicle.phase[node]]] : p.line, x, y, w, LINE - 2);
    const fit = Math.floor((w - 8) / CHARACTER), label = dotted([name(icicle.label[node]), fit > icicle.label[node].length + 12 && time(icicle.total[node] / this.steps, 3)]);
    c.fillStyle = hasPhase ? p.label : p.text;
    if (fit >= 3) c.fillText(cutText(label, fit), x + 4, y + LINE / 2 - 0.5);
    if (node !== this.focus || document.activeElement !== this.canvas) return;
    c.strokeStyle = p.text;
    c.lineWidth = 2;
    c.strokeRect(x + 1, y + 1, Math.max(2, w - 2), LINE - 4);
  }

  /** @param {MouseEvent} event */
  boxAt(event) {
    const row = Math.floor(event.offsetY / LINE);
    return this.boxes.find(box => box.row === row && event.offsetX >= box.x && event.offsetX < box.x + box.width) ?? null;
  }

  /** @param {MouseEvent} event */
  click(event) {
    const box = this.boxAt(event);
    if (box) this.goInto(box.node === this.root ? this.icicle.parent[box.node] : box.node);
  }

  /** @param {PointerEvent} event */
  hover(event) {
    const box = this.boxAt(event), { icicle, steps } = this;
    showTip(box && [name(icicle.label[box.node]), `${time(icicle.total[box.node] / steps)}${steps > 1 ? ' a step' : ''}, ${percent(icicle.total[box.node] / Math.max(1, icicle.total[0]))} of all`,
      dotted([icicle.phase[box.node] > 0 && PHASES[icicle.phase[box.node]], `${count(icicle.count[box.node])} times`])], event);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { icicle, focus } = this, siblings = focus === this.root ? [focus] : icicle.children[icicle.parent[focus]], at = siblings.indexOf(focus);
    const to = { ArrowLeft: siblings[at - 1], ArrowRight: siblings[at + 1], ArrowDown: icicle.children[focus][0], ArrowUp: focus === this.root ? undefined : icicle.parent[focus] }[event.key];
    if (event.key === 'Enter') this.goInto(focus);
    else if (event.key === 'Backspace') this.goInto(icicle.parent[this.root]);
    else if (to !== undefined) this.focus = to;
    else return;
    event.preventDefault();
    this.canvas.setAttribute('aria-description', `${name(icicle.label[this.focus])}, ${time(icicle.total[this.focus] / this.steps)}`);
    this.draw();
  }
}

/** @param {Head} head @param {Sections} sections @param {Selected[] | null} selected @param {(text: string) => void} search @returns {Promise<Panel>} */
export async function iciclePanel(head, sections, selected, search) {
  if (!selected && !head.icicle) return { element: empty('Nothing nests: neither scopes nor phases were recorded.') };
  const icicle = selected ? icicleOfSelection(head, selected) : await sections.read('i', bytes => icicleOf(bytes, head));
  if (selected && icicle.total[0] === 0) return { element: empty('No operator lies in the selection.') };
  const view = new IcicleView(icicle, selected ? 0 : head.icicle?.steps ?? 0, search);
  return { element: view.element, redraw: () => view.draw(), csv: () => view.table?.csv() ?? [] };
}
