import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import type { ImportNode } from '../../import-node.ts';
import { cutAlong } from '../movement/slice-along.ts';
import { alongAxis, indicesInput } from '../../sizes/check-indices.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { axisSize } from '../indexing/indexing.ts';
import { refuseAttributes } from '../refuse-attributes.ts';

interface Rotation {
  /** The cosine for each position and pair, (batch or 1, positions, pairs). */
  readonly cos: Expr;
  readonly sin: Expr;
  /** How many heads an x of rank 3 has. */
  readonly heads: Dim;
  /** Pairs are neighbours; else halves of what is rotated. */
  readonly isInterleaved: boolean;
  /** How many elements of a head are rotated; 0 for all. */
  readonly rotated: number;
}

/**
 * Turns pairs of elements by angles of their position: J. Su et al., "RoFormer" (2021). x is
 * (batch, positions, heads * size) or (batch, heads, positions, size).
 */
export function rotate(node: ImportNode, x: Expr, rotation: Rotation): Expr {
  const shape = node.shape(x);
  const [batch = 1, positions = 1, width = 1] = shape;
  const isMerged = shape.length === 3;
  const heads = isMerged
    ? node.reshape(x, [batch, positions, rotation.heads, node.dims.floordiv(width, rotation.heads)])
    : x;
  const size = node.shape(heads)[3] ?? 0;
  const rotated: Dim = rotation.rotated === 0 ? size : rotation.rotated;
  const angles = [rotation.cos, rotation.sin].map((angle) => {
    const [count = 1, rows = 1, pairs = 1] = node.shape(angle);
    return node.reshape(angle, isMerged ? [count, rows, 1, pairs] : [count, 1, rows, pairs]);
  });
  const rest = node.dims.sub(size, rotated);
  if (rest === 0) return node.reshape(rotatePairs(node, heads, angles, rotation), shape);
  const [turning, still] = cutAlong(node, heads, { axis: 3, sizes: [rotated, rest] });
  if (turning === undefined || still === undefined) throw new Error('internal: no parts');
  const parts = [rotatePairs(node, turning, angles, rotation), still];
  return node.reshape(node.call('concat', parts, { axis: 3 }), shape);
}

function rotatePairs(
  node: ImportNode,
  x: Expr,
  ...[angles, { isInterleaved }]: [readonly Expr[], Rotation]
): Expr {
  const shape = node.shape(x);
  const [, , , size = 2] = shape;
  const half = node.dims.floordiv(size, 2);
  const pairs = isInterleaved ? node.reshape(x, [...shape.slice(0, 3), half, 2]) : x;
  const axis = isInterleaved ? 4 : 3;
  const width = isInterleaved ? 1 : half;
  const [first, second] = cutAlong(node, pairs, { axis, sizes: [width, width] });
  const [cos, sin] = angles.map((angle) =>
    isInterleaved ? node.reshape(angle, [...node.shape(angle), 1]) : angle,
  );
  if (first === undefined || second === undefined || cos === undefined || sin === undefined) {
    throw new Error('internal: no pairs');
  }
  const product = (a: Expr, b: Expr): Expr => node.call('mul', [a, b]);
  const real = node.call('sub', [product(cos, first), product(sin, second)]);
  const imaginary = node.call('add', [product(sin, first), product(cos, second)]);
  return node.reshape(node.call('concat', [real, imaginary], { axis }), shape);
}

/**
 * Which of the positions in time, height and width turns each pair: sections one after the other (P. Wang et al.,
 * "Qwen2-VL", 2024), or height and width at every third place among those of time.
 */
function streamsOf(sections: readonly number[], isInterleaved: boolean): readonly number[] {
  const [time = 0, height = 0, width = 0] = sections;
  return Array.from({ length: time + height + width }, (_, pair) => {
    if (!isInterleaved) return pair < time ? 0 : pair < time + height ? 1 : 2;
    const stream = pair % 3;
    return Math.floor(pair / 3) < (sections[stream] ?? 0) ? stream : 0;
  });
}

/** MRotaryEmbedding: x, positions (3, batch, length), cos_cache and sin_cache (positions, pairs). */
function importMultimodalRotary(node: ImportNode): Expr {
  const { attributes, dims } = node;
  refuseAttributes(node, ['is_packed_batching']);
  if (attributes.float('scale', 1) !== 1) throw node.unsupported('a scale', '1');
  const layout = attributes.int('mrope_layout', 0);
  if (layout !== 0 && layout !== 1) throw node.malformed(`mrope_layout ${layout}`, '0 or 1');
  const sections = attributes.ints('mrope_section') ?? [];
  if (sections.length !== 3 || sections.some((size) => size < 0)) {
    throw node.malformed(`mrope_section ${sections.join(', ')}`, 'three sizes from 0 up');
  }
  const streams = streamsOf(sections, layout === 1);
  const [, pairs = 0] = node.shape(node.input(2));
  if (typeof pairs === 'number' && pairs !== streams.length) {
    throw node.malformed(`sections of ${streams.length} pairs`, `${pairs}, as the caches have`);
  }
  const x = node.input(0);
  const ids = node.tensor(indicesInput(node, 1, alongAxis(node, axisSize(node, node.input(2), 0))));
  const [, batch = 1, length = 1] = node.shape(ids);
  const table = node.table('int32', [streams.length], (pair) => streams[pair] ?? 0);
  const byPair = node.call('gather', [ids, table], { axis: 0 });
  const rows = node.call('transpose', [byPair], { perm: [1, 2, 0] });
  const places = node.reshape(rows, [dims.mul(batch, length), streams.length]);
  const [cos, sin] = [2, 3].map((index) => {
    const angles = node.call('gather_elements', [node.input(index), places], { axis: 0 });
    return node.reshape(angles, [batch, length, streams.length]);
  });
  if (cos === undefined || sin === undefined) throw new Error('internal: no angles');
  const given = attributes.int('num_heads', 0);
  const whole = node.shape(x)[2] ?? 0;
  return rotate(node, x, {
    cos,
    sin,
    heads: given === 0 ? dims.floordiv(whole, streams.length * 2) : given,
    rotated: attributes.int('rotary_embedding_dim', 0),
    isInterleaved: attributes.bool('interleaved'),
  });
}

export const MULTIMODAL_ROTARY_IMPORTERS: OperatorImporters = {
  MRotaryEmbedding: since(
    1,
    'mul gather transpose reshape gather_elements slice sub add concat',
    importMultimodalRotary,
  ),
};
