// SPDX-License-Identifier: Apache-2.0
// The keyboard map, once: what a key does and what the help says of it. Keys work wherever no field, button or table has
// the focus; those in `onCanvas` mean something else to a page, so they need the timeline's focus.
import { button, h } from './dom.js';
/** @import { Timeline } from './timeline.js' */

/** @typedef {{timeline: Timeline, step: (direction: 1 | -1) => void, find: () => void, findNext: (direction: 1 | -1) => void,
 *             togglePath: () => void, toggleArrows: () => void, toggleWhatif: () => void, help: () => void,
 *             letGo: () => void}} Actions */
/** @typedef {{keys: string[], act: (actions: Actions, times: number) => void, onCanvas?: boolean}} Key */

const MOVE = 0.1, CLOSER = 0.8, MORE = 5;

/** @param {Actions} actions @param {number} share */
function move({ timeline }, share) {
  timeline.move((timeline.view.to - timeline.view.from) * share);
}

/** @param {() => Promise<void>} act */
function later(act) {
  act().catch(() => {}); // what is damaged was told
}

/** @type {Key[]} keys as KeyboardEvent.key has them, in lower case */
const KEYS = [
  { keys: ['w', '+', '='], act: ({ timeline }, times) => timeline.zoom(CLOSER ** times) },
  { keys: ['s', '-', '_'], act: ({ timeline }, times) => timeline.zoom(CLOSER ** -times) },
  { keys: ['a', 'arrowleft'], act: (actions, times) => move(actions, -MOVE * times) },
  { keys: ['d', 'arrowright'], act: (actions, times) => move(actions, MOVE * times) },
  { keys: ['m'], act: ({ timeline }) => timeline.selectFocus() },
  { keys: ['<', 'shift+,'], act: ({ timeline }) => later(() => timeline.extend(-1)) },
  { keys: ['>', 'shift+.'], act: ({ timeline }) => later(() => timeline.extend(1)) },
  { keys: [','], act: ({ timeline }) => later(() => timeline.focusBeside(-1)) },
  { keys: ['.'], act: ({ timeline }) => later(() => timeline.focusBeside(1)) },
  { keys: ['k'], act: ({ timeline }) => later(() => timeline.focusRow(-1)) },
  { keys: ['j'], act: ({ timeline }) => later(() => timeline.focusRow(1)) },
  { keys: ['f'], act: ({ timeline }) => timeline.fitChosen() },
  { keys: [' '], act: ({ timeline }) => timeline.fitChosen(), onCanvas: true },
  { keys: ['0'], act: ({ timeline }) => timeline.whole() },
  { keys: ['home'], act: ({ timeline }) => timeline.whole(), onCanvas: true },
  { keys: ['/'], act: actions => actions.find() },
  { keys: ['n'], act: actions => actions.findNext(1) },
  { keys: ['shift+n'], act: actions => actions.findNext(-1) },
  { keys: ['['], act: actions => actions.step(-1) },
  { keys: [']'], act: actions => actions.step(1) },
  { keys: ['p'], act: actions => actions.togglePath() },
  { keys: ['e'], act: actions => actions.toggleArrows() },
  { keys: ['h'], act: actions => actions.toggleWhatif() },
  { keys: ['escape'], act: actions => actions.letGo() },
  { keys: ['?'], act: actions => actions.help() },
];

/** Keys whose letter with Shift is another one on each keyboard. */
const SAME_EVERYWHERE = /** @type {Record<string, string>} */ ({ Comma: ',', Period: '.' });

/** Shift makes zooms and moves larger; of other letters it makes another key. @param {KeyboardEvent} event */
function keyOf(event) {
  const key = (event.shiftKey && SAME_EVERYWHERE[event.code]) || event.key.toLowerCase();
  const shifted = event.shiftKey ? KEYS.find(each => each.keys.includes(`shift+${key}`)) : undefined;
  return shifted ?? KEYS.find(each => each.keys.includes(key));
}

/** @param {Element | null} element whether keys go to the page and not to it */
function isFree(element) {
  return !element || element === document.body || element === document.documentElement || element.id === 'timeline' || element.id === 'scroller';
}

/** @param {Actions} actions */
export function listenToKeys(actions) {
  document.addEventListener('keydown', event => {
    const isLetter = event.getModifierState('AltGraph'); // where [ and ] are behind AltGr, which some systems call Ctrl+Alt
    if (((event.ctrlKey || event.altKey) && !isLetter) || event.metaKey || event.defaultPrevented) return;
    const target = document.activeElement, isField = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
    const key = keyOf(event), isModal = document.querySelector('dialog[open]') !== null;
    if (!key || isField || (isModal && !key.keys.includes('?') && !key.keys.includes('escape'))) return;
    const everywhere = ['/', '?', 'escape', '[', ']', 'p', 'e', 'h', 'n', 'shift+n'].some(name => key.keys.includes(name));
    if (!everywhere && !isFree(target)) return;
    if (key.onCanvas && target?.id !== 'timeline') return;
    event.preventDefault();
    key.act(actions, event.shiftKey ? MORE : 1);
  });
}

/** @type {[string, string, string, string][]} action, keyboard, mouse, touch: as the help shows it */
const MAP = [
  ['zoom', 'W S, + \u2212 (Shift: more)', 'wheel where the timeline has the focus, Ctrl+wheel always', 'two fingers'],
  ['move', 'A D, \u2190 \u2192 (Shift: more)', 'Shift+drag, middle drag, Shift+wheel, wheel sideways', 'one finger sideways'],
  ['scroll the page', '\u2191 \u2193, Page keys', 'wheel', 'one finger up and down'],
  ['select a range', 'M on the focused span; Shift+, Shift+. grow it by a span', 'drag', 'long press, then drag'],
  ['focus a span', ', . before, next in its row; K J row above, below', 'click', 'tap'],
  ['fit focus or selection', 'F, Space', 'double click', 'double tap'],
  ['whole run', '0, Home', 'button', 'button'],
  ['search', '/; N, Shift+N next, before', 'field', 'field'],
  ['step before, after', '[ ]', 'click on the steps', 'tap'],
  ['path, arrows, what-if', 'P, E, H', 'buttons', 'buttons'],
  ['let go', 'Escape', 'click on the ground', 'tap on the ground'],
  ['this table', '?', 'button', 'button'],
];

/** @param {HTMLDialogElement} dialog */
export function fillHelp(dialog) {
  dialog.replaceChildren(
    h('h2', {}, 'Keyboard, mouse, touch'),
    h('table', {}, h('thead', {}, h('tr', {}, ['', 'keyboard', 'mouse', 'touch'].map(title => h('th', { scope: 'col' }, title)))),
      h('tbody', {}, MAP.map(([action, ...ways]) => h('tr', {}, h('th', { scope: 'row' }, action), ways.map(way => h('td', {}, way)))))),
    h('p', { class: 'sub' }, 'Work is filled by phase, waits are hatched, tasks and frames outlined. Where spans are narrower than a pixel,'
      + ' a bar from below shows how busy the time was.'),
    button('Close', () => dialog.close()));
}
