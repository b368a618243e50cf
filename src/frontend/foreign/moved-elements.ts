import type { Expr } from '../../compiler/ir/expr.ts';
import type { Dim } from '../../core/dims/dim.ts';
import type { ForeignNode } from './foreign-node.ts';

interface Part {
  readonly axis: number;
  readonly start: number;
  readonly end: number;
}

/** The elements of an axis from a place up to another one. */
export function part(node: ForeignNode, x: Expr, { axis, start, end }: Part): Expr {
  return node.one('Slice', [x, node.int64s([start]), node.int64s([end]), node.int64s([axis])]);
}

/** The parts of an axis, of these sizes; one of them may be -1, for what is left. */
function parts(
  node: ForeignNode,
  x: Expr,
  axis: number,
  sizes: readonly number[],
): readonly Expr[] {
  const size = sizeOf(node, x, axis);
  const known = sizes.reduce((sum, each) => sum + Math.max(each, 0), 0);
  const whole = sizes.map((each) => (each < 0 ? size - known : each));
  if (whole.some((each) => each < 0) || whole.reduce((a, b) => a + b, 0) !== size) {
    throw node.malformed(`parts of ${sizes.join(', ')}`, `a sum of ${size}`);
  }
  let start = 0;
  return whole.map((each) => part(node, x, { axis, start, end: (start += each) }));
}

const sizeOf = (node: ForeignNode, x: Expr, axis: number): number =>
  node.number(node.shape(x)[axis] ?? 1, 'the size of an axis that is split');

/** So many equal parts of the second input, along the axis that the first one says. */
export function split(node: ForeignNode, count: number): readonly Expr[] {
  const x = node.input(1);
  const axis = node.axis(node.numberInput(0, 'axes') ?? 0, node.rank(x));
  const size = sizeOf(node, x, axis);
  if (!(count > 0) || size % count !== 0) {
    throw node.malformed(`${count} parts of an axis of ${size}`, `a divisor of ${size}`);
  }
  return parts(node, x, axis, new Array<number>(count).fill(size / count));
}

/** Parts of the first input, of the sizes that the second says, along the axis of the third. */
export function splitV(node: ForeignNode): readonly Expr[] {
  const x = node.input(0);
  const axis = node.axis(node.numberInput(2, 'axes') ?? 0, node.rank(x));
  return parts(node, x, axis, node.intsInput(1, 'sizes') ?? []);
}

/** Sizes of blocks, and two amounts for each. Throws FormatError for others. */
function blocksOf(node: ForeignNode, what: string) {
  const blocks = node.intsInput(1, 'sizes of blocks') ?? [];
  const amounts = node.intsInput(2, what) ?? [];
  const isFine =
    amounts.length === 2 * blocks.length &&
    blocks.length < node.rank(node.input(0)) &&
    blocks.every((block) => block > 0);
  if (isFine) return { blocks, amounts, many: blocks.reduce((all, block) => all * block, 1) };
  throw node.malformed(`${blocks.length} blocks, ${amounts.length} ${what}`, 'two for each block');
}

/** Blocks of neighbours among the batches: padded, then rearranged. */
export function spaceToBatch(node: ForeignNode): Expr {
  const x = node.input(0);
  const { blocks, amounts, many } = blocksOf(node, 'paddings');
  const sides = [0, 1].flatMap((side) =>
    Array.from({ length: node.rank(x) }, (_, axis) => amounts[2 * (axis - 1) + side] ?? 0),
  );
  const padded = node.call('pad', [x], { pads: sides });
  const [batch = 1, ...rest] = node.shape(padded);
  const count = blocks.length;
  const [sizes, others] = [rest.slice(0, count), rest.slice(count)];
  const inner = sizes.map((size, i) => node.dims.floordiv(size, blocks[i] ?? 1));
  const within = inner.flatMap((size, i) => [size, blocks[i] ?? 1]);
  const apart = node.reshape(padded, [batch, ...within, ...others]);
  const moved = node.transpose(apart, [
    ...blocks.map((_, i) => 2 * i + 2),
    0,
    ...blocks.map((_, i) => 2 * i + 1),
    ...others.map((_, i) => 2 * count + 1 + i),
  ]);
  return node.reshape(moved, [node.dims.mul(batch, many), ...inner, ...others]);
}

/** The reverse of {@link spaceToBatch}: rearranged, then cut. */
export function batchToSpace(node: ForeignNode): Expr {
  const x = node.input(0);
  const { blocks, amounts: crops, many } = blocksOf(node, 'crops');
  const [batch = 1, ...rest] = node.shape(x);
  const count = blocks.length;
  const [inner, others] = [rest.slice(0, count), rest.slice(count)];
  const left = node.dims.floordiv(batch, many);
  const apart = node.reshape(x, [...blocks, left, ...inner, ...others]);
  const moved = node.transpose(apart, [
    count,
    ...blocks.flatMap((_, i) => [count + 1 + i, i]),
    ...others.map((_, i) => 2 * count + 1 + i),
  ]);
  const sizes = inner.map((size, i) => node.dims.mul(size, blocks[i] ?? 1));
  const whole = node.reshape(moved, [left, ...sizes, ...others]);
  if (crops.every((crop) => crop === 0)) return whole;
  const starts = [0, ...blocks.map((_, i) => crops[2 * i] ?? 0), ...others.map(() => 0)];
  const cut = (size: Dim, i: number): Dim => node.dims.sub(size, crops[2 * i + 1] ?? 0);
  return node.call('slice', [whole], { starts, ends: [left, ...sizes.map(cut), ...others] });
}
