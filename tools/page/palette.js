// SPDX-License-Identifier: Apache-2.0
// Colours and the theme. The style sheet names every colour once a theme; canvases read them from there.
import { fitCanvas } from './dom.js';
import { FORM } from './head.js';
/** @import { Kind } from './head.js' */

/** @typedef {Record<string, string>} Palette */

export const PHASES = ['other', 'forward', 'backward', 'update', 'communication'];
/** Parts of a step in the order they are drawn. */
export const PARTS = ['forward', 'backward', 'update', 'communication', 'other'];
const TOKENS = ['page', 'panel', 'line', 'text', 'soft', 'accent', 'label', 'good', 'warn', 'bad', 'path', 'forward', 'backward',
  'update', 'communication', 'other', 'call', 'own0', 'own1', 'own2', 'own3', 'own4', 'own5', 'own6', 'own7'];
export const SANS = '11px system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';
export const MONO = '11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';

/** @type {Palette | null} */
let current = null;

/** @returns {Palette} */
export function palette() {
  if (current) return current;
  const style = getComputedStyle(document.documentElement);
  /** @type {Palette} */
  const found = {};
  for (const token of TOKENS) found[token] = style.getPropertyValue(`--${token}`).trim();
  found.idle = found.line;
  found.dim = found.line;
  found.task = found.soft;
  found.wait = found.soft;
  current = found;
  return found;
}

/** A canvas of the size of its element, on the page's ground. @param {HTMLCanvasElement} canvas @param {number} height */
export function groundOf(canvas, height) {
  const { context: c, width } = fitCanvas(canvas, height), p = palette();
  fill(c, p.page, 0, 0, width, height);
  c.font = SANS;
  c.textBaseline = 'top';
  return { c, p, width };
}

/** @param {CanvasRenderingContext2D} c @param {string | CanvasPattern} colour @param {number} x @param {number} y @param {number} w @param {number} height */
export function fill(c, colour, x, y, w, height) {
  c.fillStyle = colour;
  c.fillRect(x, y, w, height);
}

/** @param {CanvasRenderingContext2D} c @param {string} colour @param {string} text @param {number} x @param {number} y */
export function write(c, colour, text, x, y) {
  c.fillStyle = colour;
  c.fillText(text, x, y);
}

/** Dark is light and light dark, from now on whatever the system says. */
export function turnTheme() {
  const root = document.documentElement;
  root.setAttribute('data-theme', isDark() ? 'light' : 'dark');
  current = null;
}

export function isDark() {
  const chosen = document.documentElement.getAttribute('data-theme');
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

/** Paper is light, whatever the screen is: it has no ground for light words. @param {() => void} changed */
export function lightInPrint(changed) {
  const root = document.documentElement;
  /** @type {string | null} */
  let chosen = null;
  const set = (/** @type {string | null} */ theme) => {
    if (theme) root.setAttribute('data-theme', theme); else root.removeAttribute('data-theme');
    current = null;
    changed();
  };
  addEventListener('beforeprint', () => {
    chosen = root.getAttribute('data-theme');
    set('light');
  });
  addEventListener('afterprint', () => set(chosen));
}

/** Calls back when the system's theme or its forced colours change. @param {() => void} changed */
export function watchTheme(changed) {
  for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) {
    matchMedia(query).addEventListener('change', () => {
      current = null;
      changed();
    });
  }
}

/**
 * The fill of a kind: work by its phase; waits are hatched, tasks and frames outlined, for neither is work.
 * @param {Kind} kind
 */
export function fillOf({ name, phase, form }) {
  if (form === FORM.wait || (form === FORM.engine && /^Wait/.test(name))) return 'wait';
  if (form === FORM.asynchronous || form === FORM.step) return 'task';
  if (form === FORM.operator || form === FORM.engine || phase) return PHASES[phase];
  return 'call';
}
