import storeFourScalar from '../../../shaders/lib/store-four-scalar.wgsl?raw';
import storeFourVector from '../../../shaders/lib/store-four-vector.wgsl?raw';
import source from '../../../shaders/window-tile.wgsl?raw';
import { foldGroups } from '../linear/fold-groups.ts';
import { hasLinearQuads } from '../linear/matmul-variant.ts';
import { unroll } from '../linear/register-tile.ts';
import { readInput, storeOutput } from '../lowering/element-kernel.ts';
import { f32, i32, type KernelSpec, type LoweringCall, u32 } from '../lowering/lowering.ts';
import type { WindowAxis } from './window.ts';

/** A window over planes: a pooling, or a convolution of which each plane has one weight per tap. */
export interface PlaneWindow {
  readonly kind: 'max' | 'mean' | 'sum' | 'weighted';
  readonly rows: WindowAxis;
  readonly columns: WindowAxis;
  /** How many planes the result has. */
  readonly planes: number;
  /** Planes of the result for one of the image. */
  readonly multiplier: number;
  readonly outChannels: number;
  readonly hasBias: boolean;
  readonly countsPad: boolean;
  /** The value of the padding. */
  readonly outside: number;
}

/** More loads than this, and the code would take too long to compile. */
const MAX_LOAD_COUNT = 100;

/** GPUs rather have more invocations unless the result has this many elements. */
const MIN_GPU_COUNT = 1 << 17;

/** Rows that an invocation makes of four pixels each; 0 for another kernel. */
export interface WindowChoice {
  readonly tileRows: number;
}

function firstChoice(
  { rows, columns, planes }: PlaneWindow,
  { adapterClass }: LoweringCall['caps'],
): WindowChoice {
  const isSoftware = adapterClass === 'software';
  if (!isSoftware && planes * rows.count * columns.count < MIN_GPU_COUNT) return { tileRows: 0 };
  return { tileRows: rows.count === 1 ? 1 : rows.stride > 1 || !isSoftware ? 2 : 4 };
}

/** Where the rows and columns that a tile loads are, unless they are none or too many. */
export function tileOffsets(
  { rows, columns }: PlaneWindow,
  { tileRows }: WindowChoice,
): readonly [number[], number[]] | undefined {
  const offsets = [offsetsOf(rows, tileRows), offsetsOf(columns, 4)] as const;
  const count = offsets[0].length * offsets[1].length;
  return count > 0 && count <= MAX_LOAD_COUNT ? [...offsets] : undefined;
}

/** The kernel for a window that is small enough to be written out; else undefined. */
export function windowTileKernel(
  window: PlaneWindow,
  caps: LoweringCall['caps'],
): KernelSpec | undefined {
  const { rows, columns, planes } = window;
  const first = firstChoice(window, caps);
  const choice = caps.choices?.pick('window', { first, problem: window, caps }) ?? first;
  const { tileRows } = choice;
  const offsets = tileOffsets(window, choice);
  if (offsets === undefined) return undefined;
  const quads = window.kind === 'weighted' && hasLinearQuads(caps);
  const blocksW = Math.ceil(columns.count / 4);
  // The lanes of a quad share their weights.
  const planeBlocks = Math.ceil((Math.ceil(rows.count / tileRows) * blocksW) / 4) * 4;
  const grid = foldGroups(Math.ceil((planeBlocks * planes) / 64), caps);
  const wholeGroups = columns.count % 4 === 0;
  const text = tileSource(window, { tileRows, offsets, quads });
  return {
    name: 'window-tile',
    source: text + source + (wholeGroups ? storeFourVector : storeFourScalar),
    enables: quads ? ['subgroups'] : [],
    constants: { TILE_ROWS: tileRows },
    params: {
      ...tileParams(window),
      row_length: u32(grid.rowLength * 64),
      plane_blocks: u32(planeBlocks),
      blocks_w: u32(blocksW),
    },
    workgroupSize: [64, 1, 1],
    workgroups: grid.workgroups,
    reads: [readInput('x', 0), ...(window.kind === 'weighted' ? WEIGHTED_READS : [])],
    writes: storeOutput(wholeGroups ? 4 : 1),
  };
}

const WEIGHTED_READS: KernelSpec['reads'] = [readInput('w', 1), readInput('bias', 2)];

function tileParams(window: PlaneWindow): KernelSpec['params'] {
  const { rows, columns, planes, multiplier, outChannels } = window;
  return {
    in_h: u32(rows.size),
    in_w: u32(columns.size),
    out_h: u32(rows.count),
    out_w: u32(columns.count),
    stride_h: u32(rows.stride),
    stride_w: u32(columns.stride),
    pad_h: i32(rows.padBefore),
    pad_w: i32(columns.padBefore),
    counted_h: i32(rows.size + (window.countsPad ? rows.padAfter : 0)),
    counted_w: i32(columns.size + (window.countsPad ? columns.padAfter : 0)),
    planes: u32(planes),
    group_out_channels: u32(multiplier),
    out_channels: u32(outChannels),
    outside: f32(window.outside),
  };
}

/** Where the lines of the image that so many windows in a row see are, from the first one. */
function offsetsOf({ kernel, stride, dilation }: WindowAxis, windows: number): number[] {
  const offsets = new Set<number>();
  for (let i = 0; i < windows * kernel; i++) {
    offsets.add(Math.floor(i / kernel) * stride + (i % kernel) * dilation);
  }
  return [...offsets].sort((a, b) => a - b);
}

