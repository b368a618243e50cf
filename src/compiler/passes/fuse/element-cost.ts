import { applyDimOperator, type Dim } from '../../../core/dims/dim.ts';
import { computedDType, type DType, isBigInt } from '../../../core/tensor/dtype.ts';
import type { ConcreteTensorType, TensorType } from '../../../core/contracts/primitive-function.ts';
import { completeAttributes } from '../../../ops/attributes.ts';
import type { FormulaCall } from '../../../ops/formula/expression.ts';
import { callsFunctions, scalarCost } from '../../../ops/formula/scalar-cost.ts';
import { KERNEL_DTYPES } from '../../../ops/lowering/placement.ts';
import type { CallExpr, Expr } from '../../ir/expr.ts';
import { type Dataflow, isView } from './dataflow.ts';

// Costs in additions, as measured on a software adapter: one takes about 0.3 ns there.

/** An element that is loaded. */
const LOAD = 3;

/** Finding the element of an operand that is broadcast. */
const BROADCAST = 12;

/** An element that a kernel of its own stores. */
const STORE = 24;

/** An operator with functions of its own, or of 64-bit integers. */
const HEAVY = 64;

/** The cost of launching another kernel. */
const LAUNCH = 50_000;

interface Repetition {
  /** The call that gives the producers' result. */
  readonly from: CallExpr;
  readonly anchor: CallExpr;
  /** The calls that would run for each element that the anchor loads. */
  readonly producers: ReadonlySet<CallExpr>;
}

/**
 * Returns true if computing the elements of producers each time an anchor loads one is no slower
 * than storing them once and loading them.
 */
export function isWorthRepeating(dataflow: Dataflow, repetition: Repetition): boolean {
  const loads = loadsOf(dataflow, repetition);
  if (loads === Infinity) return false;
  // Functions with loops inside the loops of an anchor take software adapters minutes to compile.
  if (hasHeavy(dataflow, repetition.producers)) return false;
  if (loads <= 1) return true;
  const cost = costOfElement(dataflow, repetition.producers);
  const count = typicalCount(dataflow.tensorType(repetition.from).shape);
  return loads * cost <= cost + STORE + loads * LOAD + LAUNCH / Math.max(count, 1);
}

/** How often the anchor loads each element that the producers give. */
export function loadsOf(dataflow: Dataflow, { anchor, from, producers }: Repetition): number {
  const op = dataflow.operatorOf(anchor);
  if (op?.fusion === undefined) return Infinity;
  const call = {
    inputs: anchor.args.map((arg) => typicalType(dataflow.tensorType(arg))),
    output: typicalType(dataflow.tensorType(anchor)),
    attributes: completeAttributes(op, anchor.attributes),
  };
  let loads = 0;
  for (const [index, arg] of anchor.args.entries()) {
    const isProduced = arg === from || (arg.kind === 'call' && producers.has(arg));
    if (isProduced) loads += op.fusion.loads(index, call);
  }
  return loads;
}

/** Returns true if a producer is an operator with functions of its own, whose cost is not known. */
export function hasHeavy(dataflow: Dataflow, producers: ReadonlySet<CallExpr>): boolean {
  return [...producers].some(
    (producer) => !isView(producer) && costOfFunction(dataflow, producer) === HEAVY,
  );
}

/** The cost of one element of the producers' result, with its loads. */
function costOfElement(dataflow: Dataflow, producers: ReadonlySet<CallExpr>): number {
  const inputs = new Set<Expr>();
  let cost = 0;
  for (const producer of producers) {
    if (!isView(producer)) cost += costOfCall(dataflow, producer);
    for (const arg of producer.args) {
      if (arg.kind !== 'call' || !producers.has(arg)) inputs.add(arg);
    }
  }
  return cost + inputs.size * LOAD;
}

function costOfCall(dataflow: Dataflow, call: CallExpr): number {
  const op = dataflow.operatorOf(call);
  const output = dataflow.tensorType(call);
  const inputs = call.args.map((arg) => dataflow.tensorType(arg));
  if ([output, ...inputs].some(({ dtype }) => isBigInt(dtype))) return HEAVY;
  const size = typicalCount(output.shape);
  const broadcasts = inputs.filter(({ shape }) => {
    const count = typicalCount(shape);
    return count > 1 && count < size;
  });
  if (op?.scalar === undefined) return HEAVY;
  return costOfFunction(dataflow, call) + broadcasts.length * BROADCAST;
}

/** Returns true if a call computes with 64-bit integers by functions, as division does. */
export function callsWideFunctions(dataflow: Dataflow, call: CallExpr): boolean {
  const scalar = dataflow.operatorOf(call)?.scalar;
  const dtypes = [call, ...call.args].map((expr) => dataflow.tensorType(expr).dtype);
  // Others have no kernels: the call is left to the host.
  if (scalar === undefined || !dtypes.every((dtype) => KERNEL_DTYPES.has(dtype))) return false;
  return dtypes.some(isBigInt) && callsFunctions(scalar, formulaCall(dataflow, call));
}

/** The cost of an elementwise operator's function; 0 for others. */
function costOfFunction(dataflow: Dataflow, call: CallExpr): number {
  const scalar = dataflow.operatorOf(call)?.scalar;
  if (scalar === undefined) return 0;
  return scalarCost(scalar, formulaCall(dataflow, call)) ?? HEAVY;
}

function formulaCall(dataflow: Dataflow, call: CallExpr): FormulaCall {
  const op = dataflow.operatorOf(call);
  const dtypes = [call, ...call.args].map((expr) => computedDType(dataflow.tensorType(expr).dtype));
  const [output = 'float32', ...inputs] = dtypes.includes('float64')
    ? dtypes.map((dtype) => NARROW[dtype] ?? dtype)
    : dtypes;
  const attributes = op === undefined ? {} : completeAttributes(op, call.attributes);
  return { attributes, dtypes: inputs, output };
}

/** There is no WGSL of float64, which the host computes: such calls cost what those of 32 bits do. */
const NARROW: Readonly<Partial<Record<DType, DType>>> = {
  float64: 'float32',
  int64: 'int32',
  uint64: 'uint32',
};

/** A size for symbols where only the cost depends on it. */
const TYPICAL_SIZE = 64;

function typicalType({ dtype, shape }: TensorType): ConcreteTensorType {
  return { dtype, shape: shape.map(typicalSize) };
}

/** The number of elements, where symbols have a typical size. */
export function typicalCount(shape: readonly Dim[]): number {
  return shape.reduce<number>((count, dim) => count * typicalSize(dim), 1);
}

function typicalSize(dim: Dim): number {
  if (typeof dim === 'number') return dim;
  if (typeof dim === 'string') return TYPICAL_SIZE;
  const size = applyDimOperator(dim.op, typicalSize(dim.left), typicalSize(dim.right));
  return size ?? TYPICAL_SIZE;
}
