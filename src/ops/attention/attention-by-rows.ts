import bias from '../../../shaders/lib/attention-bias.wgsl?raw';
import rowsSource from '../../../shaders/lib/attention-rows.wgsl?raw';
import storeQuadScalar from '../../../shaders/lib/store-quad-scalar.wgsl?raw';
import storeQuadVector from '../../../shaders/lib/store-quad-vector.wgsl?raw';
import scoresSource from '../../../shaders/attention-scores.wgsl?raw';
import valuesSource from '../../../shaders/attention-values.wgsl?raw';
import {
  invocationGrid,
  perInvocation,
  readInput,
  storeOutput,
} from '../lowering/element-kernel.ts';
import { unroll } from '../linear/register-tile.ts';
import { f32, type KernelSpec, type ScratchOperand, u32 } from '../lowering/lowering.ts';
import { rowGroupSize } from '../reduction/row-kernel.ts';
import { softmaxKernel } from './attention-by-products.ts';
import { fourOf } from './attention-loads.ts';
import type { AttentionProblem } from './attention-problem.ts';

/**
 * Scores into memory, softmax in their place, and sums of values by them: each reads the keys that count, and no other. For
 * adapters whose workgroup memory is slow.
 */
export function attentionByRows(problem: AttentionProblem): readonly KernelSpec[] {
  const { allRows, keys } = problem;
  const byteLength = Math.max(4, allRows * keys * 4);
  const scores: ScratchOperand = { kind: 'scratch', index: 0, byteLength };
  return [
    scoresKernel(problem, scores),
    softmaxKernel(problem, scores, { isCut: true }),
    valuesKernel(problem, scores),
  ];
}

/** Rows of queries that share what an invocation reads. */
const rowsOf = ({ rows }: AttentionProblem): 1 | 2 | 4 => (rows > 2 ? 4 : rows > 1 ? 2 : 1);

function tilesOf(problem: AttentionProblem) {
  const tiles = Math.ceil(problem.rows / rowsOf(problem));
  const { rows, size, valueSize, pitches, scale } = problem;
  return {
    count: tiles * problem.batch,
    constants: { ...problem.constants, ROWS: rowsOf(problem) },
    params: {
      ...problem.params,
      rows: u32(rows),
      tiles: u32(tiles),
      size: u32(size),
      value_size: u32(valueSize),
      key_pitch: u32(pitches[0]),
      value_pitch: u32(pitches[1]),
      scale: f32(scale),
    },
  };
}

function scoresKernel(problem: AttentionProblem, scores: ScratchOperand): KernelSpec {
  const { call, keys, size, bounds, boundReads, biasInput, isScaled } = problem;
  const { count, constants, params } = tilesOf(problem);
  const grid = invocationGrid(count * keys, call.caps);
  const rows = rowsOf(problem);
  const width = size % 4 === 0 ? 4 : 1;
  return {
    ...grid,
    name: 'attention-scores',
    source:
      fourOf('query', size, false) +
      fourOf('key', size, isScaled) +
      factorOf('key', isScaled) +
      bounds +
      bias +
      rowsSource +
      `fn added(sums: vec4<f32>, four: vec4<f32>, starts: vec4<u32>, d: u32) -> vec4<f32> {
  var next = sums;
${unroll(rows, (r) => `  next[${r}] += dot(query_four(starts[${r}], d), four);`)}
  return next;
}
fn store_scores(scores: vec4<f32>, rows: Rows, key: u32) {
${unroll(rows, (r) => `  ${r === 0 ? '' : `if (rows.first + ${r}u < params.rows) { `}store_score(rows.numbers[${r}] * params.keys + key, scores[${r}]);${r === 0 ? '' : ' }'}`)}
}
${perInvocation(scoresSource)}`,
    constants,
    params: { ...params, ...grid.params },
    reads: [
      readInput('query', 0, width),
      readInput('key', 1, width),
      readInput('bias', biasInput),
      ...boundReads,
      ...(isScaled ? [readInput('key_scale', 4)] : []),
    ],
    writes: [{ hook: 'score', to: scores, width: 1 }],
  };
}

function valuesKernel(problem: AttentionProblem, weights: ScratchOperand): KernelSpec {
  const { call, keys, valueSize, bounds, boundReads, isScaled } = problem;
  const { count, constants, params } = tilesOf(problem);
  const all = count * Math.ceil(valueSize / 4);
  const grid = invocationGrid(all, call.caps, rowGroupSize(all, call.caps));
  const rows = rowsOf(problem);
  const isVector = keys % 4 === 0;
  const isWhole = valueSize % 4 === 0;
  const four = isVector
    ? 'load_weights4(at / 4u)'
    : `vec4<f32>(${unroll(4, (i) => `load_weights(at + ${i}u)`, ', ')})`;
  return {
    ...grid,
    name: 'attention-values',
    source:
      fourOf('value', valueSize, isScaled) +
      factorOf('value', isScaled) +
      bounds +
      rowsSource +
      `alias Sums = array<vec4<f32>, ROWS>;
fn four_weights(at: u32) -> vec4<f32> {
  return ${four};
}
fn add_values(sums: ptr<function, Sums>, rows: Rows, key: u32, end: u32, column: u32) {
${unroll(4, (j) => `  let v${j} = value_at(rows, key + ${j}u, end, column);`)}
${unroll(
  rows,
  (r) => `  let w${r} = weights_of(rows.numbers[${r}], key, end);
  (*sums)[${r}] += ${unroll(4, (j) => `w${r}[${j}] * v${j}`, ' + ')};`,
)}
}
fn store_sums(sums: ptr<function, Sums>, rows: Rows, column: u32) {
${unroll(rows, (r) => `  ${r === 0 ? '' : `if (rows.first + ${r}u < params.rows) { `}store_quad(rows.numbers[${r}] * params.value_size + column * 4u, params.value_size - column * 4u, (*sums)[${r}]);${r === 0 ? '' : ' }'}`)}
}
${isWhole ? storeQuadVector : storeQuadScalar}${perInvocation(valuesSource)}`,
    constants,
    params: { ...params, ...grid.params },
    reads: [
      readInput('value', 2, isWhole ? 4 : 1),
      { hook: 'weights', from: weights, width: isVector ? 4 : 1 },
      ...boundReads,
      ...(isScaled ? [readInput('value_scale', 5)] : []),
    ],
    writes: storeOutput(isWhole ? 4 : 1),
  };
}

/** WGSL of what the elements of a row of integers are times; nothing for floats. */
const factorOf = (hook: string, isScaled: boolean): string =>
  `fn ${hook}_factor(row: u32) -> f32 { return ${isScaled ? `load_${hook}_scale(row)` : '1.0'}; }
`;
