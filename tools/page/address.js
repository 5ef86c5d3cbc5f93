// SPDX-License-Identifier: Apache-2.0
// The page's address: what is shown is written behind its # a moment after the last change, and read when somebody comes with it.
import { linkOf, stateOf } from './links.js';
import { nearestBehind } from './neighbours.js';
import { trouble } from './whole.js';
/** @import { Step } from './head.js' */
/** @import { Page } from './page.js' */

const WRITE_AFTER_MS = 250;

/** A page in a notebook's frame has no address of its own. @param {string} hash */
function putHash(hash) {
  try {
    history.replaceState(null, '', `#${hash}`);
  } catch {
    // the browser refuses it there, and there is nothing to copy
  }
}

export class Address {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.timer = 0;
  }

  write() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      const { page } = this, { timeline, head } = page, { view, selection, focus } = timeline, isWhole = view.from <= 0 && view.to >= head.length;
      const hash = linkOf({ id: page.id, ...(isWhole ? {} : { view }), ...(selection ? { selection } : {}), ...(focus ? { focus } : {}), ...(page.step && !isWhole ? { step: page.step.number } : {}),
        tab: page.tabs.current, search: page.search, path: timeline.path !== null, ...(page.cursor.at === undefined ? {} : { at: page.cursor.at }) });
      if (`#${hash}` !== location.hash) putHash(hash);
    }, WRITE_AFTER_MS);
  }

  /** All that an address says, and nothing of what was there before. */
  read() {
    const { page } = this, { head, timeline } = page, state = stateOf(location.hash, { length: head.length, tracks: head.tracks.length });
    if (state.id && state.id !== page.id) trouble('This link was made for another profile', 'It may point anywhere in this one.');
    const from = state.view?.from ?? 0, far = (/** @type {Step} */ each) => (each.process === page.process ? 0 : 1) + Math.abs(each.begin - from);
    const step = head.steps.filter(each => each.number === state.step).sort((a, b) => far(a) - far(b))[0] ?? null; // of several processes the one in view
    if (step) page.goStep(step);
    else page.step = null;
    if (state.view) timeline.show(state.view.from, state.view.to);
    else if (!step) timeline.whole();
    page.cursor.at = state.at;
    page.setSearch(state.search ?? '', true);
    page.tabs.choose(state.tab ?? '');
    if (Boolean(state.path) !== (timeline.path !== null)) page.togglePath();
    if (state.selection || timeline.selection) {
      page.isQuiet = state.tab !== undefined;
      timeline.select(state.selection ?? null);
    }
    if (state.focus) this.focusAt(state.focus.track, state.focus.begin).catch(() => {});
    else timeline.setFocus(null);
  }

  /** @param {number} track @param {number} begin */
  async focusAt(track, begin) {
    const { timeline, profile } = this.page, found = await nearestBehind(profile, track, begin - 1, 1, (block, i) => block.begin[i] === begin);
    if (found && found.begin === begin && !(timeline.focus?.begin === begin && timeline.focus.track === track)) timeline.setFocus(found);
  }
}
