import bias from '../../../shaders/lib/attention-bias.wgsl?raw';
import storeQuadScalar from '../../../shaders/lib/store-quad-scalar.wgsl?raw';
import storeQuadVector from '../../../shaders/lib/store-quad-vector.wgsl?raw';
import mergeSource from '../../../shaders/attention-merge.wgsl?raw';
import tileSource from '../../../shaders/attention-tile.wgsl?raw';
import { unroll } from '../linear/register-tile.ts';
import { splitGrid } from '../linear/split-grid.ts';
import { readInput, invocationGrid } from '../lowering/element-kernel.ts';
import {
  f32,
  type KernelSpec,
  type KernelWrite,
  type ScratchOperand,
  u32,
} from '../lowering/lowering.ts';
import { fourOf, scaleReads } from './attention-loads.ts';
import type { AttentionProblem } from './attention-problem.ts';
import { type AttentionTile, BLOCK } from './attention-variant.ts';

/** One kernel without scores in memory, and a second one that merges parts of the keys. */
export function attentionByTiles(
  problem: AttentionProblem,
  tile: AttentionTile,
): readonly KernelSpec[] {
  const { call, allRows, valueSize } = problem;
  const quads = Math.ceil(valueSize / 4);
  const isWhole = valueSize % 4 === 0;
  const output: Output = {
    storeQuad: isWhole ? storeQuadVector : storeQuadScalar,
    write: { hook: '', to: { kind: 'output' }, width: isWhole ? 4 : 1 },
  };
  if (tile.parts === 1) return splitGrid(tileKernel(problem, tile, output), call.caps);
  const byteLength = Math.max(4, tile.parts * allRows * (quads + 1) * 16);
  const partial: ScratchOperand = { kind: 'scratch', index: 0, byteLength };
  const ofPart: Output = {
    storeQuad: 'fn store_quad(start: u32, count: u32, values: Element4) {}\n',
    write: { hook: 'partial', to: partial, width: 4 },
  };
  return [
    ...splitGrid(tileKernel(problem, tile, ofPart), call.caps),
    mergeKernel(problem, tile, { ...output, partial }),
  ];
}

interface Output {
  readonly storeQuad: string;
  readonly write: KernelWrite;
}

function tileKernel(
  problem: AttentionProblem,
  tile: AttentionTile,
  { storeQuad, write }: Output,
): KernelSpec {
  const { batch, rows, keys, pitches, size, valueSize, bounds, isScaled } = problem;
  const { lanes, parts } = tile;
  const isPart = parts > 1;
  const widths = { query: size, key: size, value: valueSize };
  return {
    name: 'attention-tile',
    source:
      Object.entries(widths)
        .map(([hook, width]) => fourOf(hook, width, isScaled && hook !== 'query'))
        .join('') +
      blockSource('key', 'size', isScaled) +
      blockSource('value', 'value_size', isScaled) +
      unrolledSource(Math.ceil(valueSize / 4), tile) +
      bounds +
      bias +
      tileSource +
      (isPart ? '' : 'fn store_partial4(i: u32, value: vec4<f32>) {}\n') +
      storeQuad,
    constants: {
      ...problem.constants,
      QUADS: Math.ceil(Math.max(size, valueSize) / 4),
      IS_PART: isPart,
    },
    params: {
      ...problem.params,
      all_rows: u32(problem.allRows),
      value_size: u32(valueSize),
      rows: u32(rows),
      group: u32(rows / Math.max(1, Number(problem.params['queries']?.value))),
      size: u32(size),
      key_pitch: u32(pitches[0]),
      value_pitch: u32(pitches[1]),
      scale: f32(problem.scale),
      part: u32(Math.ceil(keys / parts / BLOCK) * BLOCK),
    },
    workgroupSize: [...lanes, 1],
    workgroups: [Math.ceil(rows / (lanes[1] * 4)), batch, parts],
    reads: [
      ...Object.entries(widths).map(([hook, width], index) =>
        readInput(hook, index, width % 4 === 0 ? 4 : 1),
      ),
      readInput('bias', problem.biasInput),
      ...problem.boundReads,
      ...scaleReads(problem),
    ],
    writes: [write],
  };
}

