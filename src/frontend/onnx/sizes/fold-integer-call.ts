import { evaluateCall, inferOperator } from '../../../compiler/values/evaluate-call.ts';
import { type DType, dtypeInfo, isBigInt, isDType } from '../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../../core/contracts/primitive-function.ts';
import { broadcastShapes, elementCount } from '../../../core/tensor/shape.ts';
import { isSmallFloat } from '../../../core/tensor/small-floats.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import type { Operator } from '../../../ops/operator.ts';
import { referenceOf } from '../../../ops/tables/references.ts';

/** Shape arithmetic is small; what is larger is left to the program. */
const MAX_ELEMENTS = 65_536;

/** The rank of no tensor is higher than this by far; a longer float constant is no shape. */
const MAX_SHAPE_LENGTH = 16;

type IntegerFunction = (a: bigint, b: bigint) => bigint | boolean | undefined;

/** Operators on int64, exact. Undefined: no result (a division by zero). */
const FUNCTIONS: Readonly<Record<string, IntegerFunction>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => (b === 0n ? undefined : a / b),
  maximum: (a, b) => (a > b ? a : b),
  minimum: (a, b) => (a < b ? a : b),
  neg: (a) => -a,
  abs: (a) => (a < 0n ? -a : a),
  equal: (a, b) => a === b,
  less: (a, b) => a < b,
  greater: (a, b) => a > b,
};

/**
 * The result of an operator on constants of which one is an integer or bool, so that ONNX's chains
 * of shape arithmetic vanish while the model is read; undefined where it is not one of those.
 */
export function foldIntegerCall(
  op: Operator,
  inputs: readonly HostTensor[],
  attributes: Attributes,
): HostTensor | undefined {
  if (inputs.some((input) => input.elementCount > MAX_ELEMENTS)) return undefined;
  if (op.name === 'cast') return convert(inputs, attributes);
  if (referenceOf(op) === undefined) return undefined;
  const { name, kind, inputs: specs } = op;
  if (inputs.some((input) => dtypeInfo(input.dtype).category === 'float')) {
    return kind === 'elementwise' && inputs.every(isShapeLike)
      ? evaluateCall(op, inputs, attributes)
      : undefined;
  }
  const isKnown = inputs.every((input, index) =>
    specs[Math.min(index, specs.length - 1)]?.dtypes.includes(input.dtype),
  );
  if (isKnown && (kind === 'injective' || kind === 'elementwise')) {
    const { shape } = inferOperator(op, inputs, attributes);
    if (elementCount(shape) > MAX_ELEMENTS) return undefined;
    return evaluateCall(op, inputs, attributes);
  }
  if (name === 'where') return select(inputs);
  const fn = FUNCTIONS[name];
  return fn === undefined || kind !== 'elementwise' ? undefined : elementwise(fn, inputs);
}

/** Shape arithmetic may pass through float32, as exporters write the least of two lengths. */
function isShapeLike({ dtype, shape, elementCount: count }: HostTensor): boolean {
  return dtype === 'float32' && shape.length <= 1 && count <= MAX_SHAPE_LENGTH;
}

function elementwise(fn: IntegerFunction, inputs: readonly HostTensor[]): HostTensor | undefined {
  const dtype = inputs[0]?.dtype;
  if (dtype === undefined || inputs.some((input) => input.dtype !== dtype)) return undefined;
  const shape = broadcastShapes(
    inputs.map((input) => input.shape),
    'integer arithmetic',
  );
  if (elementCount(shape) > MAX_ELEMENTS) return undefined;
  const [a, b] = inputs.map((input) => broadcast(input, shape));
  const results: bigint[] = [];
  let isBool = false;
  for (let i = 0; i < elementCount(shape); i++) {
    const result = fn(BigInt(a?.[i] ?? 0), BigInt(b?.[i] ?? 0));
    if (result === undefined) return undefined;
    isBool = typeof result === 'boolean';
    results.push(BigInt(result));
  }
  return HostTensor.from(isBool ? 'bool' : dtype, shape, results);
}

function select(inputs: readonly HostTensor[]): HostTensor | undefined {
  const [condition, left, right] = inputs;
  if (condition === undefined || left === undefined || right?.dtype !== left.dtype)
    return undefined;
  const shape = broadcastShapes(
    inputs.map((input) => input.shape),
    'where',
  );
  if (elementCount(shape) > MAX_ELEMENTS) return undefined;
  const [c, a, b] = inputs.map((input) => broadcast(input, shape));
  const results = Array.from({ length: elementCount(shape) }, (_, i) =>
    Number(c?.[i] ?? 0) === 0 ? (b?.[i] ?? 0) : (a?.[i] ?? 0),
  );
  return HostTensor.from(left.dtype, shape, results);
}

function broadcast(tensor: HostTensor, shape: readonly number[]): ArrayLike<number | bigint> {
  return evaluateCall(CORE_OPERATORS.require('broadcast_to'), [tensor], { shape }).data;
}

function convert(inputs: readonly HostTensor[], attributes: Attributes): HostTensor | undefined {
  const from = inputs[0];
  const to = attributes['to'];
  if (from === undefined || typeof to !== 'string' || !isDType(to)) return undefined;
  if (from.dtype === to) return from;
  if (isSmallFloat(from.dtype) || isSmallFloat(to)) return undefined;
  const source: ArrayLike<number | bigint> = from.data;
  const values: (number | bigint)[] = [];
  for (let i = 0; i < source.length; i++) {
    const value = convertElement(source[i] ?? 0, to);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return HostTensor.from(to, from.shape, values);
}

function convertElement(value: number | bigint, to: DType): number | bigint | undefined {
  if (to === 'bool') return Number(value) === 0 ? 0 : 1;
  if (dtypeInfo(to).category === 'float') return Number(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return undefined;
  const integer = BigInt(typeof value === 'number' ? Math.trunc(value) : value);
  return isBigInt(to) ? integer : Number(integer);
}
