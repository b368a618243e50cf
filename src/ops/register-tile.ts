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

/** `Tile`, `add_products`, `add_product` and `store_tile` for `matmul-tile.wgsl`. */
export function matmulTileSource({ rows, vectorRows, quads }: MatmulTileOptions): string {
  const load = vectorRows
    ? 'return load_a4((a_start + min(row, params.m - 1u) * params.a_row + k) / 4u);'
    : [
        'let at = a_start + min(row, params.m - 1u) * params.a_row + k * params.a_k;',
        '  return Element4(load_a(at), load_a(at + params.a_k), load_a(at + 2u * params.a_k),',
        '    load_a(at + 3u * params.a_k));',
      ].join('\n');
  return `alias Tile = array<Element4, ${rows}>;
fn load_row(row: u32, a_start: u32, k: u32) -> Element4 {
  ${load}
}
fn load_row_element(row: u32, a_start: u32, k: u32) -> Element {
  ${
    vectorRows
      ? 'return load_row(row, a_start, k & ~3u)[k & 3u];'
      : 'return load_a(a_start + min(row, params.m - 1u) * params.a_row + k * params.a_k);'
  }
}
fn add_products(tile: ptr<function, Tile>, row: u32, lane: u32, a_start: u32, k: u32,
    b0: Element4, b1: Element4, b2: Element4, b3: Element4) {
${unroll(rows / 4, (block) => rowBlock(block * 4, quads))}
}
fn add_product(tile: ptr<function, Tile>, row: u32, a_start: u32, k: u32, b: Element4) {
${unroll(rows, (i) => `  (*tile)[${i}] += load_row_element(row + ${i}u, a_start, k) * b;`)}
}
fn store_tile(tile: ptr<function, Tile>, row: u32, column: u32, batch: u32) {
${unroll(rows, (i) => `  store_row(row + ${i}u, column, batch, (*tile)[${i}]);`)}
}
`;
}

function rowBlock(first: number, quads: boolean): string {
  const shared = `  let rows${first} = load_row(row + ${first}u + lane, a_start, k);`;
  const add = unroll(4, (j) => {
    const i = first + j;
    const a = quads ? `quadBroadcast(rows${first}, ${j}u)` : `load_row(row + ${i}u, a_start, k)`;
    return `  let a${i} = ${a};
  (*tile)[${i}] = (*tile)[${i}] + a${i}.x * b0 + a${i}.y * b1 + a${i}.z * b2 + a${i}.w * b3;`;
  });
  return quads ? `${shared}\n${add}` : add;
}
