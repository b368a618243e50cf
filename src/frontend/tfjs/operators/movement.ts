import type { Expr } from '../../../compiler/ir/expr.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import { becomes, type TensorflowNode, type TensorflowOperators } from '../tensorflow-node.ts';

function reshape(node: TensorflowNode): Expr {
  const [x, shape] = [node.input(0), node.longs(1)];
  // A size of 0 is one, and does not stand for that of the input.
  return node.one('Reshape', [x, shape], { allowzero: 1 });
}

function transpose(node: TensorflowNode): Expr {
  const x = node.input(0);
  const rank = node.rank(x);
  const axes = node.axesInput(1, rank);
  if (axes.length === rank) return node.transpose(x, axes);
  throw node.malformed(`the order (${axes.join(', ')})`, `each of ${rank} axes once`);
}

/** Tensors one after the other; those without elements and without the axis are left out. */
function concat(node: TensorflowNode, inputs: readonly Expr[], axis: number): Expr {
  const [first, ...more] = node.matched(...inputs);
  if (first === undefined) throw node.malformed('no inputs', 'one or more');
  if (more.length === 0) return first;
  return node.one('Concat', [first, ...more], { axis: node.axis(axis, node.rank(first)) });
}

function pack(node: TensorflowNode): Expr {
  const inputs = node.matched(...node.allInputs());
  const axis = node.axis(node.attributes.int('axis', 0), node.rank(node.input(0)) + 1);
  const single = inputs.map((x) => node.one('Unsqueeze', [x, node.int64s([axis])]));
  const [first] = single;
  return single.length === 1 && first !== undefined ? first : node.one('Concat', single, { axis });
}

interface Part {
  readonly axis: number;
  readonly start: number;
  readonly end: number;
}

function part(node: TensorflowNode, x: Expr, { axis, start, end }: Part): Expr {
  return node.one('Slice', [x, node.int64s([start]), node.int64s([end]), node.int64s([axis])]);
}

function unpack(node: TensorflowNode): readonly Expr[] {
  const x = node.input(0);
  const axis = node.axis(node.attributes.int('axis', 0), node.rank(x));
  const size = node.number(node.shape(x)[axis] ?? 1, 'the number of parts');
  const squeezed = (each: Expr) => node.one('Squeeze', [each, node.int64s([axis])]);
  return Array.from({ length: size }, (_, i) =>
    squeezed(part(node, x, { axis, start: i, end: i + 1 })),
  );
}

/** The parts of an axis, of these sizes; one of them may be -1, for what is left. */
function parts(
  node: TensorflowNode,
  x: Expr,
  axis: number,
  sizes: readonly number[],
): readonly Expr[] {
  const size = node.number(node.shape(x)[axis] ?? 1, 'the size of an axis that is split');
  const known = sizes.reduce((sum, each) => sum + Math.max(each, 0), 0);
  const whole = sizes.map((each) => (each < 0 ? size - known : each));
  if (whole.some((each) => each < 0) || whole.reduce((a, b) => a + b, 0) !== size) {
    throw node.malformed(`parts of ${sizes.join(', ')}`, `a sum of ${size}`);
  }
  let start = 0;
  return whole.map((each) => {
    const from = start;
    start += each;
    return part(node, x, { axis, start: from, end: start });
  });
}

function split(node: TensorflowNode): readonly Expr[] {
  const x = node.input(1);
  const axis = node.axis(node.numberInput(0, 'axes') ?? 0, node.rank(x));
  const count = node.attributes.int('num_split', node.outputCount);
  const size = node.number(node.shape(x)[axis] ?? 1, 'the size of an axis that is split');
  if (!(count > 0) || size % count !== 0) {
    throw node.malformed(`${count} parts of an axis of ${size}`, `a divisor of ${size}`);
  }
  return parts(node, x, axis, new Array<number>(count).fill(size / count));
}

