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
  /** Lanes that share the tile's columns add up their sums before they store them. */
  readonly slices: number;
  /** k is no multiple of 4; then neither form is `depth`. */
  readonly tail: boolean;
  /** Decodes elements of B, in place of loading them; B then has no tail. */
  readonly decoding?: Decoding;
}

/** How elements of B come from what is stored. */
export interface Decoding {
  /** Elements along k that are decoded at a time: a power of two, at least 4. */
  readonly step: number;
  /** Between the `columns` of `add_products`, in whatever it counts them. */
  readonly column: number;
  /** Statements of `add_products` for a tile. */
  readonly addProducts: (tile: MatmulTileOptions) => string;
}

/** The place of the matrix of a hook, and how it is stepped through. */
interface BlockLoads {
  /** Prefix of the names of what is loaded. */
  readonly name: string;
  readonly hook: 'a' | 'b';
  readonly form: LoadForm;
  /**
   * Where a column of B, or a row of A, begins; the first of four for `across`. In groups of four elements but for `single`, as is
   * the stride along k for `across`: SwiftShader divides in 17 ns, and for each step.
   */
  readonly start: (i: number) => string;
  /** The expression of four values in order of k. */
  readonly step: (j: number) => string;
}

/** Statements and expressions for a block of four by four: a vector of each step along k. */
export function blockLoads({ name, hook, form, start, step }: BlockLoads): {
  readonly lines: string;
  readonly vectors: readonly string[];
} {
  const stride = `params.${hook}_k`;
  const vector = (j: number) => {
    if (form === 'across') return `load_${hook}4(${start(0)} + ${step(j)} * ${stride})`;
    const element = (q: number) =>
      form === 'depth'
        ? `${name}_${q}[${j}]`
        : `load_${hook}(${start(q)} + ${step(j)} * ${stride})`;
    return `Element4(${unroll(4, element, ', ')})`;
  };
  const load = (q: number) =>
    `  let ${name}_${q} = load_${hook}4(${start(q)} + ${step(0)} / 4u);\n`;
  return {
    lines: form === 'depth' ? unroll(4, load, '') : '',
    vectors: [0, 1, 2, 3].map(vector),
  };
}

const inGroups = (form: LoadForm): string => (form === 'single' ? '' : ' / 4u');

