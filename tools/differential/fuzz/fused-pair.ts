import type { Dim } from '../../../src/core/dims/dim.ts';
import type { Attributes } from '../../../src/core/contracts/primitive-function.ts';
import { CORE_OPERATORS } from '../../../src/ops/tables/core-operators.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import type { Device } from '../../../src/device/device.ts';
import type { Graph } from './graph.ts';
import { GraphDraft } from './graph-draft.ts';
import { differencesOf, VARIANTS } from './run-graph.ts';

/** A call on a float tensor of rank 4; undefined where its values cannot be compared. */
type Step = (draft: GraphDraft, x: number) => number | undefined;

/** Calls in a row, none after one that could not be made. */
function chain(draft: GraphDraft, x: number, ...steps: readonly Step[]): number | undefined {
  return steps.reduce<number | undefined>(
    (at, step) => (at === undefined ? undefined : step(draft, at)),
    x,
  );
}

const call =
  (
    op: string,
    attributes: Attributes | ((draft: GraphDraft, x: number) => Attributes) = {},
  ): Step =>
  (draft, x) =>
    draft.call(op, [x], typeof attributes === 'function' ? attributes(draft, x) : attributes);

const sizeOf = (draft: GraphDraft, x: number, axis: number): number =>
  draft.value(x).shape.at(axis) ?? 1;
const shapeOf = (draft: GraphDraft, x: number): readonly Dim[] => draft.type(x).shape;
const cast = (to: string): Step => call('cast', { to });
const times = (left: Dim, right: Dim): Dim =>
  typeof left === 'number' && typeof right === 'number' ? left * right : { op: 'mul', left, right };

/** Two axes as one of their product. */
const merge =
  (axis: number): Step =>
  (draft, x) => {
    const [left = 1, right = 1, ...rest] = shapeOf(draft, x).slice(axis);
    const shape = [...shapeOf(draft, x).slice(0, axis), times(left, right), ...rest];
    return draft.call('reshape', [x], { shape });
  };

/** Elements of one axis from a begin to an end, the others whole. */
const cut = (axis: number, start: number, end: number, step = 1): Step =>
  call('slice', {
    starts: [0, 0, 0, 0].with(axis, start),
    ends: [99, 99, 99, 99].with(axis, end),
    steps: [1, 1, 1, 1].with(axis, step),
  });

const binary =
  (op: string, range: readonly [number, number], attributes: Attributes = {}): Step =>
  (draft, x) => {
    const { dtype, shape } = draft.type(x);
    const dims = draft.pick([shape, shape.slice(-1), shape.slice(1).with(0, 1)]);
    return draft.call(op, [x, draft.leaf(dtype, dims, { range })], attributes);
  };

const pad = (mode: string): Step =>
  call('pad', (draft) => {
    const pads = Array.from({ length: 8 }, () => draft.below(2));
    return { pads, mode, value: 0.5 };
  });

/** Zero points and scales of a small integer. */
const quantized: Step = (draft, x) => {
  const scale = draft.leaf('float32', [], { value: HostTensor.from('float32', [], [0.25]) });
  const zero = draft.leaf('uint8', [], { value: HostTensor.from('uint8', [], [8]) });
  const codes = draft.call('quantize', [x, scale, zero]);
  return codes && draft.call('dequantize', [codes, scale, zero]);
};

