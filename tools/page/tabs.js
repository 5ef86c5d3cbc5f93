// SPDX-License-Identifier: Apache-2.0
// Panels as tabs of WAI-ARIA: one tab is in the tab order, arrows, Home and End go from one to the next. A panel is made
// when it is chosen; one that cannot be made says why.
import { empty, h } from './dom.js';

/** @typedef {{element: HTMLElement, filter?: (text: string) => void, csv?: () => unknown[][], redraw?: () => void}} Panel */

export class Tabs {
  /** @param {HTMLElement} list @param {HTMLElement} place @param {Record<string, () => Panel | Promise<Panel>>} panels
   * @param {() => void} changed */
  constructor(list, place, panels, changed) {
    this.list = list;
    this.place = place;
    this.panels = panels;
    this.changed = changed;
    this.current = '';
    /** @type {Panel | null} */
    this.live = null;
    this.filter = '';
    this.turn = 0;
    list.append(...Object.keys(panels).map(name => h('button', { type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': place.id, on: { click: () => this.choose(name) } }, name)));
    list.addEventListener('keydown', event => this.key(event));
  }

  get names() {
    return Object.keys(this.panels);
  }

  /** @param {string} name those that are not there choose the first */
  choose(name) {
    this.current = this.names.includes(name) ? name : this.names[0];
    for (const tab of /** @type {HTMLElement[]} */ ([...this.list.children])) {
      const isChosen = tab.textContent === this.current;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
    this.place.setAttribute('aria-labelledby', `tab-${this.current}`);
    this.refresh();
    this.changed();
  }

  /** Makes the chosen panel again. */
  refresh() {
    const turn = ++this.turn;
    const put = (/** @type {Panel} */ panel) => {
      if (turn !== this.turn) return; // another was chosen meanwhile
      this.live = panel;
      const reached = () => [...this.place.querySelectorAll('button, canvas, [tabindex]')], at = reached().findIndex(element => element === document.activeElement);
      this.place.replaceChildren(panel.element);
      panel.redraw?.();
      panel.filter?.(this.filter);
      const again = reached()[at]; // a button that made the panel anew keeps the focus
      if (again instanceof HTMLElement) again.focus({ preventScroll: true });
    };
    Promise.resolve().then(() => this.panels[this.current]()).then(put).catch(error => put({ element: empty(`This panel cannot be shown: ${error instanceof Error ? error.message : String(error)}`) }));
  }

  /** @param {string} text */
  setFilter(text) {
    this.filter = text;
    this.live?.filter?.(text);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { names } = this, at = names.indexOf(this.current);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: names.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.choose(names[(to + names.length) % names.length]);
    const tab = this.list.children[names.indexOf(this.current)];
    if (tab instanceof HTMLElement) tab.focus();
  }
}
