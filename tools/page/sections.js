// SPDX-License-Identifier: Apache-2.0
// The sections of this page: found by name, decoded when looked at. What is damaged is told once each through
// `onproblem`, so that a cut or edited page says which of its parts cannot be read.
import { bytesOfBase64, Damage, gunzip } from './bytes.js';

const HEAD_LIMIT = 64 << 20, LIMIT = 256 << 20;

export class Sections {
  /** @param {(name: string) => string | null} textOf the text of section NAME; null: there is none */
  constructor(textOf) {
    this.textOf = textOf;
    /** @type {Map<string, number>} bytes of a section when decompressed, of those that the head tells */
    this.lengths = new Map();
    /** @type {Map<string, string>} */
    this.problems = new Map();
    /** @type {(name: string, what: string) => void} */
    this.onproblem = () => {};
  }

  /** @param {string} name */
  has(name) {
    return this.textOf(name) !== null;
  }

  /**
   * Rejects with Damage, which was told before.
   * @template T
   * @param {string} name @param {(bytes: Uint8Array) => T} decode @returns {Promise<T>}
   */
  async read(name, decode) {
    try {
      const text = this.textOf(name);
      if (text === null) throw new Damage('is missing');
      return decode(await gunzip(bytesOfBase64(text.trim()), this.limitOf(name)));
    } catch (error) {
      const damage = error instanceof Damage ? error : new Damage(`cannot be read (${String(error)})`);
      this.tell(name, damage.message);
      throw damage;
    }
  }

  /** @param {string} name */
  limitOf(name) {
    return this.lengths.get(name) ?? (name === 'head' ? HEAD_LIMIT : LIMIT);
  }

  /** @param {string} name @param {string} what */
  tell(name, what) {
    if (this.problems.has(name)) return;
    this.problems.set(name, what);
    this.onproblem(name, what);
  }
}

/** The sections of a document, which stand as inert scripts. @param {Document} document */
export function sectionsOf(document) {
  return new Sections(name => document.getElementById(`x-${name}`)?.textContent ?? null);
}
