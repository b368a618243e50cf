import type { Dim } from '../../../src/core/dims/dim.ts';
import { ALL_DTYPES, type DType } from '../../../src/core/tensor/dtype.ts';
import type {
  Attributes,
  AttributeValue,
  TensorType,
} from '../../../src/core/contracts/primitive-function.ts';
import type { OpDefinition } from '../../../src/ops/define-op.ts';
import { KERNEL_DTYPES } from '../../../src/ops/lowering/placement.ts';
import { CORE_OPERATORS } from '../../../src/ops/tables/core-operators.ts';
import { withCases } from '../../../src/ops/testing/tested-ops.ts';
import type { GraphDraft } from './graph-draft.ts';

/** A call of one operator on values of the graph, or nothing where none fit. */
type Proposal = (draft: GraphDraft) => number | undefined;

const KERNEL_TYPES = ALL_DTYPES.filter((dtype) => KERNEL_DTYPES.has(dtype));
const SIZES = [0, 1, 1, 2, 2, 3, 4, 5, 7];

/** An operator on values that the graph has, with attributes that suit their shapes. */
export function proposeOnPool(draft: GraphDraft, filter: RegExp | undefined): number | undefined {
  const kinds = Object.keys(PROPOSALS).filter((kind) => filter?.test(kind) ?? true);
  const elementwise = elementwiseOps(filter);
  if (draft.nodes.length < 3) randomLeaf(draft);
  const choices: Proposal[] = [];
  if (elementwise.length > 0) choices.push((d) => callElementwise(d, d.pick(elementwise)));
  if (kinds.length > 0) choices.push((d) => PROPOSALS[d.pick(kinds)]?.(d));
  return choices.length === 0 ? undefined : draft.pick(choices)(draft);
}

function elementwiseOps(filter: RegExp | undefined): readonly OpDefinition[] {
  return [...CORE_OPERATORS].filter(
    ({ name, kind }) => kind === 'elementwise' && (filter?.test(name) ?? true),
  );
}

function randomLeaf(draft: GraphDraft): number {
  const rank = draft.below(5);
  const dtypes: readonly DType[] = ['float32', 'float32', 'float32', 'float16', 'int64', 'int32'];
  const dtype = draft.below(3) > 0 ? draft.pick(dtypes) : draft.pick(KERNEL_TYPES);
  return draft.leaf(
    dtype,
    Array.from({ length: rank }, () => randomDim(draft)),
  );
}

function randomDim(draft: GraphDraft): Dim {
  const names = [...draft.symbols.keys()];
  return names.length > 0 && draft.below(4) === 0 ? draft.pick(names) : draft.pick(SIZES);
}

/** A value of the graph that an operator takes as its first input. */
function operandOf(
  draft: GraphDraft,
  name: string,
  fits: (type: TensorType) => boolean = () => true,
): number | undefined {
  const dtypes = CORE_OPERATORS.require(name).inputs[0]?.dtypes ?? [];
  const found = draft.find((type) => dtypes.includes(type.dtype) && fits(type));
  if (found !== undefined && draft.below(10) > 0) return found;
  const leaf = randomLeaf(draft);
  const type = draft.type(leaf);
  return dtypes.includes(type.dtype) && fits(type) ? leaf : undefined;
}

function callElementwise(draft: GraphDraft, op: OpDefinition): number | undefined {
  const isChoice = op.inputs[0]?.dtypes.length === 1 && op.inputs.length === 3;
  const lead = isChoice ? op.inputs[1] : op.inputs[0];
  const found = draft.find(({ dtype }) => lead?.dtypes.includes(dtype) === true);
  const first = found ?? draft.leaf(draft.pick(lead?.dtypes ?? ['float32']), [randomDim(draft)]);
  const { dtype, shape } = draft.type(first);
  const operands = op.inputs.map((spec, i) => {
    if (spec === lead) return first;
    const wanted = isChoice && i === 0 ? 'bool' : dtype;
    const isTaken = (type: TensorType) => type.dtype === wanted && broadcasts(type.shape, shape);
    const other = draft.below(3) > 0 ? draft.find(isTaken) : undefined;
    return other ?? draft.leaf(wanted, partOf(draft, shape));
  });
  if (op.inputs.length === 2 && draft.below(4) === 0) operands.reverse();
  return draft.call(op.name, operands, attributesFor(draft, op, shape.length));
}

