// SPDX-License-Identifier: Apache-2.0
// The page once its head is read: first screen, timeline and panels, and what ties them together: steps, search, overlays,
// selection and the address.
import { Address } from './address.js';
import { bestPrediction, cards } from './cards.js';
import { comparePanel } from './compare_panel.js';
import { Curves } from './curves.js';
import { byId, button, canvasById, h, inputById } from './dom.js';
import { explainPanel } from './explain_panel.js';
import { saveCsv, savePng, save } from './export.js';
import { describe, flowWords, sayFocus, showTip, wordsOf } from './hover.js';
import { iciclePanel } from './icicle_panel.js';
import { Input } from './input.js';
import { fillHelp, listenToKeys } from './keys.js';
import { processName } from './layout.js';
import { Profile } from './lod.js';
import { memoryPanel } from './memory_panel.js';
import { nextOf } from './neighbours.js';
import { lightInPrint, turnTheme, watchTheme } from './palette.js';
import { pathOf } from './path_data.js';
import { pathPanel } from './path_panel.js';
import { droppedWords, profilePanel } from './profile_panel.js';
import { replayedOf } from './replayed.js';
import { select, Statistics } from './selection.js';
import { histogram, selectionPanel } from './selection_panel.js';
import { medianOf, Strip } from './strip.js';
import { callsPanel, layersPanel, operatorsPanel } from './tables.js';
import { Tabs } from './tabs.js';
import { count, counted, fileName, name, time, wholeName } from './text.js';
import { Timeline } from './timeline.js';
import { predictionsOf, whatifPanel } from './whatif_panel.js';
import { dataLength, trouble } from './whole.js';
/** @import { Head, Step } from './head.js' */
/** @import { Sections } from './sections.js' */
/** @import { Selection } from './selection.js' */
/** @import { Sight } from './explain_panel.js' */
/** @import { Chosen } from './whatif_panel.js' */

const SELECT_AFTER_MS = 60, NAME_LIMIT = 65536;

/** The page once its head is read. */
export class Page {
  /** @param {Head} head @param {Sections} sections @param {string} id */
  constructor(head, sections, id) {
    this.head = head;
    this.sections = sections;
    this.id = id;
    this.profile = new Profile(head, sections);
    this.statistics = new Statistics(this.profile);
    this.curves = new Curves(head, sections);
    this.timeline = new Timeline(canvasById('timeline'), byId('scroller'), this.profile, this.curves);
    /** @type {Selection | null} */
    this.selected = null;
    this.isQuiet = false;
    /** @type {Step | null} */
    this.step = null;
    /** @type {Chosen | null} */
    this.whatif = null;
    /** @type {Promise<Map<number, Map<Step, number>>> | undefined} */
    this.replayed = undefined;
    /** @type {Map<Step, number> | null} what each step gains by it */
    this.gains = null;
    this.search = '';
    /** @type {import('./memory_panel.js').Cursor} */
    this.cursor = { at: undefined, moved: () => this.write() };
    this.address = new Address(this);
    this.selectTimer = 0;
    this.turn = 0;
    /** @type {Strip | null} */
    this.strip = null;
    this.process = head.steps[0]?.process ?? 0;
    const find = (/** @type {string} */ text) => this.setSearch(text, true);
    this.tabs = new Tabs(byId('tabs'), byId('panel'), {
      Explain: () => explainPanel(head, sight => this.show(sight)), Layers: () => layersPanel(head, find), Operators: () => operatorsPanel(head, find),
      Calls: () => callsPanel(head, find), Icicle: () => iciclePanel(head, sections, this.selected?.rows ?? null, find), Memory: () => memoryPanel(head, this.curves, this.timeline, this.cursor),
      Path: () => pathPanel(head, this.timeline.path !== null, () => this.togglePath(), find), 'What-if': () => whatifPanel(head, this.whatif, chosen => this.setWhatif(chosen)),
      Compare: () => comparePanel(head, sections, find), Selection: () => selectionPanel(head, this.selected, this.curves.memory, find),
      Profile: () => profilePanel(head, sections, { bytes: dataLength(), frameMs: this.timeline.drawMs }),
    }, () => this.write());
  }

