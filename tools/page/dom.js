// SPDX-License-Identifier: Apache-2.0
// Elements. Text from a profile becomes text nodes and attributes of a closed list only, never markup; styles are set
// through element.style, which the page's policy allows.

const LEAST_PART = 0.004; // of a bar: what is less would be a pixel's noise

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {{class?: string, style?: Record<string, string>, on?: Record<string, (event: any) => void>,
 *             [attribute: string]: unknown}} Attributes */

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Attributes} [attributes] @param {(Child | Child[])[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'on') {
      for (const [type, listener] of Object.entries(attributes.on ?? {})) element.addEventListener(type, listener);
    } else if (key === 'style') {
      for (const [property, of] of Object.entries(attributes.style ?? {})) element.style.setProperty(property, of);
    } else if (value !== undefined && value !== null && value !== false) {
      element.setAttribute(key, value === true ? '' : String(value));
    }
  }
  element.append(...kept(children));
  return element;
}

/** @param {(Child | Child[])[]} children */
function kept(children) {
  /** @type {(Node | string)[]} */
  const out = [];
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    out.push(child instanceof Node ? child : String(child));
  }
  return out;
}

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element ${id}`);
  return element;
}

/** @param {string} id @returns {HTMLCanvasElement} */
export function canvasById(id) {
  return /** @type {HTMLCanvasElement} */ (byId(id));
}

/** @param {string} id @returns {HTMLInputElement} */
export function inputById(id) {
  return /** @type {HTMLInputElement} */ (byId(id));
}

/** A button that a mouse, a finger and a key press alike. @param {Child | Child[]} text @param {() => void} act
 * @param {Attributes} [attributes] */
export function button(text, act, attributes = {}) {
  return h('button', { type: 'button', on: { click: act }, ...attributes }, text);
}

/** A bar of parts, as shares of `whole`. @param {[string, number][]} parts token and amount @param {number} whole
 * @param {string} [label] what a screen reader says */
export function meter(parts, whole, label) {
  return h('span', { class: 'meter', role: label ? 'img' : undefined, 'aria-label': label, 'aria-hidden': label ? undefined : 'true' },
    parts.filter(([, amount]) => amount > whole * LEAST_PART).map(([token, amount]) => h('span', {
      style: { background: `var(--${token})`, width: `${Math.min(100, 100 * amount / Math.max(whole, 1e-9))}%` },
    })));
}

/** Rows of a name, a bar of parts as shares of the longest, and figures, the first of them bold.
 * @param {{name: Child, parts: [string, number][], figures: string[], isMinor?: boolean}[]} rows @param {string} [kind] */
export function bars(rows, kind = '') {
  const whole = rows.reduce((most, { parts }) => Math.max(most, sumOf(parts, part => part[1])), 1);
  return h('div', { class: `rows ${kind}` }, rows.map(({ name, parts, figures, isMinor }) => h('div', { class: isMinor ? 'minor' : undefined }, h('span', { class: 'name' }, name),
    meter(parts, whole), figures.map((figure, i) => h(i || figures.length < 2 ? 'span' : 'b', {}, figure)))));
}

/** @template T @param {Iterable<T>} list @param {(each: T) => number} of */
export function sumOf(list, of) {
  let sum = 0;
  for (const each of list) sum += of(each);
  return sum;
}

/** A list of terms. @param {([string, Child, boolean?] | null | false)[]} rows the third: hidden on narrow pages */
export function terms(rows) {
  return h('dl', {}, rows.flatMap(row => {
    if (!row) return [];
    const attributes = { class: row[2] ? 'minor' : undefined };
    return [h('dt', attributes, row[0]), h('dd', attributes, row[1])];
  }));
}

/** A sentence where a panel has nothing to show. @param {Child[]} text */
export function empty(...text) {
  return h('p', { class: 'empty' }, ...text);
}

/** Sizes a canvas for its element once a frame; setting the size clears it, so only where it changed.
 * @param {HTMLCanvasElement} canvas @param {number} height CSS pixels */
export function fitCanvas(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth || 800;
  if (canvas.style.height !== `${height}px`) canvas.style.height = `${height}px`;
  const w = Math.round(width * ratio), hh = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== hh) {
    canvas.width = w;
    canvas.height = hh;
  }
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width };
}
