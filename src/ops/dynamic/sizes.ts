import { type Dim, MAX_DIMENSION } from '../../core/dim.ts';
import type { DimContext } from '../../core/dim-context.ts';
import { ShapeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes, TensorTypeOf } from '../../core/primitive-function.ts';
import { broadcastShapes, elementCount, formatShape, normalizeAxis } from '../../core/shape.ts';
import { boolAttribute, dimsAttribute, stringAttribute } from '../attributes.ts';
import type { AttributeSpec, OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import type { Operands } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';
import { INTEGERS, integersOf } from './integers.ts';

/*
 * Operators that turn integers which only the running program has into dimensions. Their result is
 * a tensor without elements, (0, d0, d1, …): the sizes are its other dimensions. Bound by a `let`
 * whose type names them, it brings the names into scope, like any tensor.
 */

interface SizeRule {
  readonly name: string;
  readonly summary: string;
  readonly attributes?: Readonly<Record<string, AttributeSpec>>;
  /** How many sizes there are, for so many integers and dimensions of data. */
  count(integers: number, dims: number, attributes: Attributes): number;
  hostSizes(integers: readonly number[], context: SizeContext): readonly number[];
  readonly cases: readonly (readonly [readonly number[], Attributes?])[];
  readonly badCases: readonly (readonly [readonly number[], Attributes?])[];
}

interface SizeContext {
  /** Sizes of the data. */
  readonly dims: readonly number[];
  readonly attributes: Attributes;
  readonly fail: (got: string, expected: string) => never;
}

function defineSizes(rule: SizeRule): OpDefinition {
  const { name, summary } = rule;
  return defineDynamicOp({
    name,
    summary,
    inputs: [{ name: 'integers', dtypes: INTEGERS }],
    attributes: {
      dims: { type: 'dims', default: [] },
      where: { type: 'string', default: name },
      ...rule.attributes,
    },
    infer: (inputs, attributes, dims) => inferSizes(rule, { inputs, attributes, dims }),
    compute(inputs, attributes) {
      const where = stringAttribute(attributes, 'where');
      const dims = dimsAttribute(attributes, 'dims').map(Number);
      const fail = (got: string, expected: string): never => {
        throw new ShapeError({ where, got, expected });
      };
      const integers = integersOf(operand(inputs, 0));
      const sizes = rule.hostSizes(integers, { dims, attributes, fail });
      for (const size of sizes) {
        if (size < 0 || size > MAX_DIMENSION) fail(`size ${size}`, `0 to ${MAX_DIMENSION}`);
      }
      return HostTensor.zeros('int32', [0, ...sizes]);
    },
    cases: () =>
      rule.cases.flatMap((given, i) => [
        sizeCase('int64', given),
        ...(i === 0 ? [{ ...sizeCase('int32', given), title: 'int32' }] : []),
        ...(i === 0
          ? [{ ...sizeCase('int64', [given[0], { ...given[1], where: 'x' }]), title: 'named' }]
          : []),
      ]),
    badCases: () => [
      ...rule.badCases.map((given) => sizeCase('int64', given)),
      { title: 'a matrix', inputs: [{ dtype: 'int64', shape: [2, 2] }] },
    ],
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

function sizeCase(
  dtype: 'int32' | 'int64',
  [values, attributes = {}]: readonly [readonly number[], Attributes?],
): OpCase {
  return {
    title: `${values.join(', ')} ${JSON.stringify(attributes)}`,
    inputs: [{ dtype, shape: [values.length], values }],
    attributes,
  };
}

export const SIZE_OPS: readonly OpDefinition[] = [
  defineSizes({
    name: 'sizes',
    summary: 'Integers from 0 up as the dimensions of a tensor without elements, (0, ?, …).',
    count: (integers) => integers,
    hostSizes: (integers) => integers,
    cases: [[[3, 0, 5]], [[]], [[2], { dims: [4] }]],
    badCases: [],
  }),
  defineSizes({
    name: 'reshape_sizes',
    summary:
      'The sizes that ONNX Reshape means for data of sizes dims: 0 keeps a size (unless allowzero), ' +
      '-1 is what is left.',
    attributes: { allowzero: { type: 'bool', default: false } },
    count: (integers) => integers,
    hostSizes: reshapeSizes,
    cases: [
      [[1], { dims: [1, 1] }],
      [[3, -1], { dims: [2, 6] }],
      [[0, 2, -1], { dims: [2, 6] }],
      [[0, 2], { dims: [3, 0], allowzero: true }],
      [[], { dims: [] }],
    ],
    badCases: [],
  }),
  defineSizes({
    name: 'broadcast_sizes',
    summary: 'The sizes of data of sizes dims and of the given ones, broadcast against each other.',
    count: (integers, dims) => Math.max(integers, dims),
    hostSizes: (integers, { dims, fail }) => {
      const low = integers.find((size) => size < 0);
      if (low !== undefined) fail(`size ${low}`, 'sizes from 0 up');
      try {
        return broadcastShapes([dims, integers], '');
      } catch {
        return fail(`${formatShape(dims)} and ${formatShape(integers)}`, 'shapes that broadcast');
      }
    },
    cases: [
      [[3, 1], { dims: [4] }],
      [[1], { dims: [2, 3] }],
      [[], { dims: [2] }],
    ],
    badCases: [],
  }),
  defineSizes({
    name: 'unsqueeze_sizes',
    summary: 'dims with a 1 at each of the given axes of the result.',
    count: (integers, dims) => integers + dims,
    hostSizes: unsqueezeSizes,
    cases: [
      [[1], { dims: [3] }],
      [[0, -1], { dims: [3, 4] }],
      [[], { dims: [2] }],
    ],
    badCases: [],
  }),
  defineSizes({
    name: 'squeeze_sizes',
    summary: 'dims without the given axes, whose size has to be 1.',
    count: (integers, dims) => dims - integers,
    hostSizes: squeezeSizes,
    cases: [
      [[1], { dims: [2, 1] }],
      [[0, -2], { dims: [1, 3, 1, 4] }],
      [[], { dims: [2] }],
    ],
    badCases: [[[0, 1], { dims: [1] }]],
  }),
  defineSizes({
    name: 'reduce_sizes',
    summary:
      'For each axis of data of sizes dims two sizes, its own and 1: the other way round where it is ' +
      'one of the axes that a reduction takes. Then the sizes of its result.',
    attributes: { keepdims: { type: 'bool', default: true } },
    count: (integers, dims, attributes) =>
      3 * dims - (boolAttribute(attributes, 'keepdims') ? 0 : integers),
    hostSizes: reduceSizes,
    cases: [
      [[1], { dims: [3, 4] }],
      [[0, -1], { dims: [2, 3, 4] }],
      [[1], { dims: [2, 3], keepdims: false }],
    ],
    badCases: [],
  }),
  defineSizes({
    name: 'axis_sizes',
    summary: 'The number of elements of data of sizes dims before an axis, along it and after it.',
    count: () => 3,
    hostSizes: ([given = 0], { dims, fail }) => {
      const [axis = 0] = axesOf([given], { rank: dims.length, fail });
      return [
        elementCount(dims.slice(0, axis)),
        dims[axis] ?? 1,
        elementCount(dims.slice(axis + 1)),
      ];
    },
    cases: [
      [[1], { dims: [2, 3, 4] }],
      [[-1], { dims: [2, 3] }],
    ],
    badCases: [],
  }),
  defineSizes({
    name: 'resized_axis_sizes',
    summary: 'dims with another size, the second integer, along the axis that the first names.',
    count: (integers, dims) => (integers === 2 ? dims : -1),
    hostSizes: ([given = 0, size = 0], { dims, fail }) => {
      const [axis = 0] = axesOf([given], { rank: dims.length, fail });
      return dims.with(axis, size);
    },
    cases: [
      [[1, 7], { dims: [2, 3, 4] }],
      [[-1, 0], { dims: [2, 3] }],
    ],
    badCases: [[[0], { dims: [2] }]],
  }),
  defineSizes({
    name: 'signed_sizes',
    summary: 'How far each integer is below zero, then how far each is above.',
    count: (integers) => integers * 2,
    hostSizes: signedSizes,
    cases: [[[1, -2]], [[]], [[0, 3], { dims: [2] }]],
    badCases: [],
  }),
  defineSizes({
    name: 'pad_sizes',
    summary:
      'As signed_sizes, what ONNX Pad adds before each axis of dims, then after each. The integers ' +
      'are those for some axes, followed by these axes.',
    count: (integers, dims) => (integers % 3 === 0 ? dims * 4 : -1),
    hostSizes: padSizes,
    cases: [
      [[1, 1, 1], { dims: [2, 3] }],
      [[1, 2, 0], { dims: [3] }],
      [[1, -2, 3, 4, 2, -3], { dims: [5, 6, 7] }],
      [[], { dims: [] }],
    ],
    badCases: [[[1, 2], { dims: [3] }]],
  }),
];

function reshapeSizes(integers: readonly number[], context: SizeContext): readonly number[] {
  const { dims, attributes, fail } = context;
  const isKept = !boolAttribute(attributes, 'allowzero');
  const sizes = integers.map((size, axis) => (size === 0 && isKept ? (dims[axis] ?? 0) : size));
  const free = sizes.indexOf(-1);
  const total = elementCount(dims);
  if (free >= 0) {
    const rest = elementCount(sizes.filter((_, axis) => axis !== free));
    sizes[free] = rest === 0 ? 0 : total / rest;
  }
  const fits = sizes.every((size) => Number.isInteger(size) && size >= 0);
  if (fits && elementCount(sizes) === total) return sizes;
  return fail(
    `shape ${formatShape(integers)}`,
    `one that the ${total} elements of ${formatShape(dims)} fit`,
  );
}

function unsqueezeSizes(integers: readonly number[], { dims, fail }: SizeContext): number[] {
  const rank = dims.length + integers.length;
  const added = axesOf(integers, { rank, fail });
  let next = 0;
  return Array.from({ length: rank }, (_, axis) => (added.has(axis) ? 1 : (dims[next++] ?? 1)));
}

function squeezeSizes(integers: readonly number[], { dims, fail }: SizeContext): number[] {
  const removed = axesOf(integers, { rank: dims.length, fail });
  for (const axis of removed) {
    if (dims[axis] !== 1) fail(`axis ${axis} of ${formatShape(dims)}`, 'an axis of size 1');
  }
  return dims.filter((_, axis) => !removed.has(axis));
}

function reduceSizes(integers: readonly number[], context: SizeContext): number[] {
  const { dims, attributes, fail } = context;
  const reduced = axesOf(integers, { rank: dims.length, fail });
  const pairs = dims.flatMap((dim, axis) => (reduced.has(axis) ? [1, dim] : [dim, 1]));
  const result = boolAttribute(attributes, 'keepdims')
    ? dims.map((dim, axis) => (reduced.has(axis) ? 1 : dim))
    : dims.filter((_, axis) => !reduced.has(axis));
  return [...pairs, ...result];
}

function signedSizes(integers: readonly number[]): number[] {
  return [
    ...integers.map((integer) => Math.max(-integer, 0)),
    ...integers.map((integer) => Math.max(integer, 0)),
  ];
}

function padSizes(integers: readonly number[], { dims, fail }: SizeContext): number[] {
  const count = integers.length / 3;
  const pads = new Array<number>(dims.length * 2).fill(0);
  const axes = [...axesOf(integers.slice(2 * count), { rank: dims.length, fail })];
  for (const [i, axis] of axes.entries()) {
    pads[axis] = integers[i] ?? 0;
    pads[axis + dims.length] = integers[i + count] ?? 0;
  }
  return signedSizes(pads);
}

function axesOf(
  integers: readonly number[],
  { rank, fail }: { readonly rank: number; readonly fail: SizeContext['fail'] },
): ReadonlySet<number> {
  const axes = new Set<number>();
  for (const axis of integers) {
    if (axis < -rank || axis >= rank) fail(`axis ${axis}`, `one from ${-rank} to ${rank - 1}`);
    axes.add(normalizeAxis(axis, rank, ''));
  }
  if (axes.size !== integers.length) fail(`axes ${integers.join(', ')}`, 'each axis once');
  return axes;
}
