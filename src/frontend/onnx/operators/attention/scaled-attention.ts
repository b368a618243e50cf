import type { Expr } from '../../../../compiler/ir/expr.ts';
import { type Dim, formatDim } from '../../../../core/dims/dim.ts';
import type { DType } from '../../../../core/tensor/dtype.ts';
import type { ImportNode } from '../../import-node.ts';
import { number } from '../elementwise/elementwise.ts';
import { sliceAlong } from '../movement/slice-along.ts';
import { formatShape } from '../../../../core/tensor/shape.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { dtypeFromOnnx } from '../../protobuf/read-tensor.ts';

interface ScaledAttention {
  /** (batch, heads, queries, size). */
  readonly query: Expr;
  /** (batch, kvHeads, keys, size): several heads of queries in a row share one. */
  readonly key: Expr;
  /** (batch, kvHeads, keys, valueSize). */
  readonly value: Expr;
  /** The factor of the scores. Default 1 / sqrt(size). */
  readonly scale?: number | undefined;
  /** Scores are limited to this by a hyperbolic tangent; 0 for no limit. */
  readonly softcap?: number;
  /** Added to scores, with which it broadcasts. */
  readonly bias?: Expr | undefined;
  /** Rows of the bias may be -infinity throughout: they attend to nothing. */
  readonly mayMaskRows?: boolean;
  readonly softmaxDType?: DType | undefined;
  /** Change biased scores, and weights; both in {@link softmaxDType}, where that is given. */
  readonly changeScores?: (scores: Expr) => Expr;
  readonly changeWeights?: (weights: Expr) => Expr;
  /** A score for each head, (heads, 1, 1), that takes its share and gives no value. */
  readonly sink?: Expr | undefined;
  /** For {@link attendUnseen} without a sink: the first query's place; none sees keys behind its own. */
  readonly causal?: Dim | undefined;
}

/** The scale that was given, or that of the size of heads. */
const scaleOf = (node: ImportNode, { query, scale }: ScaledAttention): number =>
  scale ?? 1 / Math.sqrt(node.number(node.shape(query)[3] ?? 1, 'the size of heads'));

interface CachedAttention extends ScaledAttention {
  /** The position of each sequence's first query, int32 (batch): none sees keys behind its own. */
  readonly first: Expr;
  /** How many keys up to its own a query sees; 0 for all. */
  readonly window: number;
}

/** The output of attention to a cache that is perhaps longer than what is in it. */
export function attendCached(node: ImportNode, spec: CachedAttention): Expr {
  const { query, key, value, first, window, softcap = 0 } = spec;
  const attributes = { scale: scaleOf(node, spec), softcap, window };
  return node.call('cached_attention', [query, key, value, first], attributes);
}

/** The output of attention whose scores nobody reads. */
export function attendUnseen(node: ImportNode, spec: ScaledAttention): Expr {
  const { query, key, value, bias, softcap = 0, causal } = spec;
  if (spec.sink !== undefined) return attend(node, spec).output;
  const scale = scaleOf(node, spec);
  return node.call(
    'scaled_dot_product_attention',
    [query, key, value, ...(bias === undefined ? [] : [bias])],
    { scale, softcap, causal: causal === undefined ? [] : [causal] },
  );
}

/** Scores and weights are (batch, heads, queries, keys), the output is (batch, heads, queries, valueSize). */
export interface AttentionResult {
  readonly output: Expr;
  readonly scores: Expr;
  readonly cappedScores: Expr;
  readonly biasedScores: Expr;
  readonly weights: Expr;
}

/** softmax(query keyᵀ scale + bias) value: A. Vaswani et al., "Attention Is All You Need" (2017). */
export function attend(node: ImportNode, spec: ScaledAttention): AttentionResult {
  const { query, key, value, bias, softcap = 0 } = spec;
  const [batch = 1, heads = 1, queries = 1, size = 1] = node.shape(query);
  const [, kvHeads = 1, keys = 1, valueSize = 1] = node.shape(value);
  const shape = [batch, heads, queries, keys];
  const scale = spec.scale ?? 1 / Math.sqrt(node.number(size, 'the size of heads'));
  // Heads that share keys are rows of one product.
  const grouped = groupRows(node, query, kvHeads);
  const products = node.call('matmul', [grouped, swapLast(node, key)]);
  const scaled = node.call('mul', [products, number(node, products, scale)]);
  const scores = node.reshape(scaled, shape);
  const cappedScores = softcap > 0 ? cap(node, scores, softcap) : scores;
  const biasedScores = bias === undefined ? cappedScores : node.call('add', [cappedScores, bias]);
  const weights = weightsOf(node, biasedScores, spec);
  const sum = node.call('matmul', [groupRows(node, weights, kvHeads), value]);
  const output = node.reshape(sum, [batch, heads, queries, valueSize]);
  return { output, scores, cappedScores, biasedScores, weights };
}

/** (batch, heads, rows, size) as (batch, kvHeads, heads / kvHeads * rows, size). */
function groupRows(node: ImportNode, x: Expr, kvHeads: Dim): Expr {
  const [batch = 1, heads = 1, rows = 1, size = 1] = node.shape(x);
  if (heads === kvHeads) return x;
  const group = node.dims.floordiv(heads, kvHeads);
  return node.reshape(x, [batch, kvHeads, node.dims.mul(rows, group), size]);
}

function swapLast(node: ImportNode, x: Expr): Expr {
  return node.call('transpose', [x], { perm: [0, 1, 3, 2] });
}

