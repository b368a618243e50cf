import { concreteShape } from '../../core/dims/dim.ts';
import { dtypeInfo } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes, ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { completeAttributes, hasSymbols } from '../../ops/attributes.ts';
import { KERNEL_DTYPES } from '../../ops/lowering/placement.ts';
import { fillElements } from '../../ops/elements.ts';
import { WGSL_KERNEL } from '../../ops/program/wgsl-kernel.ts';
import type { Operator } from '../../ops/operator.ts';
import { referenceOf } from '../../ops/tables/references.ts';
import { budgetInForce } from '../ir/compile-budget.ts';
import { evaluateCall, inferOperator } from '../values/evaluate-call.ts';
import { constant } from '../ir/build.ts';
import { type CallExpr, type Expr, formatSpan } from '../ir/expr.ts';
import { SCALAR_OPERATORS } from '../ir/operators/scalar-operators.ts';
import type { Type } from '../ir/type.ts';
import { rewriteBodies } from '../ir/walk/visit.ts';
import { isOperatorCall } from '../ir/operators/operator-name.ts';
import type { Pass } from './pass.ts';
import { grows } from './widen-float16.ts';

/** Tensors beyond this are left to run time: they would only make the executable larger. */
const MAX_BYTES = 64 * 2 ** 20;

/** Numbers that an operator makes of nothing, such as `arange`: a kernel makes them where they are read. */
const MAX_MADE_BYTES = 2 ** 16;

/** A table beyond {@link MAX_MADE_BYTES} of so many times the bytes of each operand is as good as made of nothing. */
const MOST_GROWTH = 4;

/** Weights beyond this stay as small as the model has them. */
const MAX_UNPACKED_BYTES = 2 ** 14;

/** For operators that combine many elements for each result: input times result elements. */
const MAX_WORK = 2 ** 28;

/**
 * Replaces calls of operators on constants by their results, computed with the host references.
 * Constants of one repeated value (splats) stay so wherever the result is one too.
 */
export const foldConstants: Pass = {
  name: 'fold-constants',
  run(module, { types }) {
    return rewriteBodies(module, (expr) => {
      if (!isOperatorCall(expr)) return expr;
      const inputs = constantArgs(expr.args);
      if (inputs === undefined || SCALAR_OPERATORS.has(expr.callee.name)) return expr;
      if (expr.callee.name === WGSL_KERNEL) return expr;
      const op = types.operators.require(expr.callee.name);
      if (referenceOf(op) === undefined || hasSymbols(op, expr.attributes)) return expr;
      const type = concreteType(types.of(expr));
      if (type === undefined) return expr;
      // A device computes it in float32, as `widen-float16` says; what follows is folded behind that.
      if (type.dtype === 'float16' && grows(op.name, expr.args)) return expr;
      const value = foldCall(expr, op, { inputs, type });
      if (value === undefined || overflows(value, inputs)) return expr;
      return constant(value, expr.span);
    });
  },
};

/** Returns true for a result of finite float16 elements that is not finite, as it need not be on the way. */
function overflows(value: HostTensor, inputs: readonly HostTensor[]): boolean {
  const isHalf = ({ dtype }: HostTensor): boolean => dtype === 'float16';
  return isHalf(value) && inputs.every(isHalf) && !isAllFinite(value) && inputs.every(isAllFinite);
}

/** Of the bits of float16 elements, whose exponent is not full. */
function isAllFinite({ elements }: HostTensor): boolean {
  return elements.every((bits: number | bigint) => (Number(bits) & 0x7c00) !== 0x7c00);
}

/** Undefined where an attribute mentions a symbol. */
function concreteType(type: Type): ConcreteTensorType | undefined {
  const shape = type.kind === 'tensor' ? concreteShape(type.shape) : undefined;
  return type.kind === 'tensor' && shape !== undefined ? { dtype: type.dtype, shape } : undefined;
}

function constantArgs(args: readonly Expr[]): HostTensor[] | undefined {
  const values: HostTensor[] = [];
  for (const arg of args) {
    if (arg.kind !== 'constant') return undefined;
    values.push(arg.value);
  }
  return values;
}