function splitV(node: TensorflowNode): readonly Expr[] {
  const x = node.input(0);
  const axis = node.axis(node.numberInput(2, 'axes') ?? 0, node.rank(x));
  return parts(node, x, axis, node.intsInput(1, 'sizes') ?? []);
}

const FAR = 2 ** 31 - 1;

/** From begins on, as many elements as sizes say; -1 stands for all that are left. */
function slice(node: TensorflowNode): Expr {
  const x = node.input(0);
  const [starts, lengths] = [node.longs(1), node.longs(2)];
  const sum = node.call('add', [starts, lengths]);
  const isComputed = lengths.kind !== 'constant' && node.shapeValue(lengths) === undefined;
  const far = (count: number) => node.int64s(new Array<number>(count).fill(FAR));
  const rank = node.rank(x);
  const ends = isComputed
    ? node.one('Where', [node.one('Less', [lengths, node.int64s([0])]), far(rank), sum])
    : concat(
        node,
        (node.dimsInput(2, 'sizes') ?? []).map((size, i) =>
          typeof size === 'number' && size < 0 ? far(1) : element(node, sum, i),
        ),
        0,
      );
  const axes = node.int64s(Array.from({ length: rank }, (_, axis) => axis));
  return node.one('Slice', [x, starts, ends, axes]);
}

interface Range {
  readonly axis: number;
  readonly start: Expr;
  readonly end: Expr;
  readonly step: Expr;
}

/** Ranges of axes, new axes of size 1 and axes that disappear, by five masks. */
function stridedSlice(node: TensorflowNode): Expr {
  const x = node.input(0);
  const rank = node.rank(x);
  const vectors = [1, 2, 3].map((i) => node.longs(i));
  const [starts, ends, steps] = vectors;
  if (!starts || !ends || !steps) throw node.malformed('no steps', 'four inputs');
  const given = node.number(node.shape(starts)[0] ?? 0, 'the number of axes');
  const bits = (name: string) => {
    const mask = node.attributes.int(`${name}_mask`, 0);
    return (i: number) => ((mask >> i) & 1) === 1;
  };
  const [isOpenBegin, isOpenEnd, isEllipsis, isNew, isShrunk] = [
    bits('begin'),
    bits('end'),
    bits('ellipsis'),
    bits('new_axis'),
    bits('shrink_axis'),
  ];
  if (!isOpenBegin || !isOpenEnd || !isEllipsis || !isNew || !isShrunk)
    throw new Error('internal: five masks');
  const places = Array.from({ length: given }, (_, i) => i);
  const taken = places.filter((i) => !isNew(i) && !isEllipsis(i)).length;
  if (taken > rank) throw node.malformed(`a slice of ${taken} axes`, `at most ${rank}`);
  const stepNumbers = steps.kind === 'constant' ? node.intsInput(3, 'steps') : undefined;
  const ranges: Range[] = [];
  const added: number[] = [];
  const dropped: number[] = [];
  let axis = 0;
  let place = 0;
  for (const i of places) {
    if (isEllipsis(i)) {
      axis += rank - taken;
      place += rank - taken;
      continue;
    }
    if (isNew(i)) {
      added.push(place++);
      continue;
    }
    const isBack = (stepNumbers?.[i] ?? 1) < 0;
    const start = isOpenBegin(i) ? node.int64s([isBack ? FAR : 0]) : element(node, starts, i);
    if (isShrunk(i)) {
      const one = node.int64s([1]);
      ranges.push({ axis, start, end: after(node, start), step: one });
      dropped.push(axis);
    } else {
      const end = isOpenEnd(i) ? node.int64s([isBack ? -FAR : FAR]) : element(node, ends, i);
      ranges.push({ axis, start, end, step: element(node, steps, i) });
      place++;
    }
    axis++;
  }
  let result = x;
  if (ranges.length > 0) {
    const vector = (pick: (range: Range) => Expr) => concat(node, ranges.map(pick), 0);
    result = node.one('Slice', [
      x,
      vector(({ start }) => start),
      vector(({ end }) => end),
      node.int64s(ranges.map((range) => range.axis)),
      vector(({ step }) => step),
    ]);
  }
  if (dropped.length > 0) result = node.one('Squeeze', [result, node.int64s(dropped)]);
  return added.length > 0 ? node.one('Unsqueeze', [result, node.int64s(added)]) : result;
}

