import type { Dim } from '../../core/dim.ts';
import type { DimContext } from '../../core/dim-context.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Attributes, TensorTypeOf } from '../../core/primitive-function.ts';
import { boolAttribute, dimsAttribute, stringAttribute } from '../attributes.ts';
import type { AttributeSpec } from '../define-op.ts';
import type { Operands } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';
import { INTEGERS } from './integers.ts';

/*
 * Operators that turn integers which only the running program has into dimensions. Their result is
 * a tensor without elements, (0, d0, d1, …): the sizes are its other dimensions. Bound by a `let`
 * whose type names them, it brings the names into scope, like any tensor.
 */

interface SizeRule<Name extends string = string> {
  readonly name: Name;
  readonly attributes?: Readonly<Record<string, AttributeSpec>>;
  /** How many sizes there are, for so many integers and dimensions of data. */
  count(integers: number, dims: number, attributes: Attributes): number;
}

function defineSizes<const Name extends string>(rule: SizeRule<Name>) {
  const { name } = rule;
  return defineDynamicOp({
    name,
    inputs: [{ name: 'integers', dtypes: INTEGERS }],
    attributes: {
      dims: { type: 'dims', default: [] },
      where: { type: 'string', default: name },
      ...rule.attributes,
    },
    infer: (inputs, attributes, dims) => inferSizes(rule, { inputs, attributes, dims }),
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
  rule: SizeRule,
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
  const count = rule.count(length, dimsAttribute(attributes, 'dims').length, attributes);
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
  defineSizes({
    name: 'sizes',
    count: (integers) => integers,
  }),
  defineSizes({
    name: 'reshape_sizes',
    attributes: { allowzero: { type: 'bool', default: false } },
    count: (integers) => integers,
  }),
  defineSizes({
    name: 'broadcast_sizes',
    count: (integers, dims) => Math.max(integers, dims),
  }),
  defineSizes({
    name: 'unsqueeze_sizes',
    count: (integers, dims) => integers + dims,
  }),
  defineSizes({
    name: 'squeeze_sizes',
    count: (integers, dims) => dims - integers,
  }),
  defineSizes({
    name: 'reduce_sizes',
    attributes: { keepdims: { type: 'bool', default: true } },
    count: (integers, dims, attributes) =>
      3 * dims - (boolAttribute(attributes, 'keepdims') ? 0 : integers),
  }),
  defineSizes({
    name: 'axis_sizes',
    count: () => 3,
  }),
  defineSizes({
    name: 'resized_axis_sizes',
    count: (integers, dims) => (integers === 2 ? dims : -1),
  }),
  defineSizes({
    name: 'signed_sizes',
    count: (integers) => integers * 2,
  }),
  defineSizes({
    name: 'pad_sizes',
    count: (integers, dims) => (integers % 3 === 0 ? dims * 4 : -1),
  }),
] as const;

export type SizeName = (typeof SIZE_OPS)[number]['name'];
