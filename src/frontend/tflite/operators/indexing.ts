import type { Expr } from '../../../compiler/ir/expr.ts';
import { becomes, type LiteImporter, type LiteImporters } from '../lite-importer.ts';
import type { LiteNode } from '../lite-node.ts';

function gather(node: LiteNode): Expr {
  const { axis, batchDims } = node.options('gather');
  const [x, indices] = [node.input(0), node.input(1)];
  const shape = node.shape(x);
  const at = node.axis(axis, shape.length);
  if (batchDims === 0) return node.one('Gather', [x, indices], { axis: at });
  const rank = node.shape(indices).length;
  const lead = batchDims < 0 ? batchDims + rank : batchDims;
  if (at !== lead || rank !== lead + 1) {
    throw node.unsupported(
      `indices of ${rank} axes for axis ${at}`,
      `one behind ${lead} of batches`,
    );
  }
  // Each index stands for all that lies behind its axis.
  const places = node.shape(indices);
  const behind = shape.slice(at + 1);
  const wide = node.call(
    'broadcast_to',
    [node.reshape(indices, [...places, ...behind.map(() => 1)])],
    {
      shape: [...places, ...behind],
    },
  );
  return node.one('GatherElements', [x, wide], { axis: at });
}

/** Values at places of a tensor of zeros; those at the same place are added. */
function scatterNd(node: LiteNode): Expr {
  const [indices, updates] = [node.input(0), node.input(1)];
  const shape = node.dimsInput(2, 'shape') ?? [];
  const zeros = node.call('broadcast_to', [node.like(updates, 0)], { shape });
  return node.one('ScatterND', [zeros, node.cast(indices, 'int64'), updates], { reduction: 'add' });
}

function oneHot(node: LiteNode): Expr {
  const { axis } = node.options('oneHot');
  const [on, off] = [node.input(2), node.input(3)].map((value) => node.reshape(value, [1]));
  if (on === undefined || off === undefined) throw new Error('internal: no values');
  const values = node.call('concat', [off, on], { axis: 0 });
  const indices = node.cast(node.input(0), 'int64');
  // Negative indices are nowhere here, and count from the end in ONNX.
  const depth = node.input(1);
  const zero = node.like(indices, 0);
  const nowhere = node.reshape(node.cast(depth, 'int64'), []);
  const isBelow = node.call('less', [indices, zero]);
  const places = node.call('where', [isBelow, nowhere, indices]);
  return node.one('OneHot', [places, depth, values], { axis });
}

/** A condition with fewer axes belongs to the first ones. */
function select(node: LiteNode): Expr {
  const [condition, x] = [node.input(0), node.input(1)];
  const shape = node.shape(condition);
  const missing = node.shape(x).length - shape.length;
  const aligned =
    missing > 0
      ? node.reshape(condition, [...shape, ...new Array<number>(missing).fill(1)])
      : condition;
  return node.call('where', [aligned, x, node.input(2)]);
}

/** Where elements are not zero, a row for each. */
function where(node: LiteNode): Expr {
  const x = node.input(0);
  return node.call('transpose', [node.one('NonZero', [x])], { perm: [1, 0] });
}

function shape(node: LiteNode): Expr {
  const { type } = node.options('shape');
  return node.cast(node.one('Shape', [node.input(0)]), type === 4 ? 'int64' : 'int32');
}

function rank(node: LiteNode): Expr {
  return node.scalar(node.shape(node.input(0)).length, 'int32');
}

function fill(node: LiteNode): Expr {
  const sizes = node.dimsInput(0, 'shape') ?? [];
  return node.call('broadcast_to', [node.input(1)], { shape: sizes });
}

function zerosLike(node: LiteNode): Expr {
  const x = node.input(0);
  return node.call('broadcast_to', [node.like(x, 0)], { shape: node.shape(x) });
}

function reverseSequence(node: LiteNode): Expr {
  const { axis, batchAxis } = node.options('reverseSequence');
  const [x, lengths] = [node.input(0), node.cast(node.input(1), 'int64')];
  return node.one('ReverseSequence', [x, lengths], { time_axis: axis, batch_axis: batchAxis });
}

/** Part of a tensor replaced where integers that are computed say; they are moved inside it. */
function dynamicUpdateSlice(node: LiteNode): Expr {
  const [x, update] = [node.input(0), node.input(1)];
  const sizes = node.numbers(node.shape(x), 'the sizes of a tensor');
  const part = node.numbers(node.shape(update), 'the sizes of a part');
  const starts = node.cast(node.input(2), 'int64');
  const result = sizes.reduce<Expr>(
    (inner, _, axis) => {
      const count = part[axis] ?? 1;
      const most = (sizes[axis] ?? 1) - count;
      const start = node.one('Gather', [starts, node.int64s([axis])], { axis: 0 });
      const low = node.call('minimum', [start, node.int64s([Math.max(most, 0)])]);
      const begin = node.call('maximum', [low, node.int64s([0])]);
      const line = node.int64s(Array.from({ length: count }, (_index, i) => i));
      const stride = sizes.slice(axis + 1).reduce((a, b) => a * b, 1);
      const places = node.call('mul', [node.call('add', [begin, line]), node.int64s([stride])]);
      const wide = part.map((_size, i) => (i === axis ? count : 1));
      return node.call('add', [inner, node.reshape(places, wide)]);
    },
    node.int64s(
      [0],
      part.map(() => 1),
    ),
  );
  const whole = node.call('broadcast_to', [result], { shape: part });
  const count = part.reduce((a, b) => a * b, 1);
  const all = sizes.reduce((a, b) => a * b, 1);
  const scattered = node.one('ScatterElements', [
    node.reshape(x, [all]),
    node.reshape(whole, [count]),
    node.reshape(update, [count]),
  ]);
  return node.reshape(scattered, sizes);
}

const onnx = (op: string, makes: string): LiteImporter =>
  becomes(makes, (node) => node.one(op, node.allInputs()));

export const INDEXING_IMPORTERS: LiteImporters = {
  DYNAMIC_UPDATE_SLICE: becomes(
    'scatter_elements gather add mul minimum maximum',
    dynamicUpdateSlice,
  ),
  FILL: becomes('broadcast_to', fill),
  GATHER: becomes('gather gather_elements broadcast_to', gather),
  GATHER_ND: becomes('gather_nd', (node) =>
    node.one('GatherND', [node.input(0), node.cast(node.input(1), 'int64')]),
  ),
  ONE_HOT: becomes('one_hot where less concat', oneHot),
  RANGE: onnx('Range', 'range'),
  RANK: becomes('', rank),
  REVERSE_SEQUENCE: becomes('reverse_sequence', reverseSequence),
  SCATTER_ND: becomes('scatter_nd broadcast_to', scatterNd),
  SELECT: becomes('where', select),
  SELECT_V2: becomes('where', (node) =>
    node.call('where', [node.input(0), node.input(1), node.input(2)]),
  ),
  SHAPE: becomes('', shape),
  WHERE: becomes('nonzero transpose', where),
  ZEROS_LIKE: becomes('broadcast_to', zerosLike),
};