interface TileOptions {
  readonly tileRows: number;
  readonly offsets: readonly [readonly number[], readonly number[]];
  readonly quads: boolean;
}

/** `window_tile` for `window-tile.wgsl`. */
function tileSource(window: PlaneWindow, options: TileOptions): string {
  const { kind, rows, columns, hasBias } = window;
  const { tileRows, offsets, quads } = options;
  const isWeighted = kind === 'weighted';
  const start = isWeighted ? (hasBias ? 'load_bias(place.channel)' : '0.0') : 'params.outside';
  const loads = offsets[1].map((c) => `    let x${c} = take(row, column${c}, outside);`);
  const tapRows = offsets[0].map((offset) => {
    const sums = Array.from({ length: tileRows * rows.kernel }, (_, i) => {
      const [y, r] = [Math.floor(i / rows.kernel), i % rows.kernel];
      const sees = y * rows.stride + r * rows.dilation === offset;
      return sees ? [unroll(columns.kernel, (s) => tapSum(window, { y, r, s }))] : [];
    });
    return `  {
    let row = row_at(place, ${offset});
${[...loads, ...sums.flat()].join('\n')}
  }`;
  });
  const sums = unroll(tileRows, (y) => `  var sum${y} = Element4(Element(${start}));`);
  const gives = unroll(tileRows, (y) => `  give(place, ${y}u, sum${y});`);
  // Of two rows a loop costs more than it saves.
  const isLoop = !isWeighted && rows.kernel > 2 && rows.stride > (rows.kernel - 1) * rows.dilation;
  const body = !isLoop
    ? [sums, ...tapRows, kind === 'mean' ? meanSource(window, tileRows) : '', gives].join('\n')
    : loopSource(window, { tileRows, start, row: loads });
  return `fn window_tile(place: Place) {
  let outside = Element(params.outside);
${offsets[1].map((c) => `  let column${c} = column_at(place, ${c});`).join('\n')}
${isWeighted ? weightsSource(rows.kernel * columns.kernel, quads) : ''}
${body}
}
${kind === 'mean' ? COUNTED : ''}`;
}

interface LoopOptions {
  readonly tileRows: number;
  readonly start: string;
  /** Statements that load the columns of a row. */
  readonly row: readonly string[];
}

/** Windows that share no row are gone through in a loop: it compiles in a quarter of the time. */
function loopSource(window: PlaneWindow, { tileRows, start, row }: LoopOptions): string {
  const { kind, rows, columns } = window;
  const first = `y * ${rows.stride}`;
  const taps = unroll(columns.kernel, (s) => tapSum(window, { y: 0, r: 0, s }));
  return `  for (var y = 0; y < ${tileRows}; y++) {
  var sum0 = Element4(Element(${start}));
  for (var r = 0; r < ${rows.kernel}; r++) {
    let row = row_at(place, ${first} + r * ${rows.dilation});
${[...row, taps].join('\n')}
  }
${kind === 'mean' ? meanSource(window, 1, `place.y0 + ${first}`) : ''}
  give(place, u32(y), sum0);
  }`;
}

function weightsSource(taps: number, quads: boolean): string {
  if (!quads) return unroll(taps, (t) => `  let k${t} = load_w(place.channel * ${taps}u + ${t}u);`);
  const loads = unroll(
    Math.ceil(taps / 4),
    (i) =>
      `  let w${i} = load_w(place.channel * ${taps}u + min(${i * 4}u + place.lane, ${taps - 1}u));`,
  );
  return `${loads}\n${unroll(taps, (t) => `  let k${t} = quadBroadcast(w${t >> 2}, ${t & 3}u);`)}`;
}

interface Tap {
  readonly y: number;
  readonly r: number;
  readonly s: number;
}

function tapSum({ kind, columns }: PlaneWindow, { y, r, s }: Tap): string {
  const lanes = [0, 1, 2, 3].map((j) => `x${j * columns.stride + s * columns.dilation}`);
  const values = `Element4(${lanes.join(', ')})`;
  if (kind === 'max') return `    sum${y} = max(sum${y}, ${values});`;
  const weight = kind === 'weighted' ? `k${r * columns.kernel + s} * ` : '';
  return `    sum${y} += ${weight}${values};`;
}

/** Divides by the taps that count: those inside, or those in the image with its padding. */
function meanSource(
  { rows, columns, countsPad }: PlaneWindow,
  tileRows: number,
  y0 = 'place.y0',
): string {
  const counts = (axis: WindowAxis, i: number, ...[start, size]: [string, string]) => {
    const terms = Array.from({ length: axis.kernel }, (_, tap) => {
      const at = `${start} + ${i * axis.stride + tap * axis.dilation}`;
      return `counted(${at}, ${countsPad ? '-0x7fffffff' : '0'}, ${size})`;
    });
    return terms.join(' + ');
  };
  const across = [0, 1, 2, 3].map((j) => counts(columns, j, 'place.x0', 'params.counted_w'));
  return `  let across = Element4(${across.join(', ')});
${unroll(
  tileRows,
  (y) => `  sum${y} /= max(Element4(1.0), across * (${counts(rows, y, y0, 'params.counted_h')}));`,
)}`;
}

const COUNTED = `fn counted(at: i32, first: i32, end: i32) -> Element {
  return select(Element(), Element(1.0), at >= first && at < end);
}
`;
