import { SWAPS, unroll } from '../linear/register-tile.ts';

export interface ConvTile {
  /** Output channels of a tile: 1, 4 or 8. */
  readonly channels: number;
  /** Adjacent output pixels of a tile: 4 or 8. */
  readonly pixels: number;
  readonly kernelH: number;
  readonly kernelW: number;
  readonly strideW: number;
  readonly dilationW: number;
  /** The window is unrolled whole, not row by row: faster if small, and more code to compile. */
  readonly unrolls: boolean;
  /** Lanes of a quad load weights of different channels and swap them: tap i is of channel i ^ lane. */
  readonly quads: boolean;
}

/** Of more columns than this, which do not stay in registers, the rows are a loop. */
const MAX_UNROLLED_COLUMNS = 16;

/** `Tile`, `accumulate` and `store_tile` for `conv2d-tile.wgsl`. */
export function convTileSource(tile: ConvTile): string {
  const { channels, pixels, kernelH, kernelW } = tile;
  const vectors = pixels / 4;
  const columns = tapColumns(tile);
  const weightLoads = tile.quads ? Math.ceil(channels / 4) : channels;
  const channelOf = (i: number) => (tile.quads ? `channel + ${i * 4}u + lane` : `channel + ${i}u`);
  const rows =
    tile.unrolls && columns.length <= MAX_UNROLLED_COLUMNS
      ? unroll(kernelH, (r) => tapRow(tile, { r: `${r}u`, weight: `${r * kernelW}u` }))
      : `    for (var r = 0u; r < params.kernel_h; r++) {
${tapRow(tile, { r: 'r', weight: `r * ${kernelW}u` })}
    }`;
  return `alias Tile = array<Element4, ${channels * vectors}>;
fn accumulate(tile: ptr<function, Tile>, x_start: u32, channel: u32, last_channel: u32,
    lane: u32, y0: i32, x0: i32) {
${columns.map((c) => `  let column${c} = column_inside(x0 + ${c});\n  let inside${c} = is_column(x0 + ${c});`).join('\n')}
${unroll(weightLoads, (i) => `  let weights${i} = weights_of(${channelOf(i)}, last_channel);`)}
  var x_plane = x_start;
  var w_plane = 0u;
  for (var c = 0u; c < params.group_in_channels; c++) {
${rows}
    x_plane += params.in_h * params.in_w;
    w_plane += params.kernel_h * params.kernel_w;
  }
}
fn store_tile(tile: ptr<function, Tile>, batch: u32, group: u32, channel: u32, lane: u32, y: u32, x: u32) {
  // A loop, so that what is fused behind is compiled once; a copy, since what is indexed by variables
  // does not stay in registers.
  var sums = Tile(${unroll(channels * vectors, (i) => `(*tile)[${i}]`, ', ')});
  for (var i = 0u; i < ${channels * vectors}u; i++) {
    let c = i / ${vectors}u;
    store_pixels(batch, group, channel + ${tile.quads ? '(c ^ lane)' : 'c'}, y, x + i % ${vectors}u * 4u, sums[i]);
  }
}
`;
}

/** Offsets of the input columns that a tile reads, from its first one. */
function tapColumns({ pixels, kernelW, strideW, dilationW }: ConvTile): number[] {
  const offsets = new Set<number>();
  for (let pixel = 0; pixel < pixels; pixel++) {
    for (let s = 0; s < kernelW; s++) offsets.add(pixel * strideW + s * dilationW);
  }
  return [...offsets].sort((a, b) => a - b);
}

/** One row of the window: loads each column once, then adds every tap to every channel. */
function tapRow(tile: ConvTile, row: { r: string; weight: string }): string {
  const { channels, kernelW, quads } = tile;
  const loads = tapColumns(tile).map(
    (c) =>
      `      let x${c} = select(Element(), load_x(row + column${c}), inside_row & inside${c});`,
  );
  const weightLoads = quads ? Math.ceil(channels / 4) : channels;
  const weights = Array.from({ length: weightLoads }, (_, i) =>
    unroll(
      kernelW,
      (s) => `      let w${i}_${s} = load_w(weights${i} + w_plane + ${row.weight} + ${s}u);`,
    ),
  );
  return `    {
      let y = y0 + i32(${row.r} * params.dilation_h);
      let inside_row = is_row(y);
      let row = x_plane + row_inside(y);
${[...loads, ...weights].join('\n')}
${unroll(channels, (i) => tapChannel(tile, i))}
    }`;
}

function tapChannel({ pixels, kernelW, strideW, dilationW, quads }: ConvTile, i: number): string {
  const vectors = pixels / 4;
  const shared = unroll(kernelW, (s) => {
    const loaded = quads ? `${SWAPS[i & 3]}(w${i >> 2}_${s})` : `w${i}_${s}`;
    return `      let k${i}_${s} = ${loaded};`;
  });
  const sums = unroll(vectors, (v) => {
    const at = `(*tile)[${i * vectors + v}]`;
    const terms = Array.from({ length: kernelW }, (_, s) => {
      const lanes = [0, 1, 2, 3].map((j) => `x${(v * 4 + j) * strideW + s * dilationW}`);
      return ` + k${i}_${s} * Element4(${lanes.join(', ')})`;
    });
    return `      ${at} = ${at}${terms.join('')};`;
  });
  return `${shared}\n${sums}`;
}
