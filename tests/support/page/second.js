// SPDX-License-Identifier: Apache-2.0
import {
  sections,
} from './first.js';

addEventListener('DOMContentLoaded', () => {
  document.getElementById('plain').dataset.sections = String(sections());
});