/** An element of a vector, as a vector. */
function element(node: TensorflowNode, vector: Expr, index: number): Expr {
  return part(node, vector, { axis: 0, start: index, end: index + 1 });
}

/** The place behind an index; the last element has none. */
function after(node: TensorflowNode, start: Expr): Expr {
  const [value] = start.kind === 'constant' ? start.value.data : [];
  if (value !== undefined) return node.int64s([Number(value) === -1 ? FAR : Number(value) + 1]);
  return node.call('add', [start, node.int64s([1])]);
}

/** Begins and ends of all axes, as a constant (rank, 2) has them. */
function pads(node: TensorflowNode): Expr {
  const flat = node.cast(node.input(1), 'int64');
  return node.one('Reshape', [node.transpose(flat, [1, 0]), node.int64s([-1])]);
}

function pad(node: TensorflowNode): Expr {
  const [x, value] = [node.input(0), node.inputs[2]];
  return node.one('Pad', value === undefined ? [x, pads(node)] : [x, pads(node), value]);
}

function mirrorPad(node: TensorflowNode): Expr {
  const mode = node.attributes.string('mode', 'REFLECT');
  if (mode === 'REFLECT') return node.one('Pad', [node.input(0), pads(node)], { mode: 'reflect' });
  throw node.unsupported(`mode ${mode}`, 'REFLECT');
}

function squeeze(node: TensorflowNode): Expr {
  const x = node.input(0);
  const axes = node.attributes.ints('squeeze_dims') ?? node.attributes.ints('axis') ?? [];
  return node.one('Squeeze', axes.length === 0 ? [x] : [x, node.int64s(axes)]);
}

function expandDims(node: TensorflowNode): Expr {
  const axis = node.axis(node.numberInput(1, 'axes') ?? 0, node.rank(node.input(0)) + 1);
  return node.one('Unsqueeze', [node.input(0), node.int64s([axis])]);
}

function shape(node: TensorflowNode): Expr {
  return node.cast(node.one('Shape', [node.input(0)]), 'int32');
}

function reverse(node: TensorflowNode): Expr {
  const x = node.input(0);
  const axes = node.axesInput(1, node.rank(x));
  const all = (value: number) => node.int64s(axes.map(() => value));
  return axes.length === 0
    ? x
    : node.one('Slice', [x, all(-1), all(-FAR), node.int64s(axes), all(-1)]);
}

const rearranged = (name: 'DepthToSpace' | 'SpaceToDepth') => (node: TensorflowNode) => {
  const isFirst = node.hasChannelsFirst;
  const blocksize = node.attributes.int('block_size', 2);
  const x = node.channelsSecond(node.input(0), isFirst);
  return node.asGiven(node.one(name, [x], { blocksize }), isFirst);
};

/** Blocks of neighbours among the batches: padded, then rearranged. */
function spaceToBatch(node: TensorflowNode): Expr {
  const x = node.input(0);
  const blocks = node.intsInput(1, 'sizes of blocks') ?? [];
  const amounts = node.intsInput(2, 'paddings') ?? [];
  const rank = node.rank(x);
  requireBlocks(node, blocks, amounts);
  const at = (axis: number, side: number) => amounts[2 * (axis - 1) + side] ?? 0;
  const all = Array.from({ length: rank }, (_, axis) => axis);
  const padded = node.call('pad', [x], {
    pads: [...all.map((axis) => at(axis, 0)), ...all.map((axis) => at(axis, 1))],
  });
  const [batch = 1, ...rest] = node.shape(padded);
  const count = blocks.length;
  const [sizes, others] = [rest.slice(0, count), rest.slice(count)];
  const inner = sizes.map((size, i) => node.dims.floordiv(size, blocks[i] ?? 1));
  const apart = node.reshape(padded, [
    batch,
    ...inner.flatMap((size, i) => [size, blocks[i] ?? 1]),
    ...others,
  ]);
  const moved = node.transpose(apart, [
    ...blocks.map((_, i) => 2 * i + 2),
    0,
    ...blocks.map((_, i) => 2 * i + 1),
    ...others.map((_, i) => 2 * count + 1 + i),
  ]);
  const many = blocks.reduce((all, block) => all * block, 1);
  return node.reshape(moved, [node.dims.mul(batch, many), ...inner, ...others]);
}