function cap(node: ImportNode, scores: Expr, softcap: number): Expr {
  const limit = number(node, scores, softcap);
  const limited = node.call('tanh', [node.call('div', [scores, limit])]);
  return node.call('mul', [limited, limit]);
}

function weightsOf(
  node: ImportNode,
  scores: Expr,
  { softmaxDType, sink, bias, mayMaskRows, changeScores, changeWeights }: ScaledAttention,
): Expr {
  const { dtype, shape } = node.type(scores);
  const cast = (x: Expr, to: DType): Expr =>
    node.type(x).dtype === to ? x : node.call('cast', [x], { to });
  const unchanged = cast(scores, softmaxDType ?? dtype);
  const precise = changeScores?.(unchanged) ?? unchanged;
  const column = sink && sinkColumn(node, cast(sink, node.type(precise).dtype), shape);
  const joined =
    column === undefined ? precise : node.call('concat', [precise, column], { axis: 3 });
  const shares = node.call('softmax', [joined], { axis: 3 });
  const soft = cast(changeWeights?.(shares) ?? shares, dtype);
  const weights =
    column === undefined ? soft : sliceAlong(node, soft, { axis: 3, start: 0, end: shape[3] ?? 0 });
  if (bias === undefined || mayMaskRows !== true) return weights;
  const axis = node.shape(bias).length - 1;
  const most = node.call('reduce_max', [bias], { axes: [axis], keepdims: true });
  const isMasked = node.call('equal', [most, number(node, bias, -Infinity)]);
  return node.call('where', [isMasked, number(node, weights, 0), weights]);
}

function sinkColumn(node: ImportNode, sink: Expr, shape: readonly Dim[]): Expr {
  return node.call('broadcast_to', [sink], { shape: [...shape.slice(0, 3), 1] });
}

/** (batch, rows, heads * size) as (batch, heads, rows, size). */
export function splitHeads(node: ImportNode, x: Expr, heads: number): Expr {
  const [batch = 1, rows = 1, width = 1] = node.shape(x);
  const parts = node.reshape(x, [batch, rows, heads, node.dims.floordiv(width, heads)]);
  return node.call('transpose', [parts], { perm: [0, 2, 1, 3] });
}

/** The inverse of {@link splitHeads}. */
export function mergeHeads(node: ImportNode, x: Expr): Expr {
  const [batch = 1, heads = 1, rows = 1, size = 1] = node.shape(x);
  const turned = node.call('transpose', [x], { perm: [0, 2, 1, 3] });
  return node.reshape(turned, [batch, rows, node.dims.mul(size, heads)]);
}

/** A past of keys or values with what comes after it; what comes where there is no past. */
export function withPast(node: ImportNode, past: Expr | undefined, x: Expr): Expr {
  return past === undefined ? x : node.call('concat', [past, x], { axis: 2 });
}

/** A graph of the node as a function from a tensor to one of the same type; undefined where there is none. */
function change(node: ImportNode, name: string): ((x: Expr) => Expr) | undefined {
  if (!node.attributes.has(name)) return undefined;
  const graph = node.subgraph(name);
  if (graph.inputNames.length !== 1 || graph.outputNames.length !== 1) {
    throw node.malformed(
      `${name} of ${graph.inputNames.length} inputs and ${graph.outputNames.length} outputs`,
      'one of each',
    );
  }
  return (x) => {
    const [y] = graph.importInto(node.block, [x]);
    if (y === undefined) throw new Error('internal: a graph without an output');
    const [given, wanted] = [node.type(y), node.type(x)];
    const isSame = given.dtype === wanted.dtype && given.shape.length === wanted.shape.length;
    if (isSame) return node.tensor(y);
    const format = ({ dtype, shape }: typeof given): string =>
      `${dtype} ${formatShape(shape.map(formatDim))}`;
    throw node.malformed(`${name} that gives ${format(given)}`, `${format(wanted)}, as it gets`);
  };
}

/**
 * FlexAttention: query, key and value (batch, heads, rows, size), and graphs that change scores and weights: J. Dong et
 * al., "Flex Attention" (2024).
 */
function importFlexAttention(node: ImportNode): Expr {
  const { attributes } = node;
  const [query, key, value] = [node.input(0), node.input(1), node.input(2)];
  const ranks = [query, key, value].map((x) => node.shape(x).length);
  if (ranks.some((rank) => rank !== 4)) {
    throw node.malformed(`operands of ranks ${ranks.join(', ')}`, 'rank 4');
  }
  const { dtype } = node.type(query);
  const precision = attributes.int('softmax_precision', 0);
  const byDefault = dtype === 'float64' ? dtype : 'float32';
  const softmaxDType = precision === 0 ? byDefault : dtypeFromOnnx(precision, node.where);
  const [changeScores, changeWeights] = ['score_mod', 'prob_mod'].map((name) => change(node, name));
  const spec = { query, key, value, scale: attributes.float('scale') };
  if (changeScores === undefined && changeWeights === undefined && precision === 0) {
    return attendUnseen(node, spec);
  }
  return attend(node, {
    ...spec,
    softmaxDType,
    ...(changeScores && { changeScores }),
    ...(changeWeights && { changeWeights }),
  }).output;
}

export const FLEX_ATTENTION_IMPORTERS: OperatorImporters = {
  FlexAttention: since(
    1,
    'scaled_dot_product_attention matmul transpose mul reshape softmax cast',
    importFlexAttention,
  ),
};
