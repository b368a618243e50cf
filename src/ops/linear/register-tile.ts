/**
 * Text of the unrolled parts of register tiles. An array in registers must only be indexed by
 * constants, and WGSL has no unrolling, so these parts are written out for each tile height.
 */

/** Joins what `line` gives for 0..count-1. */
export function unroll(count: number, line: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => line(i)).join('\n');
}

export interface MatmulTileOptions {
  /** Rows of the tile: a multiple of 4. */
  readonly rows: number;
  /** Four adjacent elements of a row of A are one aligned group; the kernel reads hook `a` by 4. */
  readonly vectorRows: boolean;
  /** Lanes of a quad load different rows of A and exchange them, instead of all loading all. */
  readonly quads: boolean;
}

/** `Tile`, `row_starts`, `add_products`, `add_product` and `store_tile` for `matmul-tile.wgsl`. */
export function matmulTileSource({ rows, vectorRows, quads }: MatmulTileOptions): string {
  const loads = quads ? rows / 4 : rows;
  const rowOf = (i: number) => (quads ? `row + ${i * 4}u + lane` : `row + ${i}u`);
  return `alias Tile = array<Element4, ${rows}>;
alias RowStarts = array<u32, ${loads}>;
fn row_starts(row: u32, lane: u32, a_start: u32) -> RowStarts {
  return RowStarts(
${unroll(loads, (i) => `    a_start + min(${rowOf(i)}, params.m - 1u) * params.a_row,`)}
  );
}
fn load_products(start: u32, k: u32) -> Element4 {
  ${vectorRows ? VECTOR_ROW : SCALAR_ROW}
}
fn load_product(start: u32, k: u32) -> Element {
  ${vectorRows ? 'return load_products(start, k & ~3u)[k & 3u];' : 'return load_a(start + k * params.a_k);'}
}
fn add_products(tile: ptr<function, Tile>, starts: RowStarts, k: u32,
    b0: Element4, b1: Element4, b2: Element4, b3: Element4) {
${unroll(loads, (i) => `  let loaded${i} = load_products(starts[${i}], k);`)}
${unroll(rows, (i) => {
  const a = rowValue(i, quads);
  return `  let a${i} = ${a};
  (*tile)[${i}] = (*tile)[${i}] + a${i}.x * b0 + a${i}.y * b1 + a${i}.z * b2 + a${i}.w * b3;`;
})}
}
fn add_product(tile: ptr<function, Tile>, starts: RowStarts, k: u32, b: Element4) {
${unroll(loads, (i) => `  let loaded${i} = load_product(starts[${i}], k);`)}
${unroll(rows, (i) => `  (*tile)[${i}] += ${rowValue(i, quads)} * b;`)}
}
fn store_tile(tile: ptr<function, Tile>, row: u32, column: u32, batch: u32) {
${unroll(rows, (i) => `  store_row(row + ${i}u, column, batch, (*tile)[${i}]);`)}
}
`;
}

const VECTOR_ROW = 'return load_a4((start + k) / 4u);';

const SCALAR_ROW = `let at = start + k * params.a_k;
  return Element4(load_a(at), load_a(at + params.a_k), load_a(at + 2u * params.a_k),
    load_a(at + 3u * params.a_k));`;

function rowValue(i: number, quads: boolean): string {
  return quads ? `quadBroadcast(loaded${i >> 2}, ${i & 3}u)` : `loaded${i}`;
}