interface Fold {
  readonly inputs: readonly HostTensor[];
  readonly type: ConcreteTensorType;
}

function foldCall(
  { attributes, span }: CallExpr,
  op: Operator,
  { inputs, type }: Fold,
): HostTensor | undefined {
  const splat = splatResult(op, attributes, { inputs, type });
  if (splat !== undefined) return splat;
  if (!isCheap(op, { inputs, type })) return undefined;
  budgetInForce()?.startFold(() => formatSpan(span, 'expression'), workOf(op, { inputs, type }));
  return evaluateCall(op, inputs, attributes);
}

/** Elements that are computed with, as an upper bound. */
function workOf(op: Operator, { inputs, type }: Fold): number {
  const largest = Math.max(0, ...inputs.map((input) => input.elementCount));
  const count = elementCount(type.shape);
  return EACH_ONCE.has(op.kind) ? largest + count : largest * count;
}

/** Kinds of operators that look at each element a few times. */
const EACH_ONCE: ReadonlySet<string> = new Set(['elementwise', 'injective', 'reduction']);

/** Keeps the compiler from being slower, or its result larger, than what it is meant to save. */
function isCheap(op: Operator, { inputs, type }: Fold): boolean {
  const tensors = [type, ...inputs];
  const bytes = tensors.map(
    ({ dtype, shape }) => elementCount(shape) * dtypeInfo(dtype).byteLength,
  );
  if (Math.max(...bytes) > (inputs.length === 0 ? MAX_MADE_BYTES : MAX_BYTES)) return false;
  const { storage } = op;
  const hasKernels = tensors.every(({ dtype }) => KERNEL_DTYPES.has(dtype));
  const [made = 0, ...read] = bytes;
  const isTable = op.kind === 'elementwise' && read.every((one) => one * MOST_GROWTH < made);
  if (isTable && hasKernels && made > MAX_MADE_BYTES) return false;
  if (storage?.unpacks === true && hasKernels && made > MAX_UNPACKED_BYTES) return false;
  return EACH_ONCE.has(op.kind) || workOf(op, { inputs, type }) <= MAX_WORK;
}

/** The result as a splat, when the operator's kind says that it is one. */
function splatResult(
  op: Operator,
  attributes: Attributes,
  { inputs, type }: Fold,
): HostTensor | undefined {
  if (inputs.some((input) => !input.isSplat && input.elementCount !== 1)) return undefined;
  const { kind, indexMap } = op;
  if (kind === 'elementwise') {
    const points = inputs.map(
      (input) =>
        new HostTensor(
          input.dtype,
          input.shape.map(() => 1),
          input.elements,
        ),
    );
    const { dtype, shape } = inferOperator(op, points, attributes);
    if (elementCount(shape) !== 1 || dtype !== type.dtype) return undefined;
    return asSplat(type, evaluateCall(op, points, attributes));
  }
  if (kind !== 'injective') return undefined;
  const fill = indexMap?.fill?.(completeAttributes(op, attributes));
  // Operators that find elements by indices also make some.
  if (indexMap?.movesOnly !== true && fill === undefined) return undefined;
  const first = inputs[0];
  const filled = fill === undefined ? undefined : filledPoint(type, fill);
  if (first === undefined) return filled && asSplat(type, filled);
  const value = first.elements[0];
  const isUniform =
    first.dtype === type.dtype &&
    inputs.every((input) => input.elements[0] === value) &&
    (filled === undefined || filled.elements[0] === value);
  return isUniform ? asSplat(type, first) : undefined;
}

/** One element of a number, as the dtype stores it. */
function filledPoint({ dtype }: ConcreteTensorType, fill: number): HostTensor {
  const point = HostTensor.zeros(dtype, [1]);
  fillElements(point, fill);
  return point;
}

function asSplat(type: ConcreteTensorType, point: HostTensor): HostTensor {
  const isSplat = elementCount(type.shape) !== 1;
  return new HostTensor(type.dtype, type.shape, point.elements, isSplat);
}
