'use strict';
// The library as a WebAssembly module, whose functions `sto-query/wasm/src/exports.rs` describes.

/**
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {(length: number) => number} allocate
 * @property {(address: number, addressLength: number, body: number, bodyLength: number) => number} call
 * @property {() => number} answer
 * @property {() => number} answer_length
 */

export class Library {
  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.exports = /** @type {Exports} */ (/** @type {unknown} */ (new WebAssembly.Instance(module).exports));
  }

  /**
   * Answers a request. After an exception, the library cannot be used any more.
   * @param {string} address
   * @param {Uint8Array} body
   * @returns {{status: number, bytes: Uint8Array<ArrayBuffer>}}
   */
  call(address, body) {
    const name = new TextEncoder().encode(address);
    const status = this.exports.call(this.#write(name), name.length, this.#write(body), body.length);
    return { status, bytes: this.#answer() };
  }

  /** Returns the message of the panic that ended the library; empty if it had no memory left. */
  message() {
    return new TextDecoder().decode(this.#answer());
  }

  /** @param {Uint8Array} bytes */
  #write(bytes) {
    // Numbers of WebAssembly are signed.
    const place = this.exports.allocate(bytes.length) >>> 0;
    if (place === 0) throw new RangeError(`no memory for ${bytes.length} bytes`);
    new Uint8Array(this.exports.memory.buffer, place, bytes.length).set(bytes);
    return place;
  }

  #answer() {
    const place = this.exports.answer() >>> 0;
    return new Uint8Array(this.exports.memory.buffer, place, this.exports.answer_length() >>> 0).slice();
  }
}
