import { RuntimeError } from '../../core/errors.ts';
import type { NodeAttributes, NodeType } from '../../core/contracts/node-function.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import {
  AdtValue,
  discard,
  FloatValue,
  isValue,
  type PackedFunction,
  PackedFunctionValue,
  type Value,
} from '../values/value.ts';
import type { VmState } from '../vm-state.ts';

/**
 * A value, or JavaScript in its place. A number that is a safe integer is
 * an int, any other a float; a boolean is 0 or 1; a HostTensor is uploaded to device 0; a
 * function becomes a packed function, an array a tuple, and `{ constructor, fields }` data.
 */
export type HostInput =
  | Value
  | boolean
  | HostTensor
  | HostFunction
  | HostData
  | readonly HostInput[];

/** A value of an algebraic data type, where the program declares one. */
export interface HostData {
  readonly constructor: string;
  /** Its fields, in order. */
  readonly fields: readonly HostInput[];
}

/** The result of a function of the host: nothing is null. */
export type HostResult = HostInput | undefined | void;

/**
 * A JS function that a program can call. Arguments are borrowed for the time of the call (until
 * the promise settles, for an async one): `vm.retain` what is kept longer. A tensor that it
 * returns and made with `vm.tensor` stays owned by the function; returning a HostTensor needs no
 * release. Parameters may be narrower than Value; the program must then pass such values.
 */
export type HostFunction = {
  call(...args: Value[]): HostResult | Promise<HostResult>;
}['call'];

/** A function that computes nodes of an ONNX model, those of one operator of another domain. */
export interface HostNodeFunction {
  /** Where models with such nodes are compiled; an executable has it already. */
  readonly type?: NodeType | undefined;
  /**
   * As a {@link HostFunction}, with the inputs of a node, undefined for those that it leaves out, and its
   * attributes. Gives an array where the node has several outputs.
   */
  readonly run: (
    inputs: readonly (Value | undefined)[],
    attributes: NodeAttributes,
  ) => HostResult | Promise<HostResult>;
}

/** Functions that a program may call: by the names that it declares, and `my.domain::Op` for nodes of a model. */
export type HostFunctions = Readonly<Record<string, HostFunction | HostNodeFunction>>;

/** Converts the result of one call, given the arguments of the call. */
export type ConvertResult = (result: HostResult, args: readonly Value[]) => Value;

/**
 * Wraps a JS function for the interpreter loop. `convert` makes values of its results, by default
 * by their kind.
 */
export function adaptHostFunction(
  name: string,
  call: HostFunction,
  state: VmState,
  convert: ConvertResult = (result) => toValue(result, name, state),
): PackedFunction {
  return (...args) => {
    // Its effects beside the result cannot be repeated.
    state.recording?.abandon();
    const result = call(...args);
    if (!isThenable(result)) return convert(result, args);
    return Promise.resolve(result).then((late) => convert(late, args));
  };
}

/** Promises of other realms and libraries too. */
function isThenable(result: HostResult | Promise<HostResult>): result is Promise<HostResult> {
  if (typeof result !== 'object' || result === null || !('then' in result)) return false;
  return typeof result.then === 'function';
}

/** Converts; a value that has to be made (a tensor, a tuple) has no reference yet. */
export function toValue(input: HostResult, where: string, state: VmState): Value {
  if (input === undefined) return null;
  if (isValue(input)) return input === 0 ? 0 : input;
  if (typeof input === 'number') return new FloatValue(input);
  if (typeof input === 'boolean') return input ? 1 : 0;
  if (typeof input === 'function') {
    const name = input.name === '' ? 'anonymous function' : input.name;
    return new PackedFunctionValue(name, adaptHostFunction(name, input, state));
  }
  if (input instanceof HostTensor) return state.upload(input, 0);
  if (Array.isArray(input)) return toTuple(input, where, state);
  throw new RuntimeError({
    where,
    got: `a ${Object.prototype.toString.call(input).slice(8, -1)}`,
    expected: 'a value of the machine, a number, string, boolean, HostTensor, array or function',
  });
}

function toTuple(inputs: readonly HostInput[], where: string, state: VmState): AdtValue {
  const fields: Value[] = [];
  try {
    for (const input of inputs) fields.push(toValue(input, where, state));
    return new AdtValue(0, fields, state.fields);
  } catch (error) {
    for (const field of fields) discard(field);
    throw error;
  }
}
