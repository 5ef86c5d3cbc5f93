// SPDX-License-Identifier: Apache-2.0
// What leaves the page, on the reader's machine only: the open table as CSV, the timeline as PNG or SVG.
import { h } from './dom.js';
import { csvOf } from './text.js';

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
