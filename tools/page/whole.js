// SPDX-License-Identifier: Apache-2.0
// Is the page whole? What its last element says against what is there; and the place above all else where trouble is told.
import { byId, h } from './dom.js';
import { count, wholeName } from './text.js';

/** Sections as elements of the document. */
function dataElements() {
  return /** @type {HTMLElement[]} */ ([...document.querySelectorAll('script[type="application/vnd.mxprof"]')]);
}

export function dataLength() {
  return dataElements().reduce((sum, element) => sum + (element.id === 'x-end' ? 0 : element.textContent?.trim().length ?? 0), 0);
}

/** The last element says how many sections stand before it and how long they are: null, or what does not hold. */
export function cutWords() {
  const end = document.getElementById('x-end'), said = /^(\d+) (\d+)$/.exec(end?.textContent?.trim() ?? '');
  if (!said) return 'its end is missing: it was cut, or changed on its way';
  const sections = dataElements().length - 1, length = dataLength();
  if (Number(said[1]) !== sections || Number(said[2]) !== length) return `it has ${count(sections)} sections of ${count(length)} characters where its end says ${count(Number(said[1]))} of ${count(Number(said[2]))}`;
  return null;
}

/** Tells what is wrong, above all else. @param {string} title @param {string} what */
export function trouble(title, what) {
  const place = byId('trouble');
  if (place.childElementCount >= 8) return;
  place.hidden = false;
  place.append(h('p', {}, h('b', {}, `${title}: `), wholeName(what).slice(0, 500)));
}