  open() {
    const { head, timeline } = this;
    byId('title').textContent = name(head.title) === '(no name)' ? 'A profile' : name(head.title).replace(/(\d) (?=[nm\u00b5]?s\b)/g, '$1\u00a0');
    byId('sub').textContent = subtitle(head);
    this.fillSteps();
    this.fillTools();
    fillHelp(/** @type {HTMLDialogElement} */ (byId('help')));
    byId('foot').textContent = `${name(head.file)} \u00b7 ${droppedWords(head)} \u00b7 nothing is taken from the network \u00b7 ? shows all keys`;
    timeline.on('view', () => this.moved());
    timeline.on('focus', () => this.focused());
    timeline.on('selection', () => this.selectSoon());
    new Input(timeline, point => showTip(point && describe(timeline, point.x, point.y), point));
    listenToKeys({ timeline, step: direction => this.strip?.step(direction), find: () => inputById('find').focus(), findNext: direction => { this.findNext(direction).catch(() => {}); },
      togglePath: () => this.togglePath(), toggleArrows: () => this.toggleArrows(), toggleWhatif: () => this.toggleWhatif(), help: () => this.help(), letGo: () => this.letGo() });
    watchTheme(() => this.retheme());
    lightInPrint(() => this.retheme());
    window.addEventListener('hashchange', () => this.address.read());
    this.address.read();
    byId('plain').hidden = true;
    byId('page').hidden = false;
    timeline.draw();
    performance.mark('drawn');
    timeline.on('drawn', () => this.tabsFollow());
  }

  // ---- first screen -------------------------------------------------------------------------------
  stepsOf() {
    return this.head.steps.filter(step => step.process === this.process);
  }

  fillSteps() {
    const { head } = this, steps = this.stepsOf(), processes = [...new Set(head.steps.map(step => step.process))];
    byId('cards').replaceChildren(...cards({ head, goStep: step => this.goStep(step), choose: tab => this.tabs.choose(tab) }));
    byId('steps-section').hidden = !steps.length;
    if (processes.length > 1 && !byId('steps-of').firstChild) {
      byId('steps-of').append(h('select', { 'aria-label': 'Steps of which process', on: { change: event => {
        this.chooseProcess(Number(event.target.value));
      } } }, processes.map(process => h('option', { value: String(process), selected: process === this.process }, processName(head, process)))));
    }
    if (!steps.length) return;
    const old = canvasById('steps'), fresh = /** @type {HTMLCanvasElement} */ (old.cloneNode());
    old.replaceWith(fresh);
    this.strip = new Strip(fresh, head, steps, step => this.goStep(step));
  }

  /** @param {number} process whose steps are shown in order */
  chooseProcess(process) {
    this.process = process;
    const chooser = byId('steps-of').querySelector('select');
    if (chooser) chooser.value = String(process);
    this.fillSteps();
    this.moved();
  }

  /** @param {Step} step */
  goStep(step) {
    this.step = step;
    if (step.process !== this.process) this.chooseProcess(step.process);
    if (this.strip) this.strip.at = this.strip.steps.indexOf(step);
    this.timeline.fit({ from: step.begin, to: step.end });
    this.timeline.revealProcess(step.process);
    byId('say').textContent = `step ${step.number}, ${time(step.end - step.begin)}`;
    this.write();
  }

  /** The step nearest to the median of the verdict's window. @param {Step[]} steps */
  typicalStep(steps) {
    const chosen = steps.filter(step => step.isChosen), of = chosen.length ? chosen : steps, median = medianOf(of);
    return of.reduce((best, step) => (!best || Math.abs(step.end - step.begin - median) < Math.abs(best.end - best.begin - median) ? step : best), /** @type {Step | null} */ (null));
  }

  /** Where a cause is seen. @param {Sight} sight */
  show({ search, place, process, overlay, isFirstRun }) {
    const of = process < 0 ? this.process : process, steps = this.head.steps.filter(each => each.process === of), step = (isFirstRun ? steps[0] : this.head.steps[place]) ?? this.typicalStep(steps);
    if (step) {
      this.goStep(step);
      this.isQuiet = true;
      this.timeline.select({ from: step.begin, to: step.end });
    }
    this.setSearch(search, false);
    if (overlay === 'path' && !this.timeline.path) this.togglePath();
    byId('timeline').scrollIntoView({ block: 'nearest' });
    canvasById('timeline').focus({ preventScroll: true });
  }

