import { applyDimOperator, type Dim } from '../../core/dim.ts';
import { isBigInt } from '../../core/dtype.ts';
import type { ConcreteTensorType, TensorType } from '../../core/primitive-function.ts';
import { completeAttributes } from '../../ops/attributes.ts';
import type { CallExpr, Expr } from '../ir/expr.ts';
import { type Dataflow, isView, kernelOperator } from './dataflow.ts';

/** What it costs to load an element from memory, in additions. */
const LOAD_COST = 16;

/** What it costs to find the element of an operand that is broadcast. */
const BROADCAST_COST = 8;

/** What an operator costs that does not say. */
const HEAVY_COST = 64;

/** What another kernel costs, in additions. */
const LAUNCH_COST = 100_000;

interface Repetition {
  /** The producers' result. */
  readonly from: CallExpr;
  readonly anchor: CallExpr;
  /** What would be computed for each element that the anchor loads. */
  readonly producers: ReadonlySet<CallExpr>;
}

/**
 * Whether computing the elements of producers each time an anchor loads one is no slower than storing
 * them once and loading them.
 */
export function isWorthRepeating(dataflow: Dataflow, repetition: Repetition): boolean {
  const { from, producers } = repetition;
  const loads = loadsOf(dataflow, repetition);
  if (loads <= 1) return true;
  if (!Number.isFinite(loads)) return false;
  const cost = costOfElement(dataflow, producers);
  const count = typicalCount(dataflow.tensorType(from).shape);
  const stored = cost + LOAD_COST + loads * LOAD_COST + LAUNCH_COST / Math.max(count, 1);
  return loads * cost <= stored;
}

/** How often the anchor loads each element that the producers give. */
function loadsOf(dataflow: Dataflow, { anchor, from, producers }: Repetition): number {
  const op = kernelOperator(anchor);
  if (op?.loads === undefined) return Infinity;
  const call = {
    inputs: anchor.args.map((arg) => typicalType(dataflow.tensorType(arg))),
    output: typicalType(dataflow.tensorType(anchor)),
    attributes: completeAttributes(op, anchor.attributes),
  };
  let loads = 0;
  for (const [index, arg] of anchor.args.entries()) {
    const isProduced = arg === from || (arg.kind === 'call' && producers.has(arg));
    if (isProduced) loads += op.loads(index, call);
  }
  return loads;
}

/** What one element of the producers' result costs, with the loads that it takes. */
function costOfElement(dataflow: Dataflow, producers: ReadonlySet<CallExpr>): number {
  const inputs = new Set<Expr>();
  let cost = 0;
  for (const producer of producers) {
    if (isView(producer)) continue;
    const { shape, dtype } = dataflow.tensorType(producer);
    const size = typicalCount(shape);
    const types = producer.args.map((arg) => dataflow.tensorType(arg));
    const isWide = isBigInt(dtype) || types.some((type) => isBigInt(type.dtype));
    cost += isWide ? HEAVY_COST : (kernelOperator(producer)?.scalar?.cost ?? HEAVY_COST);
    for (const [i, arg] of producer.args.entries()) {
      const operandSize = typicalCount(types[i]?.shape ?? []);
      if (operandSize > 1 && operandSize < size) cost += BROADCAST_COST;
      const isInside = arg.kind === 'call' && producers.has(arg);
      if (!isInside && operandSize > 1) inputs.add(arg);
    }
  }
  return cost + inputs.size * LOAD_COST;
}

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
