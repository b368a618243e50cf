import type { Expr } from '../../../compiler/ir/expr.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { batchToSpace, part, spaceToBatch, split, splitV } from '../../foreign/moved-elements.ts';
import { becomes, type LiteImporters } from '../lite-importer.ts';
import type { LiteNode } from '../lite-node.ts';
import { activate } from './activation.ts';

function reshape(node: LiteNode): Expr {
  const x = node.input(0);
  const { shape } = node.options('reshape');
  const given = node.inputs[1];
  // Old models have a text of no bytes in the place of the shape.
  const isInput = given !== undefined && node.shape(given).length === 1;
  const sizes = isInput ? node.longs(1) : node.int64s(shape ?? []);
  return node.one('Reshape', [x, sizes], { allowzero: 1 });
}

function squeeze(node: LiteNode): Expr {
  const x = node.input(0);
  const shape = node.shape(x);
  const { axes = [] } = node.options('squeeze');
  const dropped = new Set(axes.map((axis) => node.axis(axis, shape.length)));
  const isDropped = (dim: Dim, axis: number) =>
    dropped.size === 0 ? dim === 1 : dropped.has(axis);
  return node.reshape(
    x,
    shape.filter((dim, axis) => !isDropped(dim, axis)),
  );
}

function expandDims(node: LiteNode): Expr {
  const x = node.input(0);
  const shape = node.shape(x);
  const axis = node.axis(node.numberInput(1, 'axes') ?? 0, shape.length + 1);
  return node.reshape(x, shape.toSpliced(axis, 0, 1));
}

function transpose(node: LiteNode): Expr {
  const x = node.input(0);
  const rank = node.shape(x).length;
  const perm = node.intsInput(1, 'orders of axes') ?? [];
  const axes = perm.map((axis) => node.axis(axis, rank));
  if (new Set(axes).size !== rank) {
    throw node.malformed(`the order (${perm.join(', ')})`, `each of ${rank} axes once`);
  }
  return node.transpose(x, axes);
}

function concatenation(node: LiteNode): Expr {
  const { axis, activation } = node.options('concatenation');
  const inputs = node.allInputs();
  const at = node.axis(axis, node.shape(node.input(0)).length);
  const whole = inputs.length === 1 ? node.input(0) : node.call('concat', inputs, { axis: at });
  return activate(node, whole, activation);
}

function pack(node: LiteNode): Expr {
  const { axis } = node.options('pack');
  const shape = node.shape(node.input(0));
  const at = node.axis(axis, shape.length + 1);
  const single = node.allInputs().map((x) => node.reshape(x, shape.toSpliced(at, 0, 1)));
  return single.length === 1
    ? (single[0] ?? node.input(0))
    : node.call('concat', single, { axis: at });
}

function unpack(node: LiteNode): readonly Expr[] {
  const { axis, count } = node.options('unpack');
  const x = node.input(0);
  const shape = node.shape(x);
  const at = node.axis(axis, shape.length);
  const size = node.number(shape[at] ?? 1, 'the number of parts');
  if (size !== count) throw node.malformed(`${count} parts of an axis of ${size}`, `${size}`);
  return Array.from({ length: count }, (_, i) =>
    node.reshape(part(node, x, { axis: at, start: i, end: i + 1 }), shape.toSpliced(at, 1)),
  );
}

function slice(node: LiteNode): Expr {
  const x = node.input(0);
  const shape = node.shape(x);
  const sizes = node.intsInput(2, 'sizes of a slice') ?? [];
  const starts = node.dimsInput(1, 'begins of a slice') ?? [];
  if (starts.length !== shape.length || sizes.length !== shape.length) {
    throw node.malformed(`a slice of ${starts.length} axes`, `${shape.length}`);
  }
  const ends = starts.map((start, axis): Dim => {
    const size = sizes[axis] ?? -1;
    return size < 0 ? (shape[axis] ?? 1) : node.dims.add(start, size);
  });
  return node.call('slice', [x], { starts, ends });
}

