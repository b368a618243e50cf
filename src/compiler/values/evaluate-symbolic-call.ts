import {
  proveDifferent,
  proveEqual,
  proveLess,
  proveLessEqual,
  simplifyDim,
} from '../../core/dims/dim-algebra.ts';
import { isTooLong } from '../../core/dims/dim-length.ts';
import type { Dim, DimOperator } from '../../core/dims/dim.ts';
import { isDType } from '../../core/tensor/dtype.ts';
import { isSmallFloat } from '../../core/tensor/small-floats.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { broadcastShapes } from '../../core/tensor/shape.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import type { Operator } from '../../ops/operator.ts';
import { referenceOf } from '../../ops/tables/references.ts';
import { evaluateCall } from './evaluate-call.ts';
import { isInteger, SymbolicTensor } from './symbolic-tensor.ts';

/** An operator on the elements at one place; undefined when the result is not known. */
type ElementFunction = (a: Dim, b: Dim, c: Dim) => Dim | undefined;

const apply =
  (op: DimOperator): ElementFunction =>
  (left, right) =>
    simplifyDim({ op, left, right });

/** 1 or 0 where one of both is proved. */
function decided(isTrue: boolean, isFalse: boolean): Dim | undefined {
  if (isTrue) return 1;
  return isFalse ? 0 : undefined;
}

const FUNCTIONS: Readonly<Record<string, ElementFunction>> = {
  add: apply('add'),
  sub: apply('sub'),
  mul: apply('mul'),
  maximum: apply('max'),
  minimum: apply('min'),
  div: quotient,
  mod: (left, right) =>
    proveDifferent(right, 0) ? simplifyDim({ op: 'mod', left, right }) : undefined,
  neg: (a) => simplifyDim({ op: 'sub', left: 0, right: a }),
  abs: (a) => simplifyDim({ op: 'max', left: a, right: { op: 'sub', left: 0, right: a } }),
  equal: (a, b) => decided(proveEqual(a, b), proveDifferent(a, b)),
  less: (a, b) => decided(proveLess(a, b), proveLessEqual(b, a)),
  greater: (a, b) => decided(proveLess(b, a), proveLessEqual(a, b)),
  less_equal: (a, b) => decided(proveLessEqual(a, b), proveLess(b, a)),
  greater_equal: (a, b) => decided(proveLessEqual(b, a), proveLess(a, b)),
  bitwise_and: (a, b) => (a === 0 || b === 0 ? 0 : a === 1 && b === 1 ? 1 : undefined),
  bitwise_or: (a, b) => (a === 0 ? b : b === 0 ? a : a === 1 && b === 1 ? 1 : undefined),
  logical_not: (a) => decided(proveEqual(a, 0), proveDifferent(a, 0)),
  where: (a, b, c) => (a === 1 ? b : a === 0 ? c : undefined),
};

/** Integer division rounds towards zero, which is downwards only where nothing is negative. */
function quotient(left: Dim, right: Dim): Dim | undefined {
  const isPositive = proveLessEqual(0, left) && proveLessEqual(0, right);
  if (!isPositive || right === 0) return undefined;
  return simplifyDim({ op: 'floordiv', left, right });
}

const BROADCAST_TO = CORE_OPERATORS.require('broadcast_to');

const OUTPUT_IS_BOOL: ReadonlySet<string> = new Set([
  'equal',
  'less',
  'less_equal',
  'greater',
  'greater_equal',
  'logical_not',
]);

/**
 * The result of an operator on tensors of which some have symbolic elements: chains of shape
 * arithmetic become expressions over dimensions. Undefined where the result is not known. Throws
 * ShapeError for calls that the operator refuses.
 */
export function evaluateSymbolicCall(
  op: Operator,
  inputs: readonly SymbolicTensor[],
  attributes: Attributes,
): SymbolicTensor | undefined {
  const { name } = op;
  if (name === 'cast') return castTo(inputs[0], attributes.to);
  if (inputs.length > 0 && op.indexMap?.movesOnly === true) return moved(op, inputs, attributes);
  // A quotient of floats is no integer.
  const divides = name === 'div' || name === 'mod';
  if (divides && !inputs.every(({ dtype }) => isInteger(dtype))) return undefined;
  // Its sign is that of the dividend.
  if (name === 'mod' && attributes.fmod === true) return undefined;
  const fn = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  return fn === undefined ? undefined : elementwise(name, fn, inputs);
}

function castTo(x: SymbolicTensor | undefined, to: unknown): SymbolicTensor | undefined {
  if (x === undefined || typeof to !== 'string' || !isDType(to)) return undefined;
  if (isSmallFloat(to)) return undefined;
  if (to !== 'bool') return new SymbolicTensor(to, x.shape, x.elements);
  const truth = x.elements.map((element) => decided(proveDifferent(element, 0), element === 0));
  return known(to, x.shape, truth);
}

/** Lets the operator's own reference move the positions of elements. */
function moved(
  op: Operator,
  inputs: readonly SymbolicTensor[],
  attributes: Attributes,
): SymbolicTensor | undefined {
  const [first] = inputs;
  if (first === undefined || inputs.some(({ dtype }) => dtype !== first.dtype)) return undefined;
  if (referenceOf(op) === undefined) return undefined;
  const pool = inputs.flatMap(({ elements }) => elements);
  let next = 0;
  const positions = inputs.map((input) => {
    const tensor = input.positions(next);
    next += input.elements.length;
    return tensor;
  });
  const result = evaluateCall(op, positions, attributes);
  const source: ArrayLike<number | bigint> = result.data;
  const elements = Array.from(source, (position) => pool[Number(position)]);
  return known(first.dtype, result.shape, elements);
}

function elementwise(
  op: string,
  fn: ElementFunction,
  inputs: readonly SymbolicTensor[],
): SymbolicTensor | undefined {
  const shape = broadcastShapes(
    inputs.map((input) => input.shape),
    op,
  );
  const wide = inputs.map((input) => moved(BROADCAST_TO, [input], { shape })?.elements ?? []);
  const [a = [], b = [], c = []] = wide;
  const elements = a.map((element, i) => fn(element, b[i] ?? 0, c[i] ?? 0));
  const dtype = inputs[op === 'where' ? 1 : 0]?.dtype ?? 'int64';
  return known(OUTPUT_IS_BOOL.has(op) ? 'bool' : dtype, shape, elements);
}

/** A longer formula is left to the program, which computes elements and reads sizes off them. */
const MAX_OPERATIONS = 64;

function known(
  dtype: SymbolicTensor['dtype'],
  shape: readonly number[],
  elements: readonly (Dim | undefined)[],
): SymbolicTensor | undefined {
  const found: Dim[] = [];
  for (const element of elements) {
    if (element === undefined || isTooLong(element, MAX_OPERATIONS)) return undefined;
    found.push(element);
  }
  return new SymbolicTensor(dtype, shape, found);
}