/** A shape that is repeated to another one. */
function partOf(draft: GraphDraft, shape: readonly Dim[]): Dim[] {
  const dims = shape.map((dim) => (draft.below(4) === 0 ? 1 : dim));
  return draft.below(3) === 0 ? dims.slice(draft.below(dims.length + 1)) : dims;
}

function broadcasts(a: readonly Dim[], b: readonly Dim[]): boolean {
  const rank = Math.min(a.length, b.length);
  return a
    .slice(a.length - rank)
    .every((dim, i) => dim === b[b.length - rank + i] || dim === 1 || b[b.length - rank + i] === 1);
}

/** Attributes of a case of the operator, but axes and switches at random. */
function attributesFor(draft: GraphDraft, op: OpDefinition, rank: number): Attributes {
  const chosen: Record<string, AttributeValue> = {
    ...draft.pick(withCases(op).cases()).attributes,
  };
  for (const [name, { type }] of Object.entries(op.attributes)) {
    if (type === 'bool') chosen[name] = draft.below(2) === 0;
    else if (type === 'dtype') chosen[name] = draft.pick(KERNEL_TYPES);
    else if (name === 'axis') chosen[name] = axisOf(draft, rank);
    else if (name === 'axes') chosen[name] = axesOf(draft, rank);
  }
  return chosen;
}

function axisOf(draft: GraphDraft, rank: number): number {
  return draft.below(2 * Math.max(rank, 1)) - Math.max(rank, 1);
}

function axesOf(draft: GraphDraft, rank: number): number[] {
  return Array.from({ length: rank }, (_, axis) => axis).filter(() => draft.below(2) === 0);
}

/** A call of an operator with one input and attributes about its axes. */
function alongAxes(name: string): Proposal {
  return (draft) => {
    const x = operandOf(draft, name);
    if (x === undefined) return undefined;
    const op = CORE_OPERATORS.require(name);
    return draft.call(name, [x], attributesFor(draft, op, draft.type(x).shape.length));
  };
}