const FAR = 2 ** 31 - 1;

/** One axis of a strided slice: an axis of the input with its range, a new axis of size 1, or one that disappears. */
function stridedSlice(node: LiteNode): Expr {
  const x = node.input(0);
  const shape = node.shape(x);
  const masks = node.options('stridedSlice');
  const [starts, ends, steps] = ['begins', 'ends', 'steps'].map(
    (what, i) => node.intsInput(i + 1, what) ?? [],
  );
  const given = starts?.length ?? 0;
  const has = (mask: number, i: number) => i < given && ((mask >> i) & 1) === 1;
  const newAxes = Array.from(
    { length: given },
    (_, i) => has(masks.newAxis, i) && !has(masks.ellipsis, i),
  );
  const taken = newAxes.filter((isNew, i) => !isNew && !has(masks.ellipsis, i)).length;
  if (taken > shape.length)
    throw node.malformed(`a slice of ${taken} axes`, `at most ${shape.length}`);
  const ranges: { axis: number; start: number; end: number; step: number }[] = [];
  const result: ('keep' | 'drop' | 'new')[] = [];
  for (let i = 0; i < given; i++) {
    const axis = result.filter((kind) => kind !== 'new').length;
    if (has(masks.ellipsis, i)) {
      for (let left = shape.length - taken; left > 0; left--) result.push('keep');
    } else if (newAxes[i] === true) result.push('new');
    else {
      const step = steps?.[i] ?? 1;
      if (step === 0) throw node.malformed('a step of 0', 'another step');
      const start = starts?.[i] ?? 0;
      const end = masks.offset ? start + (ends?.[i] ?? 0) : (ends?.[i] ?? 0);
      const isShrunk = has(masks.shrink, i);
      const first = has(masks.begin, i) ? (step > 0 ? 0 : FAR) : start;
      const last = has(masks.end, i) ? (step > 0 ? FAR : -FAR) : end;
      ranges.push(
        isShrunk
          ? { axis, start, end: start === -1 ? FAR : start + 1, step: 1 }
          : { axis, start: first, end: last, step },
      );
      result.push(isShrunk ? 'drop' : 'keep');
    }
  }
  const numbers = (pick: (range: (typeof ranges)[number]) => number) =>
    node.int64s(ranges.map(pick));
  const sliced = node.one('Slice', [
    x,
    numbers(({ start }) => start),
    numbers(({ end }) => end),
    numbers(({ axis }) => axis),
    numbers(({ step }) => step),
  ]);
  if (result.every((kind) => kind === 'keep')) return sliced;
  const left = [...node.shape(sliced)];
  const sizes = result.flatMap((kind): readonly Dim[] => {
    const size = kind === 'new' ? 1 : (left.shift() ?? 1);
    return kind === 'drop' ? [] : [size];
  });
  return node.reshape(sliced, [...sizes, ...left]);
}

/** Begins and ends of all axes, as a constant (rank, 2) has them. */
function padding(node: LiteNode): readonly number[] {
  const rank = node.shape(node.input(0)).length;
  const flat = node.intsInput(1, 'paddings') ?? [];
  if (flat.length !== 2 * rank) throw node.malformed(`${flat.length} paddings`, `${2 * rank}`);
  return [...flat.filter((_, i) => i % 2 === 0), ...flat.filter((_, i) => i % 2 === 1)];
}

function pad(node: LiteNode): Expr {
  const x = node.input(0);
  const pads = padding(node);
  const value =
    node.inputs[2] === undefined ? zeroCode(node) : (node.numberInput(2, 'values') ?? 0);
  if (value === 0) return node.call('pad', [x], { pads });
  const fill = node.constant(HostTensor.from(node.type(x).dtype, [], [value]));
  return node.one('Pad', [x, node.int64s(pads), fill]);
}

