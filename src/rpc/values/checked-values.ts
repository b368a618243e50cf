import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { RpcTuple, type RpcValue } from './rpc-value.ts';
import { malformed } from './wire-values.ts';

// Checks of the arguments that the other side sends to the connection's own methods. All throw ProtocolError.

/** Checks a string. */
export function textOf(value: RpcValue | undefined): string {
  if (typeof value === 'string') return value;
  throw malformed('a value that is not a text');
}

/** Checks a number from 0 up. */
export function countOf(value: RpcValue | undefined): number {
  if (typeof value === 'number' && value >= 0) return value;
  throw malformed('a value that is not a number from 0 up');
}

/** Checks a list of values. */
export function tupleOf(value: RpcValue | undefined): RpcTuple {
  if (value instanceof RpcTuple) return value;
  throw malformed('a value that is not a list');
}

/** Checks a tensor of bytes. */
export function bytesOf(value: RpcValue | undefined): Uint8Array {
  if (value instanceof HostTensor && value.dtype === 'uint8' && !value.isSplat) return value.bytes;
  throw malformed('a value that is not bytes');
}

/** Checks an object that came as JSON. */
export function objectOf(
  value: RpcValue | undefined,
  reviver?: (key: string, part: unknown) => unknown,
): Readonly<Record<string, unknown>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(textOf(value), reviver);
  } catch {
    throw malformed('a text that is not JSON');
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
    return parsed as Record<string, unknown>;
  }
  throw malformed('JSON that is not an object');
}
