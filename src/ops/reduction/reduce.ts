import type { DType } from '../../core/tensor/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { normalizeAxis } from '../../core/tensor/shape.ts';
import { boolAttribute, intsAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { operand } from '../operand-checks.ts';
import { FLOATS, NUMERIC } from '../elementwise/number-dtypes.ts';
import type { Reduction } from './reduce-lowering.ts';

interface ReduceSpec<Name extends string> {
  readonly name: Name;
  readonly kind: Reduction;
  readonly dtypes: readonly DType[];
}

function defineReduce<const Name extends string>({ name, kind, dtypes }: ReduceSpec<Name>) {
  return defineOp({
    name,
    kind: 'reduction',
    inputs: [{ name: 'x', dtypes }],
    attributes: {
      axes: { type: 'ints', default: [] },
      keepdims: { type: 'bool', default: false },
    },
    infer(inputs, attributes, dims) {
      const x = operand(inputs, 0);
      const reduced = reducedAxes(attributes, x.shape.length, name);
      const kept = x.shape.filter((_, axis) => !reduced.has(axis));
      if (!boolAttribute(attributes, 'keepdims')) return { dtype: x.dtype, shape: kept };
      const shape = x.shape.map((dim, axis) => (reduced.has(axis) ? dims.of(1) : dim));
      return { dtype: x.dtype, shape };
    },
    fusion: { loads: () => 1 },
    lower: 'core',
    tolerance: { rtol: 1e-4, atol: isExtremum(kind) ? 0 : 1e-4 },
  });
}

export function reducedAxes(
  attributes: Attributes,
  rank: number,
  name: string,
): ReadonlySet<number> {
  const where = `${name}: attribute axes`;
  const given = intsAttribute(attributes, 'axes');
  if (given.length === 0) return new Set(Array.from({ length: rank }, (_, axis) => axis));
  const axes = new Set(given.map((axis) => normalizeAxis(axis, rank, where)));
  if (axes.size === given.length) return axes;
  throw new ShapeError({ where, got: `[${given.join(', ')}]`, expected: 'each axis once' });
}

const isExtremum = (kind: Reduction) => kind === 'max' || kind === 'min';

/** dtypes that are added up. */
export const SUMMED_DTYPES: readonly DType[] = [...FLOATS, 'int32', 'uint32', 'int64', 'uint64'];

export const REDUCE_OPS = [
  defineReduce({ name: 'reduce_sum', kind: 'sum', dtypes: SUMMED_DTYPES }),
  defineReduce({ name: 'reduce_mean', kind: 'mean', dtypes: SUMMED_DTYPES }),
  defineReduce({ name: 'reduce_prod', kind: 'prod', dtypes: SUMMED_DTYPES }),
  defineReduce({ name: 'reduce_max', kind: 'max', dtypes: NUMERIC }),
  defineReduce({ name: 'reduce_min', kind: 'min', dtypes: NUMERIC }),
] as const;

export type ReduceName = (typeof REDUCE_OPS)[number]['name'];