  // ---- tools --------------------------------------------------------------------------------------
  fillTools() {
    const { timeline, head } = this, field = inputById('find');
    field.addEventListener('input', () => this.setSearch(field.value, false));
    field.addEventListener('keydown', event => {
      if (event.key === 'Enter') this.findNext(event.shiftKey ? -1 : 1).catch(() => {});
      if (event.key !== 'Escape' && event.key !== 'Enter') return;
      if (event.key === 'Escape') this.setSearch('', true);
      canvasById('timeline').focus();
      event.preventDefault();
    });
    this.pathButton = button(keyed('Path', 'P'), () => this.togglePath(), { 'aria-pressed': 'false', disabled: !head.path?.steps.length });
    this.arrowButton = button(keyed('Arrows', 'E'), () => this.toggleArrows(), { 'aria-pressed': 'true' });
    this.whatifButton = button(keyed('What-if', 'H'), () => this.toggleWhatif(), { 'aria-pressed': 'false', disabled: !bestPrediction(head) });
    byId('tools').append(button(keyed('Whole run', '0'), () => timeline.whole()), this.pathButton, this.whatifButton, this.arrowButton,
      button('CSV', () => this.exportCsv(), { title: 'The open table as CSV' }), button('PNG', () => {
        savePng(fileName(head.file, 'timeline', 'png'), timeline.canvas).catch(error => trouble('No picture was made', String(error)));
      }, { title: 'The timeline as a picture' }), button('SVG', () => {
        this.exportSvg().catch(error => trouble('No drawing was made', String(error)));
      }, { title: 'The timeline as a drawing' }),
      button('\u25d0', () => {
        turnTheme();
        this.retheme();
      }, { 'aria-label': 'Dark or light' }), button('?', () => this.help(), { 'aria-label': 'Keys, mouse, touch' }));
  }

  exportCsv() {
    const rows = this.tabs.live?.csv?.() ?? [['nothing to export here']];
    saveCsv(fileName(this.head.file, this.tabs.current.toLowerCase(), 'csv'), rows);
  }

  async exportSvg() {
    const { timeline, head } = this;
    save(fileName(head.file, 'timeline', 'svg'), new Blob([await timeline.svg(head.title)], { type: 'image/svg+xml' }));
  }

  retheme() {
    this.timeline.invalidate();
    this.strip?.draw();
    this.tabs.live?.redraw?.();
  }

  help() {
    const dialog = /** @type {HTMLDialogElement} */ (byId('help'));
    if (dialog.open) dialog.close(); else dialog.showModal();
  }

  letGo() {
    const dialog = /** @type {HTMLDialogElement} */ (byId('help'));
    if (dialog.open) dialog.close();
    else this.timeline.letGo();
  }

  // ---- overlays -----------------------------------------------------------------------------------
  togglePath() {
    const { timeline, head } = this;
    if (timeline.path) {
      timeline.path = null;
      this.overlaid();
    } else if (head.path?.steps.length) {
      this.sections.read('p', bytes => pathOf(bytes, head)).then(path => {
        timeline.path = path;
        this.overlaid();
      }, () => {}); // sections said so
    }
  }

  toggleArrows() {
    this.timeline.hasArrows = !this.timeline.hasArrows;
    this.overlaid();
  }

  toggleWhatif() {
    if (this.whatif) this.setWhatif(null);
    else {
      const all = predictionsOf(this.head);
      if (all.length) this.setWhatif(all.reduce((best, row) => (row.prediction.gain_ns > best.prediction.gain_ns ? row : best)).chosen);
    }
  }

  /** @param {Chosen | null} chosen */
  setWhatif(chosen) {
    this.whatif = chosen;
    this.gains = null;
    this.overlaid();
    if (chosen && this.head.sizes.has('w')) {
      this.replayed ??= this.sections.read('w', bytes => replayedOf(bytes, this.head));
      this.replayed.then(all => {
        if (this.whatif !== chosen) return;
        this.gains = all.get(chosen.place) ?? null;
        this.moved();
      }, () => {}); // sections said so
    }
  }

  overlaid() {
    const { timeline } = this;
    this.applyFind();
    this.pathButton?.setAttribute('aria-pressed', String(timeline.path !== null));
    this.arrowButton?.setAttribute('aria-pressed', String(timeline.hasArrows));
    this.whatifButton?.setAttribute('aria-pressed', String(this.whatif !== null));
    timeline.invalidate();
    this.moved();
    if (this.tabs.current === 'Path' || this.tabs.current === 'What-if') this.tabs.refresh();
  }

  // ---- search -------------------------------------------------------------------------------------
  /** @param {string} text @param {boolean} inField whether the field is to show it, too */
  setSearch(text, inField) {
    const shown = text.trim().slice(0, 200), field = inputById('find');
    if (inField || field.value.trim() !== shown) field.value = shown;
    this.search = shown;
    this.applyFind();
    this.tabs.setFilter(shown);
    this.write();
  }

  /** What is bright: what was searched for, else what the what-if changes. */
  applyFind() {
    const { head, timeline } = this, text = this.search.toLowerCase();
    const kinds = new Set(head.kinds.flatMap((kind, i) => ([kind.name, kind.scope, kind.category].some(part => part.toLowerCase().includes(text)) ? [i] : [])));
    timeline.find = text ? kinds : this.whatif?.kinds.size ? this.whatif.kinds : null;
    let spans = 0;
    for (const kind of kinds) spans += head.stats[kind].count;
    byId('found').textContent = text ? counted(spans, 'span') : '';
    timeline.invalidate();
  }

