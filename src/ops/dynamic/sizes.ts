import type { Dim } from '../../core/dims/dim.ts';
import type { DimContext } from '../../core/dims/dim-context.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Attributes, TensorTypeOf } from '../../core/contracts/primitive-function.ts';
import { boolAttribute, dimsAttribute, stringAttribute } from '../attributes.ts';
import type { AttributeSpec } from '../define-op.ts';
import type { Operands } from '../lowering/lowering.ts';
import { operand } from '../operand-checks.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';
import { INTEGERS } from './integers.ts';

/*
 * Operators that turn integers which only the running program has into dimensions. Their result is
 * a tensor without elements, (0, d0, d1, …): the sizes are its other dimensions. Bound by a `let`
 * whose type names them, it brings the names into scope, like any tensor.
 */

/** How many sizes there are, for so many integers and dimensions of data. */
type SizeCount = (integers: number, dims: number, attributes: Attributes) => number;

function defineSizes<const Name extends string>(
  name: Name,
  count: SizeCount,
  ownAttributes: Readonly<Record<string, AttributeSpec>> = {},
) {
  return defineDynamicOp({
    name,
    inputs: [{ name: 'integers', dtypes: INTEGERS }],
    attributes: {
      dims: { type: 'dims', default: [] },
      where: { type: 'string', default: name },
      ...ownAttributes,
    },
    infer: (inputs, attributes, dims) => inferSizes(count, { inputs, attributes, dims }),
  });
}

interface SizeCall<D extends Dim> {
  readonly inputs: Operands<TensorTypeOf<D>>;
  readonly attributes: Attributes;
  readonly dims: DimContext<D>;
}

/** A tensor of more dimensions is none that any program has. */
const MAX_SIZES = 64;

function inferSizes<D extends Dim>(
  countOf: SizeCount,
  { inputs, attributes, dims }: SizeCall<D>,
): TensorTypeOf<D> {
  const { shape } = operand(inputs, 0);
  const where = stringAttribute(attributes, 'where');
  const length = shape.length === 0 ? 1 : dims.known(shape[0] ?? dims.of(1));
  const complain = (got: string): never => {
    throw new ShapeError({ where, got, expected: 'a list of integers whose length is known' });
  };
  if (shape.length > 1) complain(`integers of rank ${shape.length}`);
  if (length === undefined) return complain('a list of unknown length');
  const count = countOf(length, dimsAttribute(attributes, 'dims').length, attributes);
  if (count < 0) complain(`${length} integers`);
  if (count > MAX_SIZES) {
    throw new ShapeError({ where, got: `${count} dimensions`, expected: `${MAX_SIZES} at most` });
  }
  return {
    dtype: 'int32',
    shape: [dims.of(0), ...Array.from({ length: count }, () => dims.unknown())],
  };
}

export const SIZE_OPS = [
  defineSizes('sizes', (integers) => integers),
  defineSizes('reshape_sizes', (integers) => integers, {
    allowzero: { type: 'bool', default: false },
  }),
  defineSizes('broadcast_sizes', (integers, dims) => Math.max(integers, dims)),
  defineSizes('unsqueeze_sizes', (integers, dims) => integers + dims),
  defineSizes('squeeze_sizes', (integers, dims) => dims - integers),
  defineSizes(
    'reduce_sizes',
    (integers, dims, attributes) =>
      3 * dims - (boolAttribute(attributes, 'keepdims') ? 0 : integers),
    { keepdims: { type: 'bool', default: true } },
  ),
  defineSizes('axis_sizes', () => 3),
  defineSizes('resized_axis_sizes', (integers, dims) => (integers === 2 ? dims : -1)),
  defineSizes('signed_sizes', (integers) => integers * 2),
  defineSizes('pad_sizes', (integers, dims) => (integers % 3 === 0 ? dims * 4 : -1)),
] as const;

export type SizeName = (typeof SIZE_OPS)[number]['name'];