/** What is fused in front of a kernel: every operator that moves elements, and formulas of each cost. */
export const PRODUCERS: Readonly<Record<string, Step>> = {
  chain: (draft, x) => {
    const scaled = chain(draft, x, call('tanh'), binary('mul', [0.5, 2]));
    return scaled && draft.call('add', [scaled, x]);
  },
  mod: (draft, x) => chain(draft, x, cast('int32'), binary('mod', [1, 5]), cast('float32')),
  divided: (draft, x) => chain(draft, x, cast('int32'), binary('div', [1, 5]), cast('float32')),
  pow: (draft, x) => chain(draft, x, call('abs'), binary('pow', [1, 2])),
  erf: call('erf'),
  where: (draft, x) => {
    const condition = draft.leaf('bool', shapeOf(draft, x));
    const other = call('neg')(draft, x);
    return other && draft.call('where', [condition, x, other]);
  },
  float16: (draft, x) => chain(draft, x, cast('float16'), cast('float32')),
  int64: (draft, x) => chain(draft, x, cast('int64'), binary('mul', [-3, 4]), cast('float32')),
  bitcast: (draft, x) =>
    chain(draft, x, call('bitcast', { to: 'int32' }), call('bitcast', { to: 'float32' })),
  quantized,
  transpose: call('transpose', { perm: [3, 1, 0, 2] }),
  swapped: call('transpose', { perm: [0, 1, 3, 2] }),
  reshape: call('reshape', (draft, x) => ({ shape: shapeOf(draft, x).toReversed() })),
  broadcast_to: (draft, x) =>
    chain(
      draft,
      x,
      cut(1, 0, 1),
      call('broadcast_to', (d, y) => ({ shape: shapeOf(d, y).with(1, 3) })),
    ),
  concat: (draft, x) => {
    const axis = draft.below(4);
    const other = draft.leaf('float32', shapeOf(draft, x).with(axis, 1 + draft.below(2)));
    const negative = call('neg')(draft, x);
    return negative && draft.call('concat', [x, other, negative], { axis });
  },
  slice: (draft, x) => cut(1 + draft.below(3), 1, 99)(draft, x),
  reversed: (draft, x) => cut(1 + draft.below(3), 99, -99, -1)(draft, x),
  split: (draft, x) => {
    const [left, right] = [cut(2, 0, 2), cut(2, 1, 3)].map((part) => part(draft, x));
    return left && right && draft.call('mul', [left, right]);
  },
  gather: (draft, x) => {
    const axis = 1 + draft.below(3);
    const size = sizeOf(draft, x, axis);
    return draft.call('gather', [x, draft.leaf('int64', [3], { range: [-size, size] })], { axis });
  },
  /** As Resize makes it of the nearest element. */
  nearest: (draft, x) => chain(draft, x, call('repeat', { repeats: [1, 1, 2, 2] }), cut(3, 1, 99)),
  gather_elements: (draft, x) => {
    const size = sizeOf(draft, x, 3);
    const shape = shapeOf(draft, x).with(3, 3);
    const indices = draft.leaf('int32', shape, { range: [-size, size] });
    return draft.call('gather_elements', [x, indices], { axis: 3 });
  },
  gather_nd: (draft, x) => {
    const size = sizeOf(draft, x, 1);
    const [batch = 1] = shapeOf(draft, x);
    const indices = draft.leaf('int64', [batch, 3, 1], { range: [-size, size] });
    return draft.call('gather_nd', [x, indices], { batch_dims: 1 });
  },
  pad: pad('constant'),
  edge: pad('edge'),
  reflect: pad('reflect'),
  wrap: pad('wrap'),
  tile: call('tile', { repeats: [1, 2, 1, 2] }),
  repeat: call('repeat', { repeats: [1, 1, 2, 1] }),
  one_hot: (draft, x) => {
    const indices = chain(draft, x, cut(3, 0, 1), merge(2), cast('int32'));
    const values = draft.leaf('float32', [2]);
    return indices && draft.call('one_hot', [indices, values], { depth: [4] });
  },
  reverse_sequence: (draft, x) => {
    const lengths = draft.leaf('int64', shapeOf(draft, x).slice(0, 1), {
      range: [0, sizeOf(draft, x, 2) + 1],
    });
    return draft.call('reverse_sequence', [x, lengths], { batch_axis: 0, time_axis: 2 });
  },
  trilu: (draft, x) =>
    draft.call('trilu', [x, draft.leaf('int64', [], { range: [-1, 2] })], {
      upper: draft.below(2) === 0,
    }),
  frames: (draft, x) =>
    chain(draft, x, call('frames', { axis: 2, size: [2], step: [1] }), merge(2)),
};

const reduced =
  (name: string): Step =>
  (draft, x) => {
    const { attributes } = CORE_OPERATORS.require(name);
    const chosen: Record<string, number | readonly number[] | boolean> = {};
    if ('axis' in attributes) chosen['axis'] = draft.below(4);
    if ('axes' in attributes) chosen['axes'] = draft.pick([[3], [0], [1, 2], [0, 3], []]);
    if ('keepdims' in attributes) chosen['keepdims'] = draft.below(2) === 0;
    return draft.call(name, [x], chosen);
  };

const window = { kernel: [2, 2], strides: [1, 1], pads: [1, 1, 1, 1] };

/** A call of a float and a weight whose shape goes by its channels. */
const weighted =
  (op: string, shape: (channels: Dim) => readonly Dim[], attributes: Attributes): Step =>
  (draft, x) => {
    const [, channels = 1] = shapeOf(draft, x);
    return draft.call(op, [x, draft.leaf('float32', shape(channels))], attributes);
  };

const matrix: Step = (draft, x) => chain(draft, x, merge(0), merge(0));