/** The code that stands for zero. */
const zeroCode = ({ inputTensors }: LiteNode): number =>
  inputTensors[0]?.quantization?.zero[0] ?? 0;

function mirrorPad(node: LiteNode): Expr {
  const pads = padding(node);
  const { mode } = node.options('mirrorPad');
  const x = node.input(0);
  if (mode === 0) return node.one('Pad', [x, node.int64s(pads)], { mode: 'reflect' });
  // Borders count twice: each axis is gathered.
  const rank = pads.length / 2;
  return node.shape(x).reduce<Expr>((result, dim, axis) => {
    const [before = 0, after = 0] = [pads[axis], pads[axis + rank]];
    if (before === 0 && after === 0) return result;
    const size = node.number(dim, 'the size of an axis that is padded');
    if (before > size || after > size) {
      throw node.malformed(`padding of ${before} and ${after}`, `at most ${size}`);
    }
    const places = Array.from({ length: before + size + after }, (_, i) => {
      const at = i - before;
      return at < 0 ? -at - 1 : at >= size ? 2 * size - 1 - at : at;
    });
    const indices = node.constant(HostTensor.from('int32', [places.length], places));
    return node.call('gather', [result, indices], { axis });
  }, x);
}

function tile(node: LiteNode): Expr {
  return node.one('Tile', [node.input(0), node.longs(1)]);
}

function reverse(node: LiteNode): Expr {
  const x = node.input(0);
  const axes = node.axesInput(1, node.shape(x).length);
  const all = (value: number) => node.int64s(axes.map(() => value));
  return node.one('Slice', [x, all(-1), all(-FAR), node.int64s(axes), all(-1)]);
}

function broadcastTo(node: LiteNode): Expr {
  return node.call('broadcast_to', [node.input(0)], { shape: node.dimsInput(1, 'shape') ?? [] });
}

/** (N, H, W, C) with blocks of neighbours among the channels, or the reverse. */
const rearranged = (op: 'DepthToSpace' | 'SpaceToDepth') => (node: LiteNode) => {
  const { block } = node.options(op === 'DepthToSpace' ? 'depthToSpace' : 'spaceToDepth');
  if (!(block > 0)) throw node.malformed(`blocks of ${block}`, 'blocks of 1 or more');
  return node.channelsLast(
    node.one(op, [node.channelsSecond(node.input(0))], { blocksize: block }),
  );
};

export const MOVEMENT_IMPORTERS: LiteImporters = {
  BATCH_TO_SPACE_ND: becomes('transpose reshape slice', batchToSpace),
  BROADCAST_TO: becomes('broadcast_to', broadcastTo),
  CONCATENATION: becomes('concat', concatenation),
  DEPTH_TO_SPACE: becomes('transpose reshape', rearranged('DepthToSpace')),
  EXPAND_DIMS: becomes('reshape', expandDims),
  MIRROR_PAD: becomes('pad gather slice concat', mirrorPad),
  PACK: becomes('concat reshape', pack),
  PAD: becomes('pad', pad),
  PADV2: becomes('pad', pad),
  RESHAPE: becomes('reshape', reshape),
  REVERSE_V2: becomes('slice', reverse),
  SLICE: becomes('slice', slice),
  SPACE_TO_BATCH_ND: becomes('transpose reshape pad', spaceToBatch),
  SPACE_TO_DEPTH: becomes('transpose reshape', rearranged('SpaceToDepth')),
  SPLIT: becomes('slice', (node) => split(node, node.options('split').count)),
  SPLIT_V: becomes('slice', splitV),
  SQUEEZE: becomes('reshape', squeeze),
  STRIDED_SLICE: becomes('slice reshape', stridedSlice),
  TILE: becomes('tile', tile),
  TRANSPOSE: becomes('transpose', transpose),
  UNPACK: becomes('slice reshape', unpack),
};
