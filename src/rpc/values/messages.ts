import { decode, encode } from '@msgpack/msgpack';
import { MAX_HEAD_BYTE_LENGTH } from '../limits.ts';
import { headTooLarge, malformed, type WireValues } from './wire-values.ts';

/** The second number of each head; the first counts the messages of a side. */
export const MessageType = {
  call: 1,
  result: 2,
  failure: 3,
  cancel: 4,
  release: 5,
  /** Bytes of a body that began with an earlier message. */
  piece: 6,
  /** The sender has taken so many bytes of bodies. */
  credit: 7,
  /** The rest of a body does not come. */
  abandon: 8,
  bye: 9,
} as const;

/** Tensors of a message: in its own frame (`stream` 0), or in pieces that follow. */
export interface BodyPlan {
  readonly blobByteLengths: readonly number[];
  readonly stream: number;
}

export type Message =
  | ({
      readonly type: typeof MessageType.call;
      readonly call: number;
      /** A handle of the other side, or the name of one of its methods. */
      readonly target: number | string;
      readonly keep: boolean;
      readonly values: WireValues;
    } & BodyPlan)
  | ({
      readonly type: typeof MessageType.result;
      readonly call: number;
      readonly values: WireValues;
    } & BodyPlan)
  | { readonly type: typeof MessageType.failure; readonly call: number; readonly error: unknown }
  | { readonly type: typeof MessageType.cancel; readonly call: number }
  | {
      readonly type: typeof MessageType.release;
      readonly handle: number;
      /** How often it was received. */
      readonly count: number;
    }
  | { readonly type: typeof MessageType.piece; readonly stream: number }
  | { readonly type: typeof MessageType.credit; readonly byteCount: number }
  | { readonly type: typeof MessageType.abandon; readonly stream: number }
  | { readonly type: typeof MessageType.bye; readonly error: unknown };

/** Throws LimitError for a head beyond {@link MAX_HEAD_BYTE_LENGTH}. */
export function encodeMessage(sequence: number, message: Message): Uint8Array {
  return encodeHead([sequence, message.type, ...fieldsOf(message)]);
}

function fieldsOf(message: Message): readonly unknown[] {
  switch (message.type) {
    case MessageType.call: {
      const { call, target, keep, values, blobByteLengths, stream } = message;
      return [call, target, keep, values.nodes, values.roots, blobByteLengths, stream];
    }
    case MessageType.result: {
      const { call, values, blobByteLengths, stream } = message;
      return [call, values.nodes, values.roots, blobByteLengths, stream];
    }
    case MessageType.failure:
      return [message.call, message.error];
    case MessageType.cancel:
      return [message.call];
    case MessageType.release:
      return [message.handle, message.count];
    case MessageType.piece:
    case MessageType.abandon:
      return [message.stream];
    case MessageType.credit:
      return [message.byteCount];
    case MessageType.bye:
      return [message.error];
    default:
      return message satisfies never;
  }
}

/** Throws ProtocolError for what is no message. */
export function decodeMessage(head: Uint8Array): { sequence: number; message: Message } {
  const [sequence, type, a, b, c, d, e, f, g] = decodeHead(head);
  return { sequence: count(sequence), message: messageOf(type, [a, b, c, d, e, f, g]) };
}

function messageOf(type: unknown, [a, b, c, d, e, f, g]: readonly unknown[]): Message {
  switch (type) {
    case MessageType.call: {
      const target = typeof b === 'string' ? b : count(b);
      const plan = { blobByteLengths: counts(f), stream: count(g) };
      return { type, call: count(a), target, keep: c === true, values: values(d, e), ...plan };
    }
    case MessageType.result: {
      const plan = { blobByteLengths: counts(d), stream: count(e) };
      return { type, call: count(a), values: values(b, c), ...plan };
    }
    case MessageType.failure:
      return { type, call: count(a), error: b };
    case MessageType.cancel:
      return { type, call: count(a) };
    case MessageType.release:
      return { type, handle: count(a), count: count(b) };
    case MessageType.piece:
    case MessageType.abandon:
      return { type, stream: count(a) };
    case MessageType.credit:
      return { type, byteCount: count(a) };
    case MessageType.bye:
      return { type, error: a };
    default:
      throw malformed(`a message of type ${String(type)}`);
  }
}

function values(nodes: unknown, roots: unknown): WireValues {
  if (!Array.isArray(nodes)) throw malformed('values that are not a list');
  return { nodes, roots: counts(roots) };
}

function count(value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw malformed('a value that is not a count');
}

function counts(list: unknown): number[] {
  if (!Array.isArray(list)) throw malformed('a value that is not a list');
  return list.map(count);
}

/** Encodes a list as MessagePack. */
export function encodeHead(fields: readonly unknown[]): Uint8Array {
  const head = encode(fields, { ignoreUndefined: true });
  if (head.byteLength <= MAX_HEAD_BYTE_LENGTH) return head;
  throw headTooLarge(head.byteLength);
}

/** The inverse of {@link encodeHead}. Throws ProtocolError. */
export function decodeHead(
  head: Uint8Array,
  maxByteLength: number = MAX_HEAD_BYTE_LENGTH,
): unknown[] {
  if (head.byteLength > maxByteLength) throw malformed(`a head of ${head.byteLength} bytes`);
  let fields: unknown;
  try {
    fields = decode(head);
  } catch {
    throw malformed('bytes that are not MessagePack');
  }
  if (!Array.isArray(fields)) throw malformed('a head that is not a list');
  return fields as unknown[];
}