/** The kernels that read what is fused: every reduction, and those that read each element more than once. */
export const CONSUMERS: Readonly<Record<string, Step>> = {
  ...Object.fromEntries(
    [...CORE_OPERATORS]
      .filter(({ kind }) => kind === 'reduction')
      .map(({ name }) => [name, reduced(name)]),
  ),
  matmul: (draft, x) => {
    const inner = shapeOf(draft, x)[3] ?? 1;
    return draft.call('matmul', [x, draft.leaf('float32', [inner, 5])]);
  },
  matmul_weight: (draft, x) => {
    const inner = shapeOf(draft, x)[2] ?? 1;
    return draft.call('matmul', [draft.leaf('float32', [3, inner]), x]);
  },
  gemm: (draft, x) => {
    const rows = matrix(draft, x);
    const weight = draft.leaf('float32', [5, shapeOf(draft, x)[3] ?? 1]);
    return rows && draft.call('gemm', [rows, weight], { trans_b: true, alpha: 0.5 });
  },
  conv2d: weighted('conv2d', (channels) => [3, channels, 2, 2], { pads: [1, 1, 1, 1] }),
  conv3d: (draft, x) => {
    const volume = call('reshape', (d, y) => ({ shape: [1, ...shapeOf(d, y)] }))(draft, x);
    const channels = shapeOf(draft, x)[0] ?? 1;
    const weight = draft.leaf('float32', [2, channels, 1, 2, 2]);
    return volume && draft.call('conv3d', [volume, weight]);
  },
  conv_transpose: (draft, x) => {
    const size = [1 + sizeOf(draft, x, 2), 1 + sizeOf(draft, x, 3)];
    return weighted('conv_transpose', (channels) => [channels, 2, 2, 2], { size })(draft, x);
  },
  max_pool: call('max_pool', window),
  max_pool_indices: call('max_pool_indices', window),
  avg_pool: call('avg_pool', { ...window, count_include_pad: true }),
  sum_pool: call('sum_pool', window),
  batch_norm: (draft, x) => {
    const [, channels = 1] = shapeOf(draft, x);
    const statistics = Array.from({ length: 4 }, () =>
      draft.leaf('float32', [channels], { range: [0.5, 2] }),
    );
    return draft.call('batch_norm', [x, ...statistics]);
  },
  top_k: call('top_k', (draft) => ({ k: [1], axis: draft.below(4) })),
  det: (draft, x) => chain(draft, x, cut(2, 0, 2), cut(3, 0, 2), call('det')),
  scaled_dot_product_attention: (draft, x) =>
    draft.call('scaled_dot_product_attention', [x, x, x], { scale: 0.5 }),
  grid_sample: (draft, x) => {
    const [batch = 1] = shapeOf(draft, x);
    const grid = draft.leaf('float32', [batch, 2, 3, 2], { range: [-1, 1] });
    return draft.call('grid_sample', [x, grid], { padding: 'border' });
  },
  scatter_elements: (draft, x) => {
    const shape = shapeOf(draft, x).with(3, 2);
    const size = sizeOf(draft, x, 3);
    const indices = draft.leaf('int64', shape, { range: [0, size] });
    const updates = draft.leaf('float32', shape);
    return draft.call('scatter_elements', [x, indices, updates], { axis: 3, reduction: 'add' });
  },
};

export interface FusedPairOptions {
  /** Names of {@link PRODUCERS}, the innermost first. */
  readonly producers: readonly string[];
  /** One of {@link CONSUMERS}. */
  readonly consumer: string;
  readonly seed: number;
  /** One size is a symbol. */
  readonly isSymbolic: boolean;
}

/** Values that chance makes hard to compare are drawn again. */
const DRAWS = 8;

/**
 * A kernel with calls in front of it that the compiler fuses; undefined where none can be made, as of a size that only
 * the running program knows.
 */
function fusedPair({ producers, consumer, seed, isSymbolic }: FusedPairOptions): Graph | undefined {
  for (let turn = 0; turn < DRAWS; turn++) {
    const draft = new GraphDraft(seed + turn, new Map(isSymbolic ? [['n', 2]] : []));
    const shape = [isSymbolic ? 'n' : 2, 2, 3, draft.pick([4, 4, 5])];
    const x = draft.leaf('float32', shape, { kind: 'param' });
    const steps = producers.map((name) => PRODUCERS[name]);
    const known = [...steps, CONSUMERS[consumer]].flatMap((step) => step ?? []);
    const result = chain(draft, x, ...known);
    if (result !== undefined) {
      return { nodes: draft.nodes, outputs: [result], symbols: draft.symbols };
    }
  }
  return undefined;
}

/** Pairs that are under way at once, so that the driver compiles for some while others run. */
const BATCH = 16;

/** What devices compute wrongly or do not compile in time, each with its pair; and the pairs that cannot be made. */
export async function runPairs(
  pairs: readonly FusedPairOptions[],
  devices: readonly Device[],
): Promise<{ readonly wrong: readonly string[]; readonly missing: readonly FusedPairOptions[] }> {
  const wrong: string[] = [];
  const missing: FusedPairOptions[] = [];
  const run = async (pair: FusedPairOptions): Promise<void> => {
    const graph = fusedPair(pair);
    if (graph === undefined) missing.push(pair);
    else {
      const found = await differencesOf(graph, { devices, variants: VARIANTS.slice(0, 1) });
      for (const { device, text } of found) {
        wrong.push(`${JSON.stringify(pair)} on ${device}: ${text}`);
      }
    }
  };
  for (let first = 0; first < pairs.length; first += BATCH) {
    await Promise.all(pairs.slice(first, first + BATCH).map(run));
  }
  return { wrong, missing };
}
