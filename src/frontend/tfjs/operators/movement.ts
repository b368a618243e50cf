import type { Expr } from '../../../compiler/ir/expr.ts';
import { batchToSpace, part, spaceToBatch, split, splitV } from '../../foreign/moved-elements.ts';
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

function unpack(node: TensorflowNode): readonly Expr[] {
  const x = node.input(0);
  const axis = node.axis(node.attributes.int('axis', 0), node.rank(x));
  const size = node.number(node.shape(x)[axis] ?? 1, 'the number of parts');
  const squeezed = (each: Expr) => node.one('Squeeze', [each, node.int64s([axis])]);
  return Array.from({ length: size }, (_, i) =>
    squeezed(part(node, x, { axis, start: i, end: i + 1 })),
  );
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
  Split: becomes('slice', (node) =>
    split(node, node.attributes.int('num_split', node.outputCount)),
  ),
  SplitV: becomes('slice', splitV),
  Squeeze: becomes('reshape', squeeze),
  StridedSlice: becomes('slice reshape', stridedSlice),
  Tile: becomes('tile', (node) => node.one('Tile', [node.input(0), node.longs(1)])),
  Transpose: becomes('transpose', transpose),
  Unpack: becomes('slice reshape', unpack),
};