/** WGSL of `Tile`, `row_starts`, `column_starts`, `add_products`, `add_product` and `store_tile`. */
export function matmulTileSource(options: MatmulTileOptions): string {
  const { rows, vectors, a, b, quads, slices, tail, decoding } = options;
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
${unroll(starts, (i) => `    (start + min(row + ${i}u, params.m - ${a === 'across' ? 4 : 1}u) * params.a_row)${inGroups(a)},`)}
  );
}
fn column_starts(column: u32, start: u32) -> ColumnStarts {
  return ColumnStarts(
${unroll(columns, (i) => `    (start + ${column(i)} * params.b_column)${decoding ? '' : inGroups(b)},`)}
  );
}
${quads ? QUADS_RETURN : ''}fn add_products(tile: ptr<function, Tile>, starts: RowStarts, columns: ColumnStarts, k: u32) {
${decoding?.addProducts(options) ?? addFourProducts(options)}
}
${tail ? addProduct(options, lanes) : NO_TAIL}fn store_tile(tile: ptr<function, Tile>, row: u32, column: u32, lane: u32, batch: u32) {
  // A copy, since what is indexed by variables does not stay in registers.
  var sums = Tile(${unroll(rows * vectors, (i) => `(*tile)[${i}]`, ', ')});
  for (var i = 0u; i < ${rows * vectors}u; i++) {
    let r = i / ${vectors}u;
    ${slices > 1 ? 'add_slices' : 'store_four'}(row + ${quads ? `(lane ^ (r & 3u)) * ${lanes}u + (r >> 2u)` : 'r'}, column + i % ${vectors}u * 16u, batch, sums[i]);
  }
}
`;
}

function addFourProducts(options: MatmulTileOptions): string {
  const { vectors, b, quads } = options;
  const columns = unroll(vectors, (v) => loadColumns(v, b, quads));
  return addFourSteps(columns, options, { sum: quads ? sumByColumn : sumByStep });
}

/** Statements for a group of four steps, with columns `c{v}_0` to `c{v}_3` of vector v given by statements. */
export const addFourSteps = (
  columns: string,
  options: MatmulTileOptions,
  { sum = sumByColumn, group }: { readonly sum?: typeof sumByColumn; readonly group?: string } = {},
): string => `${columns}
${loadRows(options.quads ? options.rows / 4 : options.rows, options.a, group)}
${sumRows(options, (at, v, row) => `${at} = ${at}${sum(v, row)};`)}`;

const sumByStep = (v: number, row: string) =>
  unroll(4, (j) => ` + ${row}.${'xyzw'[j]} * b${v}_${j}`, '');

/** The same one column after the other, for which SwiftShader has registers enough. */
const sumByColumn = (v: number, row: string) =>
  ` + Element4(${unroll(4, (q) => `dot(${row}, c${v}_${q})`, ', ')})`;

/** Where lanes of a quad exchange something all four are there, or none: WGSL cannot know. */
const QUADS_RETURN = '@diagnostic(off, subgroup_uniformity)\n';

const NO_TAIL = `fn add_product(tile: ptr<function, Tile>, starts: RowStarts, columns: ColumnStarts, k: u32) {
}
`;

function addProduct(options: MatmulTileOptions, lanes: number): string {
  const { vectors, a, b, quads } = options;
  const column = (v: number) =>
    b === 'across'
      ? `load_b4(columns[${v}] + k * params.b_k)`
      : `Element4(${unroll(4, (q) => `load_b(columns[${v * 4 + q}] + k * params.b_k)`, ', ')})`;
  const row = (g: number) =>
    a === 'across' ? `rows[${g}]` : `load_a(starts[${g}] + k * params.a_k)`;
  return `${quads ? QUADS_RETURN : ''}fn add_product(tile: ptr<function, Tile>, starts: RowStarts, columns: ColumnStarts, k: u32) {
${unroll(vectors, (v) => `  let b${v} = ${column(v)};`)}
${a === 'across' ? '  let rows = load_a4(starts[0] + k * params.a_k);' : ''}
${unroll(lanes, (g) => `  let a${g} = ${row(g)};`)}
${sumRows(options, (at, v, row) => `${at} += ${row} * b${v};`)}
}
`;
}

/** Four rows of k of vector v: `b{v}_0` to `b{v}_3`; or its columns, `c{v}_0` to `c{v}_3`. */
function loadColumns(v: number, form: LoadForm, byColumn: boolean): string {
  const start = (q: number) => `columns[${form === 'across' ? v : v * 4 + q}]`;
  const step = (j: number) => (j === 0 ? 'k' : `(k + ${j}u)`);
  const { lines, vectors } = blockLoads({ name: `c${v}`, hook: 'b', form, start, step });
  if (byColumn && form === 'depth') return lines;
  const column = (q: number) => `Element4(${unroll(4, (j) => `b${v}_${j}[${q}]`, ', ')})`;
  const columns = byColumn ? unroll(4, (q) => `\n  let c${v}_${q} = ${column(q)};`, '') : '';
  return `${lines}${vectors.map((vector, j) => `  let b${v}_${j} = ${vector};`).join('\n')}${columns}`;
}

/** Four columns of k of each row that a lane loads: `a0`, `a1`, … */
function loadRows(count: number, form: LoadForm, group = 'k / 4u'): string {
  const element = (g: number, j: number) =>
    form === 'across' ? `d${j}[${g}]` : `load_a(starts[${g}] + (k + ${j}u) * params.a_k)`;
  const row = (g: number) =>
    form === 'depth'
      ? `load_a4(starts[${g}] + ${group})`
      : `Element4(${unroll(4, (j) => element(g, j), ', ')})`;
  const loads =
    form === 'across'
      ? unroll(4, (j) => `  let d${j} = load_a4(starts[0] + (k + ${j}u) * params.a_k);\n`, '')
      : '';
  return loads + unroll(count, (g) => `  let a${g} = ${row(g)};`);
}

/** The function that swap `i` calls: it gives a lane what lane ^ i of its quad has. */
export const SWAPS = ['', 'quadSwapX', 'quadSwapY', 'quadSwapDiagonal'];

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
