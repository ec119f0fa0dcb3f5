'use strict';
// Answers in binary columns, as `render/columns.rs` of the library describes them.
import { call } from './host/call.js';

/** @typedef {{header: any, columns: Record<string, Float64Array | Uint32Array>}} Columns */

/**
 * Asks for stacks in columns.
 * @param {'flame' | 'diff'} question
 * @param {object} request
 * @param {AbortSignal} [signal]
 * @returns {Promise<Columns>}
 */
export async function askColumns(question, request, signal) {
  const headers = { 'content-type': 'application/json', accept: 'application/vnd.sto.columns' };
  const options = { method: 'POST', headers, body: JSON.stringify(request), signal };
  const response = await call(`/api/v1/columns/${question}`, options);
  return decode(await response.arrayBuffer());
}

/**
 * @param {ArrayBuffer} buffer
 * @returns {Columns}
 */
export function decode(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  /** @type {Columns['columns']} */
  const columns = {};
  let at = 4 + length;
  for (const { name, type } of header.columns) {
    const column = type === 'f64' ? new Float64Array(buffer, at, header.nodes) : new Uint32Array(buffer, at, header.nodes);
    columns[name] = column;
    at += column.byteLength;
  }
  return { header, columns };
}
