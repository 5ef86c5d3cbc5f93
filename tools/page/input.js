// SPDX-License-Identifier: Apache-2.0
// Mouse, wheel and fingers on the timeline. A wheel without the focus scrolls the page; one finger sideways moves, up and
// down it scrolls (touch-action), two zoom, a long press selects.
/** @import { Timeline } from './timeline.js' */

const DRAG_FROM = 3, TOUCH_FROM = 8, LONG_PRESS_MS = 450, DOUBLE_MS = 350, DOUBLE_WITHIN = 24, ZOOM_PER_PX = 0.002;

/** @typedef {'maybe' | 'move' | 'select' | 'pinch'} Mode */
/** @typedef {{x: number, y: number}} Point */

export class Input {
  /** @param {Timeline} timeline @param {(point: {x: number, y: number, clientX: number, clientY: number} | null) => void} onhover */
  constructor(timeline, onhover) {
    this.timeline = timeline;
    this.canvas = timeline.canvas;
    this.onhover = onhover;
    /** @type {Map<number, Point>} */
    this.pointers = new Map();
    /** @type {Mode | null} */
    this.mode = null;
    this.isTouch = false;
    this.start = { x: 0, y: 0, ns: 0, from: 0, to: 0 };
    this.pinch = { distance: 1, at: 0, from: 0, to: 0 };
    this.timer = 0;
    this.isDragged = false;
    this.lastTap = { time: -1e9, x: 0, y: 0 };
    /** @type {import('./timeline.js').Range | null} what the first click of two let go */
    this.dropped = null;
    this.listen();
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener('wheel', event => this.wheel(event), { passive: false });
    canvas.addEventListener('pointerdown', event => this.down(event));
    canvas.addEventListener('pointermove', event => this.move(event));
    canvas.addEventListener('pointerup', event => this.up(event));
    canvas.addEventListener('pointercancel', event => this.cancel(event));
    canvas.addEventListener('pointerleave', () => this.onhover(null));
    canvas.addEventListener('dblclick', () => this.fit());
    canvas.addEventListener('contextmenu', event => {
      if (this.isTouch) event.preventDefault(); // a long press selects
    });
  }

  /** @param {MouseEvent} event @returns {Point} */
  pointOf(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  perPixel() {
    const { view } = this.timeline;
    return (view.to - view.from) / Math.max(1, view.width - view.left);
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    const { timeline } = this, isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !isSideways && document.activeElement !== this.canvas) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    if (isSideways && !event.ctrlKey) timeline.move((event.deltaX || event.deltaY) * lines * this.perPixel());
    else timeline.zoom(Math.exp(event.deltaY * lines * ZOOM_PER_PX), timeline.nsAt(this.pointOf(event).x));
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button > 1) return;
    const { timeline, canvas } = this, point = this.pointOf(event);
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
    if (event.button === 1) event.preventDefault();
    this.pointers.set(event.pointerId, point);
    this.isTouch = event.pointerType === 'touch';
    const { from, to } = timeline.view;
    if (this.pointers.size === 2) {
      clearTimeout(this.timer);
      this.mode = 'pinch';
      const { distance, middle } = this.spread();
      this.pinch = { distance, at: timeline.nsAt(middle), from, to };
      return;
    }
    this.start = { ...point, ns: timeline.nsAt(point.x), from, to };
    this.mode = event.shiftKey || event.button === 1 ? 'move' : 'maybe';
    this.isDragged = false;
    clearTimeout(this.timer);
    if (this.isTouch) {
      this.timer = window.setTimeout(() => {
        if (this.mode !== 'maybe') return;
        this.mode = 'select';
        this.isDragged = true;
        timeline.select({ from: this.start.ns, to: this.start.ns + this.perPixel() });
      }, LONG_PRESS_MS);
    }
  }

  spread() {
    const [a, b] = [...this.pointers.values()];
    return { distance: Math.max(10, Math.abs(a.x - b.x)), middle: (a.x + b.x) / 2 };
  }

  /** @param {PointerEvent} event */
  move(event) {
    const point = this.pointOf(event), { timeline, start } = this;
    if (!this.pointers.has(event.pointerId)) {
      if (event.pointerType !== 'touch') this.onhover({ ...point, clientX: event.clientX, clientY: event.clientY });
      return;
    }
    this.pointers.set(event.pointerId, point);
    this.onhover(null);
    if (this.mode === 'pinch' && this.pointers.size === 2) {
      this.pinchTo();
      return;
    }
    if (Math.abs(point.x - start.x) > (this.isTouch ? TOUCH_FROM : DRAG_FROM)) this.isDragged = true;
    if (!this.isDragged) return;
    if (this.mode === 'maybe') {
      clearTimeout(this.timer);
      this.mode = this.isTouch ? 'move' : 'select';
    }
    if (this.mode === 'move') {
      const by = (start.x - point.x) * this.perPixel();
      timeline.show(start.from + by, start.to + by);
    } else if (this.mode === 'select') {
      timeline.select({ from: start.ns, to: timeline.nsAt(point.x) });
    }
  }

  /** What was between the fingers stays between them. */
  pinchTo() {
    const { timeline, pinch } = this, { distance, middle } = this.spread(), { view } = timeline;
    const width = (pinch.to - pinch.from) * pinch.distance / distance;
    const share = (middle - view.left) / Math.max(1, view.width - view.left);
    timeline.show(pinch.at - share * width, pinch.at + (1 - share) * width);
  }

  /** @param {PointerEvent} event */
  up(event) {
    const point = this.pointers.get(event.pointerId);
    this.pointers.delete(event.pointerId);
    clearTimeout(this.timer);
    const isClick = this.mode === 'maybe' || (this.mode === 'move' && !this.isDragged && event.button === 0);
    if (this.mode === 'pinch' && this.pointers.size) {
      this.mode = 'move'; // the finger that stays goes on moving
      const [left] = this.pointers.values();
      this.start = { ...left, ns: 0, from: this.timeline.view.from, to: this.timeline.view.to };
      return;
    }
    this.mode = null;
    if (point && isClick) this.click(point, event);
  }

  /** @param {Point} point @param {PointerEvent} event */
  click(point, event) {
    const { timeline, lastTap } = this, place = timeline.hit(point.x, point.y);
    const isDouble = event.timeStamp - lastTap.time < DOUBLE_MS && Math.abs(point.x - lastTap.x) < DOUBLE_WITHIN
      && Math.abs(point.y - lastTap.y) < DOUBLE_WITHIN;
    this.lastTap = { time: isDouble ? -1e9 : event.timeStamp, ...point };
    if (isDouble) {
      if (this.isTouch) this.fit(); // a mouse's comes as dblclick
      return;
    }
    this.dropped = timeline.selection;
    if (place) timeline.focusPlace(place);
    else timeline.letGo();
  }

  /** Two clicks fit the focus, or the selection that the first of them let go. */
  fit() {
    const { timeline, dropped } = this;
    if (!timeline.focus && !timeline.selection && dropped) timeline.select(dropped);
    timeline.fitChosen();
  }

  /** @param {PointerEvent} event */
  cancel(event) {
    this.pointers.delete(event.pointerId);
    clearTimeout(this.timer);
    this.mode = null;
  }
}
