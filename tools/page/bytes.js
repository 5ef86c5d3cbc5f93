// SPDX-License-Identifier: Apache-2.0
// The bytes of a section: base64, gzip, columns of varints (docs/page-format.md). Whatever does not
// hold throws Damage with a sentence; nothing here knows of the document, so Node tests it.

/** What is wrong with the page's own bytes: a cut, an edit, a writer that did not keep the format. */
export class Damage extends Error {}

export const MAGIC = 0x3142584d; // "MXB1"
const EXACT = 2 ** 53, LEAST_GZIP = 18;

/** @param {string} text @returns {Uint8Array} */
export function bytesOfBase64(text) {
  const native = /** @type {{fromBase64?: (text: string) => Uint8Array}} */ (/** @type {unknown} */ (Uint8Array));
  try {
    if (native.fromBase64) return native.fromBase64(text);
    const decoded = atob(text), out = new Uint8Array(decoded.length);
    for (let i = 0; i < decoded.length; i++) out[i] = decoded.charCodeAt(i);
    return out;
  } catch {
    throw new Damage('is not base64');
  }
}

/**
 * Reads no further than `limit` bytes, so that no section can fill the memory.
 * @param {Uint8Array} bytes @param {number} limit @returns {Promise<Uint8Array>}
 */
export async function gunzip(bytes, limit) {
  if (bytes.length < LEAST_GZIP) throw new Damage('is cut');
  const blob = new Blob([/** @type {BlobPart} */ (bytes)]);
  const reader = blob.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  /** @type {Uint8Array[]} */
  const parts = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > limit) throw new Damage('is longer than its directory says');
      parts.push(value);
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error instanceof Damage ? error : new Damage('does not decompress: its bytes were changed or cut');
  }
  // Not every runtime minds a member that ends early: its last four bytes are its length.
  const said = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4, 4).getUint32(0, true);
  if (said !== size % 2 ** 32) throw new Damage('is cut');
  if (parts.length === 1) return parts[0];
  const out = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/**
 * The columns of a packed section, each a view of its bytes.
 * @param {Uint8Array} bytes @param {number} least how many columns there must be
 * @returns {{count: number, columns: Uint8Array[]}}
 */
export function columnsOf(bytes, least) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 12 || view.getUint32(0, true) !== MAGIC) throw new Damage('does not begin as a section does');
  const count = view.getUint32(4, true), n = view.getUint32(8, true);
  let at = 12 + 4 * n;
  if (n < least || at > bytes.length) throw new Damage('has too few columns');
  /** @type {Uint8Array[]} */
  const columns = [];
  for (let i = 0; i < n; i++) {
    const length = view.getUint32(12 + 4 * i, true);
    if (at + length > bytes.length) throw new Damage('is shorter than its columns');
    columns.push(bytes.subarray(at, at + length));
    at += length;
  }
  if (at !== bytes.length) throw new Damage('is longer than its columns');
  return { count, columns };
}

/**
 * Unsigned varints, by multiplication, so exact to 2^53; more is refused. `to` says how many there are.
 * @template {Float64Array | Uint32Array | Uint16Array | Uint8Array} T
 * @param {Uint8Array} bytes @param {T} to @param {number} [largest] the first value that is refused
 * @returns {T}
 */
export function varints(bytes, to, largest = EXACT) {
  let at = 0;
  for (let i = 0; i < to.length; i++) {
    let byte = bytes[at++], value = byte & 127;
    if (byte > 127) {
      let scale = 128;
      do {
        byte = bytes[at++];
        value += (byte & 127) * scale;
        scale *= 128;
      } while (byte > 127 && scale < 2 ** 70);
    }
    if (!(value < largest) || at > bytes.length) throw new Damage('has a number out of range');
    to[i] = value;
  }
  if (at !== bytes.length) throw new Damage('has a column of another length than its count');
  return to;
}

/**
 * Zigzag varints.
 * @param {Uint8Array} bytes @param {number} count @returns {Float64Array}
 */
export function signedVarints(bytes, count) {
  const out = varints(bytes, new Float64Array(count));
  for (let i = 0; i < count; i++) {
    const value = out[i];
    out[i] = value % 2 ? -(value + 1) / 2 : value / 2;
  }
  return out;
}

/**
 * @param {Uint8Array} bytes @param {number} count @returns {Float64Array}
 */
export function doubles(bytes, count) {
  if (bytes.length !== 8 * count) throw new Damage('has a column of another length than its count');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), out = new Float64Array(count);
  for (let i = 0; i < count; i++) out[i] = view.getFloat64(8 * i, true);
  return out;
}

/** Running sums in place: what was stored as differences. @param {Float64Array} values @param {number} first */
export function sums(values, first) {
  let at = first;
  for (let i = 0; i < values.length; i++) values[i] = at += values[i];
  return values;
}