  /** @param {1 | -1} direction */
  async findNext(direction) {
    const { timeline } = this;
    if (!timeline.find?.size) return;
    const from = timeline.focus ? timeline.focus.begin : direction > 0 ? timeline.view.from : timeline.view.to;
    const found = await nextOf(this.profile, timeline.find, from, direction, this.statistics.mayHave(timeline.find));
    if (found) timeline.setFocus(found);
    else byId('say').textContent = 'no further span';
  }

  // ---- what follows -------------------------------------------------------------------------------
  moved() {
    const { timeline, strip, whatif } = this;
    if (strip) {
      strip.marks = { from: timeline.view.from, to: timeline.view.to, line: whatif && whatif.process === this.process ? { ns: whatif.mean, gains: this.gains, word: `${whatif.words}, a step takes ${time(whatif.mean, 3)}` } : null };
      strip.draw();
    }
    this.write();
  }

  /** The memory panel has the timeline's axis. */
  tabsFollow() {
    if (this.tabs.current === 'Memory') this.tabs.live?.redraw?.();
  }

  focused() {
    const { timeline, head } = this, { focus } = timeline, detail = byId('detail');
    sayFocus(timeline);
    detail.hidden = !focus;
    this.write();
    if (!focus) return;
    const [title, ...words] = [...wordsOf(timeline, focus), ...flowWords(timeline)], { name: own } = head.kinds[focus.kind];
    const whole = own.length > 200 ? h('details', {}, h('summary', {}, `whole name, ${count(own.length)} characters`), h('pre', { class: 'whole' }, wholeName(own.slice(0, NAME_LIMIT)))) : null;
    const stat = head.stats[focus.kind], place = h('span');
    detail.replaceChildren(h('b', {}, title), ...words.map(word => h('span', {}, word)), h('span', { class: 'note' }, `${counted(stat.count, 'span')} of this name here: mean ${time(stat.sum / Math.max(1, stat.count), 3)}, p50 ${time(stat.p50, 3)}, p99 ${time(stat.p99, 3)}`),
      place, ...[whole].filter(part => part !== null));
    this.bucketsOf(focus.kind).then(buckets => {
      if (timeline.focus === focus && buckets.size > 1) place.append(histogram(buckets, focus.end - focus.begin));
    }, () => {});
  }

  /** How long all spans of a kind take, of the blocks' statistics. @param {number} kind */
  async bucketsOf(kind) {
    /** @type {Map<number, number>} */
    const buckets = new Map();
    for (let number = 0; number < this.head.blocks.length; number++) {
      for (const row of await this.statistics.ofBlock(number) ?? []) {
        if (row.kind !== kind) continue;
        for (const [bucket, n] of row.buckets) buckets.set(bucket, (buckets.get(bucket) ?? 0) + n);
      }
    }
    return buckets;
  }

  selectSoon() {
    clearTimeout(this.selectTimer);
    this.selectTimer = window.setTimeout(() => {
      this.selectNow().catch(error => trouble('The selection cannot be counted', String(error)));
    }, SELECT_AFTER_MS);
    this.write();
  }

  async selectNow() {
    const { timeline } = this, range = timeline.selection, turn = ++this.turn, isQuiet = this.isQuiet;
    this.isQuiet = false;
    if (this.head.memory.devices.length) await this.curves.loadMemory();
    const selected = range && await select(this.profile, this.statistics, timeline.tracks(), range.from, range.to);
    if (turn !== this.turn) return; // another range was chosen meanwhile
    this.selected = selected;
    if (selected && !isQuiet && !['Selection', 'Icicle', 'Memory'].includes(this.tabs.current)) this.tabs.choose('Selection');
    else if (['Selection', 'Icicle'].includes(this.tabs.current)) this.tabs.refresh();
  }

  write() {
    this.address.write();
  }
}

/** A button's word and, where there is room, its key. @param {string} word @param {string} key */
function keyed(word, key) {
  return [word, h('span', { class: 'minor' }, ` (${key})`)];
}

/** @param {Head} head */
function subtitle(head) {
  const info = new Map(head.processes[0]?.info ?? []), many = head.processes.length > 1 ? `${head.processes.length} processes` : '';
  return [info.get('command'), many, info.get('cpu'), info.get('host')].filter(Boolean).map(part => name(part)).join(' \u00b7 ') || name(head.file);
}
