import type { LaunchAmount } from '../../../core/contracts/device-rates.ts';
import { storageByteLength } from '../../../core/tensor/dtype.ts';
import { WeftError } from '../../../core/errors.ts';
import type {
  Attributes,
  AttributeValue,
  ConcreteTensorType,
  TensorType,
} from '../../../core/contracts/primitive-function.ts';
import { RepresentativeSizes } from '../../../core/dims/representative-sizes.ts';
import { elementCount } from '../../../core/tensor/shape.ts';
import { completeAttributes } from '../../../ops/attributes.ts';
import type { OpDefinition } from '../../../ops/define-op.ts';
import { operatorWork } from '../../../ops/tables/work.ts';
import type { CallExpr, Expr, FunctionExpr } from '../../ir/expr.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { type Dataflow, kernelOperand, kernelOperator } from './dataflow.ts';
import type { Group } from './groups.ts';

/** Sizes for the symbols of a function, within their bounds. */
export function sizesOf({ params, attributes }: FunctionExpr): RepresentativeSizes {
  const { bounds = {} } = attributes;
  const types = params.flatMap(({ type }) => (type?.kind === 'tensor' ? type : []));
  return new RepresentativeSizes(types, (symbol, usual) => {
    const [min, max] = bounds[symbol] ?? [usual, usual];
    return Math.min(Math.max(usual, min), max);
  });
}

/** The work of a kernel that a group of calls makes, about. */
export function kernelWork(
  { members, inputs, last }: Group,
  dataflow: Dataflow,
  sizes: RepresentativeSizes,
): LaunchAmount {
  const read = [...inputs].filter((expr) => expr.kind !== 'call' || !members.has(expr));
  const stored = [...read, last].map((expr) => byteLength(dataflow.tensorType(expr), sizes));
  let operations = 0;
  for (const member of members) operations += callWork(member, dataflow.types, sizes);
  return { operations, bytes: stored.reduce((sum, bytes) => sum + bytes, 0) };
}

export function byteLength(type: TensorType, sizes: RepresentativeSizes): number {
  return storageByteLength(type.dtype, elementCount(sizes.shape(type.shape)));
}

/** Additions and multiplications of a call, about. */
export function callWork(call: CallExpr, types: TypeInference, sizes: RepresentativeSizes): number {
  const op = kernelOperator(call, types);
  if (op === undefined) return 0;
  const typeOf = (expr: Expr): ConcreteTensorType => {
    const { dtype, shape } = kernelOperand(expr, types);
    return { dtype, shape: sizes.shape(shape) };
  };
  const output = typeOf(call);
  try {
    const attributes = sizedAttributes(op, completeAttributes(op, call.attributes), sizes);
    return operatorWork(op, { inputs: call.args.map(typeOf), output, attributes });
  } catch (error) {
    // Sizes that do not go together.
    if (error instanceof WeftError) return elementCount(output.shape);
    throw error;
  }
}

/** The attributes with numbers for symbols. */
function sizedAttributes(
  op: OpDefinition,
  attributes: Attributes,
  sizes: RepresentativeSizes,
): Attributes {
  const sized: Record<string, AttributeValue> = { ...attributes };
  for (const [name, value] of Object.entries(attributes)) {
    if (op.attributes[name]?.type !== 'dims' || typeof value !== 'object') continue;
    sized[name] = value.map((dim) => (typeof dim === 'number' ? dim : sizes.size(dim)));
  }
  return sized;
}
