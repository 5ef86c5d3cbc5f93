// SPDX-License-Identifier: Apache-2.0
// What leaves the page, on the reader's machine only: the open table as CSV, the timeline as PNG or as SVG from the same
// lists of rectangles that the canvas took.
import { h } from './dom.js';
import { ROW } from './layout.js';
import { CHARACTER, ticksOf } from './strokes.js';
import { xOf } from './scene.js';
import { csvOf, cutText, name, xmlText } from './text.js';
/** @import { Palette } from './palette.js' */
/** @import { Scene, View } from './scene.js' */
/** @import { Layout } from './layout.js' */
/** @import { Kind } from './head.js' */

const MOST_RECTANGLES = 20000;

/** @param {string} file @param {Blob} blob */
export function save(file, blob) {
  const url = URL.createObjectURL(blob), link = h('a', { href: url, download: file });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** @param {string} file @param {unknown[][]} rows */
export function saveCsv(file, rows) {
  save(file, new Blob([csvOf(rows)], { type: 'text/csv;charset=utf-8' }));
}

/** @param {string} file @param {HTMLCanvasElement} canvas @returns {Promise<void>} */
export function savePng(file, canvas) {
  return new Promise((done, failed) => canvas.toBlob(blob => {
    if (!blob) {
      failed(new Error('the browser made no picture'));
      return;
    }
    save(file, blob);
    done();
  }, 'image/png'));
}

/** @param {number} x */
const digits = x => String(Math.round(x * 100) / 100);

/** A rectangle. @param {number} x @param {number} y @param {number} w @param {number} hh @param {string} more */
function rect(x, y, w, hh, more) {
  return `<rect x="${digits(x)}" y="${digits(y)}" width="${digits(w)}" height="${digits(hh)}"${more}/>`;
}

/** @param {number} x @param {number} y @param {string} fill @param {string} text @param {string} [more] */
function words(x, y, fill, text, more = '') {
  return `<text x="${digits(x)}" y="${digits(y)}" fill="${xmlText(fill)}"${more}>${xmlText(text)}</text>`;
}

/**
 * The view as SVG: text stays text, names are escaped.
 * @param {{scene: Scene, view: View, layout: Layout, kinds: Kind[], selection: {from: number, to: number} | null, title: string}} picture
 * @param {Palette} p @returns {string}
 */
export function svgOf({ scene, view, layout, kinds, selection, title }, p) {
  const { width } = view, height = layout.height, parts = [];
  let drawn = 0;
  parts.push(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="11">`,
    `<title>${xmlText(title)}</title>`, rect(0, 0, width, height, ` fill="${p.page}"`),
    `<clipPath id="time"><rect x="${view.left}" y="0" width="${width - view.left}" height="${height}"/></clipPath>`,
    `<pattern id="wait" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="${p.panel}"/><path d="M-1 7L7-1" stroke="${p.line}" stroke-width="1.6"/></pattern>`, '<g clip-path="url(#time)">');
  for (const row of layout.rows) parts.push(rect(view.left, row.y, width - view.left, row.height - 1, ` fill="${p.panel}"`));
  for (const [fill, list] of scene.rects) {
    const look = fill === 'wait' ? ` fill="url(#wait)" stroke="${p.soft}"` : fill === 'task' ? ` fill="${p.panel}" stroke="${p.soft}"` : ` fill="${p[fill] ?? p.other}"`;
    for (let i = 0; i < list.length && drawn < MOST_RECTANGLES; i += 4, drawn++) parts.push(rect(list[i], list[i + 1], list[i + 2], list[i + 3], look));
  }
  for (const { x, y, room, kind, fill, dim } of scene.labels) {
    const fit = Math.floor(room / CHARACTER);
    if (fit >= 3) parts.push(words(x, y + ROW / 2 + 4, dim ? p.soft : fill === 'wait' || fill === 'task' ? p.text : p.label, cutText(name(kinds[kind].name), fit), ' font-family="ui-monospace, monospace"'));
  }
  if (selection) parts.push(rect(xOf(view, selection.from), 0, Math.max(1, xOf(view, selection.to) - xOf(view, selection.from)), height, ` fill="${p.accent}" fill-opacity="0.14"`));
  parts.push('</g>');
  for (const { x, text } of ticksOf(view)) parts.push(rect(x, 14, 1, 5, ` fill="${p.line}"`), words(x + 3, 11, p.soft, text));
  for (const { text, y, what } of layout.headings) parts.push(words(layout.left && what === 'track' ? 10 : 0, y + 12, what === 'track' ? p.soft : p.text, text));
  parts.push('</svg>');
  return parts.join('\n');
}
