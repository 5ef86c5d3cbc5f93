// SPDX-License-Identifier: Apache-2.0
// A brush that writes SVG: it has of a canvas' context what the timeline's drawing uses, so a drawing has all that the canvas
// shows: spans, curves, path, arrows, gaps. Text stays text, names are escaped. Pure, but for the measuring that it is given.
import { xmlText } from './text.js';

const MOST_SPANS = 200000, RISE = /** @type {Record<string, number>} */ ({ top: 0.85, middle: 0.36 }); // of the font's size, from where text is put to its baseline

/** @param {number} x */
const digits = x => String(Math.round(x * 100) / 100);

export class SvgBrush {
  /** @param {(text: string, font: string) => number} measure the width of a text, px */
  constructor(measure) {
    this.measure = measure;
    this.fillStyle = this.strokeStyle = '#000';
    this.lineWidth = this.globalAlpha = 1;
    this.font = '11px sans-serif';
    this.textBaseline = 'top';
    /** @type {string[]} */
    this.parts = [];
    /** @type {string[]} */
    this.defs = [];
    this.path = '';
    this.dash = '';
    this.left = MOST_SPANS;
    this.missing = 0; // spans beyond those
    this.open = [0]; // groups of each save()
  }

  /** @param {string} colour @param {number} width @returns {string} what a fill of stripes is */
  hatch(colour, width) {
    const id = `hatch-${colour.replace(/\W/g, '')}-${digits(width).replace('.', '_')}`;
    const pattern = `<pattern id="${id}" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M-1 7L7-1M-4 4L4-4M2 10L10 2" stroke="${xmlText(colour)}" stroke-width="${digits(width)}"/></pattern>`;
    if (!this.defs.includes(pattern)) this.defs.push(pattern);
    return `url(#${id})`;
  }

  /** @param {string} shape @param {'fill' | 'stroke'} what */
  put(shape, what) {
    const style = what === 'fill' ? ` fill="${xmlText(this.fillStyle)}"` : ` fill="none" stroke="${xmlText(this.strokeStyle)}" stroke-width="${digits(this.lineWidth)}"${this.dash}`;
    this.parts.push(`<${shape}${style}${this.globalAlpha < 1 ? ` opacity="${this.globalAlpha}"` : ''}/>`);
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h @param {'fill' | 'stroke'} what */
  box(x, y, w, h, what) {
    if (w > 0 && h > 0) this.put(`rect x="${digits(x)}" y="${digits(y)}" width="${digits(w)}" height="${digits(h)}"`, what);
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  fillRect(x, y, w, h) {
    this.box(x, y, w, h, 'fill');
  }

  /** Rectangles of one colour as one shape. @param {number[]} list x, y, width, height of each @param {number} edge that they are smaller on each side @param {number} from only those wider */
  fillAll(list, edge, from) {
    const parts = [];
    for (let i = 0; i < list.length; i += 4) {
      const w = list[i + 2] - 2 * edge, h = list[i + 3] - 2 * edge;
      if (list[i + 2] <= from || w <= 0 || h <= 0) continue;
      if (this.left-- <= 0) this.missing++;
      else parts.push(`M${digits(list[i] + edge)} ${digits(list[i + 1] + edge)}h${digits(w)}v${digits(h)}h${digits(-w)}z`);
    }
    if (parts.length) this.put(`path d="${parts.join('')}"`, 'fill');
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  strokeRect(x, y, w, h) {
    this.box(x, y, w, h, 'stroke');
  }

  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    const [, weight, size, family] = /^(\d+ )?([\d.]+)px (.*)$/.exec(this.font) ?? ['', '', '11', 'sans-serif'];
    this.parts.push(`<text x="${digits(x)}" y="${digits(y + Number(size) * (RISE[this.textBaseline] ?? 0))}" fill="${xmlText(this.fillStyle)}" font-size="${size}" font-family="${xmlText(family)}"${weight ? ` font-weight="${weight.trim()}"` : ''}>${xmlText(text)}</text>`);
  }

  /** @param {string} text */
  measureText(text) {
    return { width: this.measure(text, this.font) };
  }

  beginPath() {
    this.path = '';
  }

  /** @param {string} letter @param {number[]} values */
  go(letter, values) {
    this.path += letter + values.map(digits).join(' ');
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.go('M', [x, y]);
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.go('L', [x, y]);
  }

  /** @param {number[]} values */
  quadraticCurveTo(...values) {
    this.go('Q', values);
  }

  /** @param {number[]} values */
  bezierCurveTo(...values) {
    this.go('C', values);
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  rect(x, y, w, h) {
    this.path += `M${digits(x)} ${digits(y)}h${digits(w)}v${digits(h)}h${digits(-w)}z`;
  }

  fill() {
    this.put(`path d="${this.path}"`, 'fill');
  }

  stroke() {
    this.put(`path d="${this.path}"`, 'stroke');
  }

  /** @param {number[]} dash */
  setLineDash(dash) {
    this.dash = dash.length ? ` stroke-dasharray="${dash.join(' ')}"` : '';
  }

  save() {
    this.open.push(0);
  }

  clip() {
    const id = `clip-${this.defs.length}`;
    this.defs.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath>`);
    this.parts.push(`<g clip-path="url(#${id})">`);
    this.open[this.open.length - 1]++;
  }

  restore() {
    this.parts.push('</g>'.repeat(this.open.pop() ?? 0));
  }

  /** @param {number} width @param {number} height @param {string} title @param {string} ground */
  text(width, height, title, ground) {
    return [`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`, `<title>${xmlText(title)}</title>`, `<defs>${this.defs.join('')}</defs>`,
      `<rect width="${width}" height="${height}" fill="${xmlText(ground)}"/>`, ...this.parts, '</svg>'].join('\n');
  }
}
