/**
 * Base64, without a dependency.
 *
 * @module
 */

import { Buffer } from "node:buffer";

/**
 * Encodes bytes.
 *
 * @param bytes The bytes.
 * @returns Them in base64.
 */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