/** The reverse of {@link spaceToBatch}: rearranged, then cut. */
function batchToSpace(node: TensorflowNode): Expr {
  const x = node.input(0);
  const blocks = node.intsInput(1, 'sizes of blocks') ?? [];
  const crops = node.intsInput(2, 'crops') ?? [];
  requireBlocks(node, blocks, crops);
  const [batch = 1, ...rest] = node.shape(x);
  const count = blocks.length;
  const many = blocks.reduce((all, block) => all * block, 1);
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
  const starts = [0, ...blocks.map((_, i) => crops[2 * i] ?? 0), ...others.map(() => 0)];
  const cut = (size: Dim, i: number) => node.dims.sub(size, crops[2 * i + 1] ?? 0);
  return node.call('slice', [whole], { starts, ends: [left, ...sizes.map(cut), ...others] });
}

function requireBlocks(
  node: TensorflowNode,
  blocks: readonly number[],
  amounts: readonly number[],
): void {
  const rank = node.rank(node.input(0));
  const isFine =
    amounts.length === 2 * blocks.length &&
    blocks.length < rank &&
    blocks.every((block) => block > 0);
  if (!isFine)
    throw node.malformed(
      `${blocks.length} blocks, ${amounts.length} amounts`,
      'two for each block',
    );
}

export const MOVEMENT: TensorflowOperators = {
  BatchToSpaceND: becomes('reshape transpose slice', batchToSpace),
  BroadcastTo: becomes('broadcast_to', (node) =>
    node.one('Expand', [node.input(0), node.longs(1)]),
  ),
  Concat: becomes('concat cast', (node) =>
    concat(node, node.allInputs().slice(1), node.numberInput(0, 'axes') ?? 0),
  ),
  ConcatV2: becomes('concat cast', (node) => {
    const last = node.inputs.length - 1;
    return concat(node, node.allInputs().slice(0, last), node.numberInput(last, 'axes') ?? 0);
  }),
  DepthToSpace: becomes('reshape transpose', rearranged('DepthToSpace')),
  ExpandDims: becomes('reshape', expandDims),
  Fill: becomes('broadcast_to', (node) => node.one('Expand', [node.input(1), node.longs(0)])),
  MirrorPad: becomes('pad', mirrorPad),
  Pack: becomes('reshape concat', pack),
  Pad: becomes('pad', pad),
  PadV2: becomes('pad', pad),
  Rank: becomes('', (node) => node.scalar(node.rank(node.input(0)), 'int32')),
  Reshape: becomes('reshape', reshape),
  ReverseV2: becomes('slice', reverse),
  Shape: becomes('', shape),
  Size: becomes('', (node) => node.cast(node.one('Size', [node.input(0)]), 'int32')),
  Slice: becomes('slice', slice),
  SpaceToBatchND: becomes('pad reshape transpose', spaceToBatch),
  SpaceToDepth: becomes('reshape transpose', rearranged('SpaceToDepth')),
  Split: becomes('slice', split),
  SplitV: becomes('slice', splitV),
  Squeeze: becomes('reshape', squeeze),
  StridedSlice: becomes('slice reshape', stridedSlice),
  Tile: becomes('tile', (node) => node.one('Tile', [node.input(0), node.longs(1)])),
  Transpose: becomes('transpose', transpose),
  Unpack: becomes('slice reshape', unpack),
};