function mergeKernel(
  { call, allRows, valueSize }: AttentionProblem,
  { parts }: AttentionTile,
  { storeQuad, write, partial }: Output & { readonly partial: ScratchOperand },
): KernelSpec {
  const grid = invocationGrid(allRows * Math.ceil(valueSize / 4), call.caps);
  return {
    ...grid,
    name: 'attention-merge',
    source: mergeSource + storeQuad,
    constants: {},
    params: {
      all_rows: u32(allRows),
      value_size: u32(valueSize),
      parts: u32(parts),
      row_length: grid.params.row_length,
    },
    reads: [{ hook: 'partial', from: partial, width: 4 }],
    writes: [write],
  };
}

/** Loads a block of keys, or of their values. */
function blockSource(hook: string, width: string, isScaled: boolean): string {
  return `fn load_${hook}s(lane: u32, batch: u32, key: u32, end: u32) {
  let quads = (params.${width} + 3u) / 4u;
  for (var i = lane; i < BLOCK * quads; i += LANES) {
    let k = i / quads;
    let d = i - k * quads;
    var four = vec4<f32>();
    if (key + k < end) {
      let row = batch * params.${hook}_pitch + key + k;
      four = ${hook}_four(row * params.${width}, d)${isScaled ? ` * load_${hook}_scale(row)` : ''};
    }
    tile[k * STRIDE + d] = four;
  }
}
`;
}

/** WGSL for the sums that a lane has of four rows, and the scores for its keys of a block. */
function unrolledSource(quads: number, { lanes: [x] }: AttentionTile): string {
  const vectors = Math.ceil(quads / x);
  const count = BLOCK / x;
  const each = (line: (j: number) => string) => unroll(count, line);
  const sums = (line: (row: number, v: number) => string) =>
    unroll(4 * vectors, (i) => line(Math.floor(i / vectors), i % vectors));
  return `alias Sums = array<vec4<f32>, ${4 * vectors}>;
alias Scores = array<vec4<f32>, ${count}>;
fn add_scores(scores: ptr<function, Scores>, local: vec3<u32>, d: u32) {
  let at = d * 4u * WORKGROUP_SIZE_Y + local.y;
${unroll(4, (j) => `  let q${j} = query_tile[at + ${j}u * WORKGROUP_SIZE_Y];`)}
${each(
  (j) => `  let k${j} = tile[(local.x + ${j * x}u) * STRIDE + d];
  (*scores)[${j}] += ${unroll(4, (i) => `q${i} * k${j}[${i}]`, ' + ')};`,
)}
}
fn finish_scores(scores: ptr<function, Scores>, key: u32, seen: Seen, bias: vec4<u32>) -> vec4<f32> {
  var largest = vec4<f32>(LOWEST);
${each(
  (j) => `  (*scores)[${j}] = finished((*scores)[${j}], key + ${j * x}u, seen, bias);
  largest = max(largest, (*scores)[${j}]);`,
)}
  return largest;
}
fn store_weights(scores: ptr<function, Scores>, local: vec3<u32>, key: u32, seen: Seen, largest: vec4<f32>) -> vec4<f32> {
${each(
  (
    j,
  ) => `  let e${j} = select(vec4<f32>(), exp((*scores)[${j}] - largest), is_seen(key + ${j * x}u, seen));
  weights[(local.x + ${j * x}u) * WORKGROUP_SIZE_Y + local.y] = e${j};`,
)}
  return ${unroll(count, (j) => `e${j}`, ' + ')};
}
fn scale_sums(sums: ptr<function, Sums>, factor: vec4<f32>) {
${sums((row, v) => `  (*sums)[${row * vectors + v}] *= factor[${row}];`)}
}
fn add_values(sums: ptr<function, Sums>, weights: vec4<f32>, at: u32) {
${unroll(vectors, (v) => `  let v${v} = tile[at + ${v * x}u];`)}
${sums((row, v) => `  (*sums)[${row * vectors + v}] += weights[${row}] * v${v};`)}
}
fn store_sums(sums: ptr<function, Sums>, x: u32, result: Result) {
  // A copy, since what is indexed by variables does not stay in registers.
  var copy = *sums;
  for (var i = 0u; i < ${4 * vectors}u; i++) {
    store_four(i / ${vectors}u, x + i % ${vectors}u * ${x}u, copy[i], result);
  }
}
`;
}
