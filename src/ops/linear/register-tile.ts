/**
 * Text of the unrolled parts of register tiles. An array in registers must only be indexed by
 * constants, and WGSL has no unrolling, so these parts are written out for each tile.
 */

/** Joins what `line` gives for 0..count-1. */
export function unroll(count: number, line: (i: number) => string, separator = '\n'): string {
  return Array.from({ length: count }, (_, i) => line(i)).join(separator);
}

/**
 * How elements of a matrix are loaded: four neighbours along k, four along its other dimension, or
 * one by one.
 */
export type LoadForm = 'depth' | 'across' | 'single';

export interface MatmulTileOptions {
  /** Rows of the tile: 1, 4, 8 or 16. */
  readonly rows: number;
  /** Vectors of four columns that a lane has, 16 columns apart. */
  readonly vectors: number;
  /** `across` only with 16 rows and quads. */
  readonly a: LoadForm;
  readonly b: LoadForm;
  /** The lanes of a quad load different rows of A and exchange them, instead of all loading all. */
  readonly quads: boolean;
  /** k is no multiple of 4; then neither form is `depth`. */
  readonly tail: boolean;
}

/** `Tile`, `row_starts`, `column_starts`, `add_products`, `add_product` and `store_tile`. */
export function matmulTileSource(options: MatmulTileOptions): string {
  const { rows, vectors, a, b, quads, tail } = options;
  const lanes = quads ? rows / 4 : rows;
  const starts = a === 'across' ? 1 : lanes;
  const columns = b === 'across' ? vectors : vectors * 4;
  const column = (i: number) =>
    b === 'across'
      ? `min(column + ${i * 16}u, params.n - 4u)`
      : `min(column + ${(i >> 2) * 16 + (i & 3)}u, params.n - 1u)`;
  return `alias Tile = array<Element4, ${rows * vectors}>;
alias RowStarts = array<u32, ${starts}>;
alias ColumnStarts = array<u32, ${columns}>;
fn row_starts(row: u32, start: u32) -> RowStarts {
  return RowStarts(
${unroll(starts, (i) => `    start + min(row + ${i}u, params.m - ${a === 'across' ? 4 : 1}u) * params.a_row,`)}
  );
}
fn column_starts(column: u32, start: u32) -> ColumnStarts {
  return ColumnStarts(
${unroll(columns, (i) => `    start + ${column(i)} * params.b_column,`)}
  );
}
fn add_products(tile: ptr<function, Tile>, starts: RowStarts, columns: ColumnStarts, k: u32) {
${unroll(vectors, (v) => loadColumns(v, b))}
${loadRows(lanes, a)}
${sumRows(options, (at, v, row) => `${at} = ${at}${unroll(4, (j) => ` + ${row}.${'xyzw'[j]} * b${v}_${j}`, '')};`)}
}
${tail ? addProduct(options, lanes) : NO_TAIL}fn store_tile(tile: ptr<function, Tile>, row: u32, column: u32, lane: u32, batch: u32) {
  // A copy, since what is indexed by variables does not stay in registers.
  var sums = Tile(${unroll(rows * vectors, (i) => `(*tile)[${i}]`, ', ')});
  for (var i = 0u; i < ${rows * vectors}u; i++) {
    let r = i / ${vectors}u;
    store_four(row + ${quads ? `(lane ^ (r & 3u)) * ${lanes}u + (r >> 2u)` : 'r'}, column + i % ${vectors}u * 16u, batch, sums[i]);
  }
}
`;
}

const NO_TAIL = `fn add_product(tile: ptr<function, Tile>, starts: RowStarts, columns: ColumnStarts, k: u32) {
}
`;

function addProduct(options: MatmulTileOptions, lanes: number): string {
  const { vectors, a, b } = options;
  const column = (v: number) =>
    b === 'across'
      ? `load_b4((columns[${v}] + k * params.b_k) / 4u)`
      : `Element4(${unroll(4, (q) => `load_b(columns[${v * 4 + q}] + k * params.b_k)`, ', ')})`;
  const row = (g: number) =>
    a === 'across' ? `rows[${g}]` : `load_a(starts[${g}] + k * params.a_k)`;
  return `fn add_product(tile: ptr<function, Tile>, starts: RowStarts, columns: ColumnStarts, k: u32) {
${unroll(vectors, (v) => `  let b${v} = ${column(v)};`)}
${a === 'across' ? '  let rows = load_a4((starts[0] + k * params.a_k) / 4u);' : ''}
${unroll(lanes, (g) => `  let a${g} = ${row(g)};`)}
${sumRows(options, (at, v, row) => `${at} += ${row} * b${v};`)}
}
`;
}

/** Four rows of k of vector v: `b{v}_0` to `b{v}_3`. */
function loadColumns(v: number, form: LoadForm): string {
  const row = (j: number) => {
    if (form === 'across') return `load_b4((columns[${v}] + (k + ${j}u) * params.b_k) / 4u)`;
    const column = (q: number) =>
      form === 'depth'
        ? `c${v}_${q}[${j}]`
        : `load_b(columns[${v * 4 + q}] + (k + ${j}u) * params.b_k)`;
    return `Element4(${unroll(4, column, ', ')})`;
  };
  const loads =
    form === 'depth'
      ? unroll(4, (q) => `  let c${v}_${q} = load_b4((columns[${v * 4 + q}] + k) / 4u);\n`, '')
      : '';
  return loads + unroll(4, (j) => `  let b${v}_${j} = ${row(j)};`);
}

/** Four columns of k of each row that a lane loads: `a0`, `a1`, … */
function loadRows(count: number, form: LoadForm): string {
  const element = (g: number, j: number) =>
    form === 'across' ? `d${j}[${g}]` : `load_a(starts[${g}] + (k + ${j}u) * params.a_k)`;
  const row = (g: number) =>
    form === 'depth'
      ? `load_a4((starts[${g}] + k) / 4u)`
      : `Element4(${unroll(4, (j) => element(g, j), ', ')})`;
  const loads =
    form === 'across'
      ? unroll(
          4,
          (j) => `  let d${j} = load_a4((starts[0] + (k + ${j}u) * params.a_k) / 4u);\n`,
          '',
        )
      : '';
  return loads + unroll(count, (g) => `  let a${g} = ${row(g)};`);
}

const SWAPS = ['', 'quadSwapX', 'quadSwapY', 'quadSwapDiagonal'];

/**
 * A line for each vector of the tile. Swaps are single shuffles, broadcasts are five operations: so
 * sum s of a lane is of the row that lane ^ s has loaded.
 */
function sumRows(
  { rows, vectors, quads }: MatmulTileOptions,
  line: (at: string, vector: number, row: string) => string,
): string {
  return unroll(rows, (i) => {
    const loaded = quads ? `${SWAPS[i & 3]}(a${i >> 2})` : `a${i}`;
    return `  let w${i} = ${loaded};
${unroll(vectors, (v) => `  ${line(`(*tile)[${i * vectors + v}]`, v, `w${i}`)}`)}`;
  });
}