function shuffled<T>(draft: GraphDraft, list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, key: draft.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

function numbers(shape: readonly Dim[]): number[] | undefined {
  const found = shape.filter((dim) => typeof dim === 'number');
  return found.length === shape.length ? found : undefined;
}

const transpose: Proposal = (draft) => {
  const x = operandOf(draft, 'transpose');
  if (x === undefined) return undefined;
  return draft.call('transpose', [x], { perm: shuffled(draft, [...draft.type(x).shape.keys()]) });
};

const reshape: Proposal = (draft) => {
  const x = operandOf(draft, 'reshape');
  if (x === undefined) return undefined;
  const { shape } = draft.type(x);
  const dims: Dim[] = [...shape];
  const at = draft.below(dims.length + 1);
  const kind = draft.below(4);
  const [left, right] = [dims[at], dims[at + 1]];
  if (kind === 0) dims.splice(at, 0, 1);
  else if (kind === 1 && left === 1) dims.splice(at, 1);
  else if (kind === 2 && left !== undefined && right !== undefined) {
    dims.splice(at, 2, { op: 'mul', left, right });
  } else if (typeof left === 'number' && left % 2 === 0) dims.splice(at, 1, 2, left / 2);
  else dims.reverse();
  return draft.call('reshape', [x], { shape: dims });
};

const broadcastTo: Proposal = (draft) => {
  const x = operandOf(draft, 'broadcast_to');
  if (x === undefined) return undefined;
  const dims = draft.type(x).shape.map((dim) => (dim === 1 ? randomDim(draft) : dim));
  return draft.call('broadcast_to', [x], {
    shape: draft.below(2) === 0 ? [randomDim(draft), ...dims] : dims,
  });
};

const slice: Proposal = (draft) => {
  const x = operandOf(draft, 'slice', ({ shape }) => shape.length > 0);
  if (x === undefined) return undefined;
  const { shape } = draft.type(x);
  const steps = shape.map(() => draft.pick([1, 1, 1, 2, -1, -2, 3]));
  const within = (dim: Dim): number =>
    typeof dim === 'number' ? draft.below(2 * dim + 2) - dim : 0;
  const starts = shape.map((dim, i) =>
    draft.below(2) === 0 ? ((steps[i] ?? 1) > 0 ? 0 : 2 ** 31 - 1) : within(dim),
  );
  const ends = shape.map((dim, i) =>
    draft.below(2) === 0 ? ((steps[i] ?? 1) > 0 ? 2 ** 31 - 1 : -(2 ** 31)) : within(dim),
  );
  return draft.call('slice', [x], { starts, ends, steps });
};

const pad: Proposal = (draft) => {
  const x = operandOf(draft, 'pad', ({ shape }) => shape.length > 0);
  if (x === undefined) return undefined;
  const { shape } = draft.type(x);
  const pads = [...shape, ...shape].map(() => draft.pick([0, 0, 1, 2, -1]));
  const modes = CORE_OPERATORS.require('pad').attributes['mode']?.oneOf ?? ['constant'];
  return draft.call('pad', [x], { pads, mode: draft.pick(modes), value: draft.pick([0, 0.5, 3]) });
};

const tile: Proposal = (draft) => {
  const x = operandOf(draft, 'tile');
  if (x === undefined) return undefined;
  const repeats = draft.type(x).shape.map(() => draft.pick([1, 1, 2, 3, 0]));
  return draft.call('tile', [x], { repeats });
};

const concat: Proposal = (draft) => {
  const x = operandOf(draft, 'concat', ({ shape }) => shape.length > 0);
  if (x === undefined) return undefined;
  const { dtype, shape } = draft.type(x);
  const at = draft.below(shape.length);
  const isLike = (type: TensorType) =>
    type.dtype === dtype &&
    type.shape.length === shape.length &&
    type.shape.every((dim, i) => i === at || dim === shape[i]);
  const parts = Array.from({ length: 1 + draft.below(4) }, () => {
    const other = draft.below(2) === 0 ? draft.find(isLike) : undefined;
    return other ?? draft.leaf(dtype, shape.with(at, randomDim(draft)));
  });
  return draft.call('concat', shuffled(draft, [x, ...parts]), { axis: at });
};

const gather: Proposal = (draft) => {
  const x = operandOf(draft, 'gather', ({ shape }) => shape.length > 0);
  if (x === undefined) return undefined;
  const { shape } = draft.type(x);
  const axis = draft.below(shape.length);
  const size = draft.value(x).shape[axis] ?? 0;
  if (size === 0) return undefined;
  const dims = Array.from({ length: draft.below(3) }, () => randomDim(draft));
  const indices = draft.leaf(draft.pick(['int64', 'int32']), dims, { range: [-size, size] });
  return draft.call('gather', [x, indices], { axis });
};

const gatherElements: Proposal = (draft) => {
  const x = operandOf(draft, 'gather_elements', ({ shape }) => shape.length > 0);
  const shape = x === undefined ? undefined : numbers(draft.type(x).shape);
  if (x === undefined || shape === undefined || shape.includes(0)) return undefined;
  const axis = draft.below(shape.length);
  const size = shape[axis] ?? 1;
  const dims = shape.map((dim, i) => (i === axis ? draft.pick(SIZES) : 1 + draft.below(dim)));
  const indices = draft.leaf(draft.pick(['int64', 'int32']), dims, { range: [-size, size] });
  return draft.call('gather_elements', [x, indices], { axis });
};

const scatterElements: Proposal = (draft) => {
  const x = operandOf(draft, 'scatter_elements', ({ shape }) => shape.length > 0);
  const shape = x === undefined ? undefined : numbers(draft.type(x).shape);
  if (x === undefined || shape === undefined || shape.includes(0)) return undefined;
  const axis = draft.below(shape.length);
  const size = shape[axis] ?? 1;
  const dims = shape.map((dim) => 1 + draft.below(dim));
  const indices = draft.leaf('int64', dims, { range: [-size, size] });
  const updates = draft.leaf(draft.type(x).dtype, dims);
  const modes = CORE_OPERATORS.require('scatter_elements').attributes['reduction']?.oneOf ?? [
    'none',
  ];
  // Without a reduction an index that stands there twice leaves open which update stays.
  const reduction = draft.pick(modes.filter((mode) => mode !== 'none'));
  return draft.call('scatter_elements', [x, indices, updates], { axis, reduction });
};

const matmul: Proposal = (draft) => {
  const a = operandOf(draft, 'matmul', ({ shape }) => shape.length > 0);
  if (a === undefined) return undefined;
  const { dtype, shape } = draft.type(a);
  const inner = shape.at(-1) ?? 1;
  const isFactor = (type: TensorType) =>
    type.dtype === dtype && type.shape.length > 1 && type.shape.at(-2) === inner;
  const known = draft.below(2) === 0 ? draft.find(isFactor) : undefined;
  const batch = draft.below(2) === 0 ? partOf(draft, shape.slice(0, -2)) : [];
  const b = known ?? draft.leaf(dtype, [...batch, inner, randomDim(draft)]);
  return draft.call('matmul', [a, b]);
};

const gemm: Proposal = (draft) => {
  const a = operandOf(draft, 'gemm', ({ shape }) => shape.length === 2);
  if (a === undefined) return undefined;
  const { dtype, shape } = draft.type(a);
  const [isTurnedA, isTurnedB] = [draft.below(2) === 0, draft.below(2) === 0];
  const [rows, inner] = isTurnedA ? [shape[1] ?? 1, shape[0] ?? 1] : [shape[0] ?? 1, shape[1] ?? 1];
  const columns = randomDim(draft);
  const b = draft.leaf(dtype, isTurnedB ? [columns, inner] : [inner, columns]);
  const c = draft.leaf(dtype, partOf(draft, [rows, columns]));
  const scales = { alpha: draft.pick([1, 0.5]), beta: draft.pick([1, -2]) };
  const attributes = { trans_a: isTurnedA, trans_b: isTurnedB, ...scales };
  return draft.call('gemm', draft.below(3) === 0 ? [a, b] : [a, b, c], attributes);
};

/** Statistics over the last axis with a scale, and a bias where the operator has one. */
function rowNorm(name: string): Proposal {
  return (draft) => {
    const x = operandOf(draft, name, ({ shape }) => shape.length > 0);
    return x === undefined ? undefined : draft.call(name, [x], { epsilon: 0.01 });
  };
}

const topK: Proposal = (draft) => {
  const x = operandOf(draft, 'top_k', ({ shape }) => shape.length > 0);
  if (x === undefined) return undefined;
  const axis = draft.below(draft.type(x).shape.length);
  const size = draft.value(x).shape[axis] ?? 0;
  const largest = draft.below(2) === 0;
  return draft.call('top_k', [x], { k: [draft.below(size + 1)], axis, largest });
};

const branch: Proposal = (draft) => {
  if (draft.below(2) === 0) return undefined;
  const yes = draft.find(() => true);
  if (yes === undefined) return undefined;
  const { dtype, shape } = draft.type(yes);
  const text = JSON.stringify(shape);
  const no =
    draft.find((type, node) => {
      return node !== yes && type.dtype === dtype && JSON.stringify(type.shape) === text;
    }) ?? draft.leaf(dtype, shape);
  const isFlag = (type: TensorType) => type.dtype === 'bool' && type.shape.length === 0;
  const condition = draft.find(isFlag) ?? draft.leaf('bool', []);
  return draft.branch(condition, yes, no);
};

const PROPOSALS: Readonly<Record<string, Proposal>> = {
  transpose,
  reshape,
  broadcast_to: broadcastTo,
  slice,
  pad,
  tile,
  concat,
  gather,
  gather_elements: gatherElements,
  scatter_elements: scatterElements,
  matmul,
  gemm,
  top_k: topK,
  if: branch,
  layer_norm: rowNorm('layer_norm'),
  rms_norm: rowNorm('rms_norm'),
  ...Object.fromEntries(
    [
      'softmax',
      'log_softmax',
      'reduce_sum',
      'reduce_mean',
      'reduce_prod',
      'reduce_max',
      'reduce_min',
      'arg_max',
      'arg_min',
      'cumulative',
      'global_max_pool',
      'global_avg_pool',
    ].map((name) => [name, alongAxes(name)]),
  ),
};
