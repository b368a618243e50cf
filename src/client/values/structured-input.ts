import { UsageError } from '../../core/errors.ts';
import { OpaqueValue } from '../../core/contracts/opaque-value.ts';
import type { WireValue } from '../../worker/protocol/wire-value.ts';
import { DeviceTensor } from './device-tensor.ts';
import type { WiredValue } from './input-value.ts';
import type { DataInput, FunctionInput, InputValue } from './session-value.ts';
import { Tensor } from './tensor.ts';

type Structured = DataInput | readonly InputValue[];

/** Takes the functions and the objects of the page among the fields. */
export interface FunctionArguments {
  wire(fn: FunctionInput, where: string): WireValue;
  wireObject(value: OpaqueValue): WireValue;
}

/** Returns true if an input is a tuple or data. */
export function isStructured(value: unknown): value is Structured {
  if (Array.isArray(value)) return true;
  if (typeof value !== 'object' || value === null || !('fields' in value)) return false;
  return typeof value.constructor === 'string' && Array.isArray(value.fields);
}

interface Open {
  readonly name: string;
  readonly inputs: readonly InputValue[];
  readonly fields: WireValue[];
}

/**
 * A tuple or data as it goes to the worker, with copies of the elements of its tensors. Iterative, because
 * lists are nested as deep as they are long. Throws UsageError for a field that is no value.
 */
export function wireStructured(
  root: Structured,
  where: string,
  bridge?: FunctionArguments,
): WiredValue {
  const stack: Open[] = [open(root)];
  for (;;) {
    const top = stack[stack.length - 1] as Open;
    const input = top.inputs[top.fields.length];
    if (top.fields.length < top.inputs.length) {
      if (isStructured(input)) stack.push(open(input));
      else top.fields.push(wireLeaf(input, where, bridge));
      continue;
    }
    stack.pop();
    const wire: WireValue = { kind: 'adt', tag: 0, name: top.name, fields: top.fields };
    const outer = stack[stack.length - 1];
    if (outer === undefined) return { wire };
    outer.fields.push(wire);
  }
}

function open(value: Structured): Open {
  return 'fields' in value
    ? { name: value.constructor, inputs: value.fields, fields: [] }
    : { name: '', inputs: value, fields: [] };
}

function wireLeaf(value: unknown, where: string, bridge: FunctionArguments | undefined): WireValue {
  if (typeof value === 'function' && bridge) return bridge.wire(value as FunctionInput, where);
  if (value instanceof OpaqueValue && bridge) return bridge.wireObject(value);
  if (typeof value === 'number') {
    return { kind: Number.isSafeInteger(value) ? 'int' : 'float', value };
  }
  if (typeof value === 'string') return { kind: 'string', value };
  if (value instanceof DeviceTensor) {
    const { handle = -1, dtype, shape } = value;
    return { kind: 'handle', handle, dtype, shape };
  }
  if (value instanceof Tensor) {
    const { dtype, shape, data } = value;
    return { kind: 'tensor', dtype, shape, data: data.slice() };
  }
  throw new UsageError({
    where,
    got: described(value),
    expected:
      'a Tensor, a DeviceTensor, a number, an array, { constructor, fields }, a function or an OpaqueValue',
  });
}

/** A value that is none, in a word or two. */
function described(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return value.constructor === Object ? 'an object' : `the object ${value.constructor.name}`;
}
