import type { Frame } from './channel.ts';
import { MAX_HEAD_BYTE_LENGTH } from '../limits.ts';

/** The largest body of a frame over transports that carry messages of bytes. */
export const PIECE_BYTE_LENGTH = 256 * 1024;
/** Bodies begin at a multiple of it, so that tensors are views of what arrives. */
const ALIGNMENT = 8;
const PREFIX_BYTE_LENGTH = 4;
/** Most bytes that sealing adds. */
const SEAL_BYTE_LENGTH = 64;

export const MAX_FRAME_BYTE_LENGTH =
  PIECE_BYTE_LENGTH + MAX_HEAD_BYTE_LENGTH + PREFIX_BYTE_LENGTH + ALIGNMENT + SEAL_BYTE_LENGTH;

/**
 * A frame as one message: byte length of the head, head, padding, body. `reserved` bytes before it
 * (a multiple of 8) are left to the transport.
 */
export function encodeFrame({ head, body }: Frame, reserved = 0): Uint8Array<ArrayBuffer> {
  const headEnd = PREFIX_BYTE_LENGTH + head.byteLength;
  const bodyStart = align(headEnd);
  const byteLength = body === undefined ? headEnd : bodyStart + body.byteLength;
  const message = new Uint8Array(reserved + byteLength);
  new DataView(message.buffer).setUint32(reserved, head.byteLength, true);
  message.set(head, reserved + PREFIX_BYTE_LENGTH);
  if (body !== undefined) message.set(body, reserved + bodyStart);
  return message;
}

/** The frame of a message, as views; undefined when it is cut. */
export function decodeFrame(message: Uint8Array): Frame | undefined {
  const { buffer, byteOffset, byteLength } = message;
  if (byteLength < PREFIX_BYTE_LENGTH) return undefined;
  const headByteLength = new DataView(buffer, byteOffset).getUint32(0, true);
  const headEnd = PREFIX_BYTE_LENGTH + headByteLength;
  if (headEnd > byteLength) return undefined;
  const bodyStart = align(headEnd);
  const hasBody = headEnd < byteLength && bodyStart <= byteLength;
  return {
    head: message.subarray(PREFIX_BYTE_LENGTH, headEnd),
    body: hasBody ? message.subarray(bodyStart) : undefined,
  };
}

function align(byteLength: number): number {
  return Math.ceil(byteLength / ALIGNMENT) * ALIGNMENT;
}
