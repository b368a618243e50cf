import { FLOAT, lesser, plus, times } from '../../wasm/address.ts';
import { apply, type Expression, i32, type Local, local, locals } from '../../wasm/expression.ts';
import { partWidths, forParts } from '../../wasm/for-parts.ts';
import { call, loop, set, type Statement, type WasmFunction, when } from '../../wasm/statement.ts';
import type { OperandPack, UnitRange, WasmKernel, WasmPlaces } from '../lowering/wasm-lowering.ts';
import { LONG_PRODUCT } from '../reduction/sum-loop.wasm.ts';
import type { MatmulProblem } from './matmul-problem.ts';
import { packFunction, panelByteLength, type PanelLayout, panelPack } from './pack-panels.wasm.ts';
import type { Addresses } from './product-frame.wasm.ts';
import * as frame from './product-frame.wasm.ts';
import { type TileShape, tileFunction } from './product-tile.wasm.ts';

/** Columns of a tile and of a panel of b, two vectors. */
export const COLUMNS = 8;
/** Rows of a tile and of a panel of a: eleven of sixteen registers, and more rows would need more loads. */
export const ROWS = 4;
/** Bytes of a that are multiplied with all of b before others: they stay in the second cache. */
const BLOCK_BYTES = 2 ** 18;
/** Depth of a tile: a panel of b stays in the first cache beside those of a that go by. */
const DEPTH = 512;
/** Depth of a tile of a long product. */
const LONG_DEPTH = 128;
/** Bytes of panels of b that are in memory together where there are many rows: all of these are read for each lot. */
const LOT_BYTES = 2 ** 20;
/** Bytes of rows that stay in the second cache beside one panel. */
const FEW_ROWS_BYTES = 2 ** 18;

/** The panels of b: made before the product, or during it. */
export interface PanelSource {
  readonly functions: readonly WasmFunction[];
  /** The operand that has all panels, where these are made at once. */
  readonly packs: readonly OperandPack[];
  /** Temporary memory, without that of panels. */
  readonly scratch: readonly number[];
  /** Panels that are in temporary memory together; 0 where they are in the operand. */
  readonly atOnce: number;
  /** Before the first panel of each matrix that begins at `b`. */
  begin(b: Local, scratch: readonly Local[]): readonly Statement[];
  /** Writes the panels from `first` up to `end`. */
  pack(
    place: { readonly b: Local; readonly scratch: readonly Local[]; readonly panels: Local },
    first: Local,
    end: Local,
  ): readonly Statement[];
}

const panelsOf = ({ n }: MatmulProblem): number => Math.ceil(n / COLUMNS);
export const panelBytes = ({ k }: MatmulProblem): number => k * COLUMNS * FLOAT;

/** Panels that are made and used together, lest they leave the cache in between. */
export function panelsAtOnce({ m, k }: Pick<MatmulProblem, 'm' | 'k'>): number {
  if (m * k * FLOAT <= FEW_ROWS_BYTES) return 1;
  return Math.max(Math.floor(LOT_BYTES / Math.max(k * COLUMNS * FLOAT, 1)), 1);
}

const layoutOfA = ({ m, k, a }: MatmulProblem): PanelLayout => ({
  lanes: m,
  depth: k,
  laneStride: a.row,
  depthStride: a.column,
  width: ROWS,
});

export const layoutOfB = ({ n, k, b }: MatmulProblem): PanelLayout => ({
  lanes: n,
  depth: k,
  laneStride: b.column,
  depthStride: b.row,
  width: COLUMNS,
});

/** Returns true if all of a batch has the same matrix. */
export const isOne = ({ batch }: MatmulProblem, strides: readonly number[]): boolean =>
  strides.every((stride, axis) => stride === 0 || batch[axis] === 1);

/** The operand that may be a constant, of which panels are then made but once. */
export type ConstantOperand = 'a' | 'b' | 'none';

/** Panels of a matrix: of the constant all at once, else by each thread for itself. */
export function matrixPanels(problem: MatmulProblem, constant: ConstantOperand): PanelSource {
  if (constant === 'b' && isOne(problem, problem.b.batch)) {
    return {
      functions: [],
      packs: [
        {
          ...panelPack(1, layoutOfB(problem)),
          ...(frame.isOneMatrix(problem) && { unitByteLength: panelBytes(problem) }),
        },
      ],
      scratch: [],
      atOnce: 0,
      begin: () => [],
      pack: () => [],
    };
  }
  return {
    functions: [packFunction('pack', layoutOfB(problem))],
    packs: [],
    scratch: [],
    atOnce: panelsAtOnce(problem),
    begin: () => [],
    pack: ({ b: from, panels: to }, first, end) => [call('pack', [from, to, first, end])],
  };
}

/** Tiles of registers over panels of both operands. */
export function panelKernel(
  problem: MatmulProblem,
  source: PanelSource,
  constant: ConstantOperand,
): WasmKernel {
  const panels = panelsOf(problem);
  const rowPack =
    constant === 'a' && isOne(problem, problem.a.batch)
      ? panelPack(0, layoutOfA(problem))
      : undefined;
  const layout = layoutOfA(problem);
  const rowBytes = Math.ceil(problem.m / ROWS) * panelByteLength(layout);
  const atOnce = Math.min(source.atOnce, panels);
  const isLong = problem.k > LONG_PRODUCT;
  const rest = isLong ? [Math.min(blockRowsOf(problem) + ROWS, problem.m) * problem.n * FLOAT] : [];
  return {
    functions: [
      ...source.functions,
      ...(rowPack ? [] : [packFunction('packRows', layout)]),
      ...tileFunctions(problem, isLong),
    ],
    packs: [...(rowPack ? [rowPack] : []), ...source.packs],
    scratch: [
      ...rest,
      ...(rowPack ? [] : [rowBytes]),
      ...(atOnce > 0 ? [atOnce * panelBytes(problem)] : []),
      ...source.scratch,
    ],
    ...frame.columnUnits(problem, COLUMNS),
    work: frame.productWork(problem),
    body: (places) => {
      const body = bodyOf(problem, { source, places, hasRowPack: rowPack !== undefined, isLong });
      return frame.forUnits(problem, panels, { places, body });
    },
  };
}

interface BodyOptions {
  readonly source: PanelSource;
  readonly places: WasmPlaces;
  readonly hasRowPack: boolean;
  readonly isLong: boolean;
}

/** A matrix with a range of b's panels. */
function bodyOf(
  problem: MatmulProblem,
  { source, places, hasRowPack, isLong }: BodyOptions,
): (addresses: Addresses, range: UnitRange) => readonly Statement[] {
  const packed = [...places.packed];
  const scratch = [...places.scratch];
  const rest = isLong ? scratch.shift() : undefined;
  const rows = hasRowPack ? packed.shift() : scratch.shift();
  const [whole] = packed;
  const makeRows = (a: Local): Statement[] => {
    if (hasRowPack || rows === undefined) return [];
    return [call('packRows', [a, rows, i32(0), i32(Math.ceil(problem.m / ROWS))])];
  };
  if (rows === undefined) return () => [];
  if (source.atOnce === 0) {
    const panels = local('i32');
    return (addresses, { first, end }) =>
      whole === undefined
        ? []
        : [
            ...makeRows(addresses.a),
            set(panels, plus(whole, times(first, panelBytes(problem)))),
            ...multiplyPanels(problem, addresses, { rows, panels, first, end, rest }),
          ];
  }
  const [panels, ...others] = scratch;
  const [lot, lotEnd] = locals(2);
  return (addresses, { first, end }) => {
    if (panels === undefined) return [];
    const next = plus(lot, source.atOnce);
    return [
      ...makeRows(addresses.a),
      ...source.begin(addresses.b, others),
      ...loop({ index: lot, begin: first, end, step: source.atOnce }, [
        set(lotEnd, lesser(next, end)),
        ...source.pack({ b: addresses.b, scratch: others, panels }, lot, lotEnd),
        ...multiplyPanels(problem, addresses, { rows, panels, first: lot, end: lotEnd, rest }),
      ]),
    ];
  };
}

/** Depths that tiles begin at, and how deep they are there. */
function depthsOf(
  { k }: Pick<MatmulProblem, 'k'>,
  isLong: boolean,
): readonly { readonly at: number; readonly depth: number }[] {
  // No last part that is much smaller than others.
  const parts = k <= DEPTH * 1.5 ? 1 : Math.ceil(k / (isLong ? LONG_DEPTH : DEPTH));
  const size = Math.ceil(k / parts / 4) * 4;
  return Array.from({ length: parts }, (_, i) => {
    const at = i * size;
    return { at, depth: Math.min(size, k - at) };
  });
}

/** The functions that `multiplyPanels` calls. */
export const tileFunctions = (problem: MatmulProblem, isLong = false): WasmFunction[] =>
  tileShapes(problem, isLong).map((shape) => tileFunction(tileName(shape), problem, shape));

/** All tiles that a product is made of, each once. */
function tileShapes(problem: MatmulProblem, isLong: boolean): readonly TileShape[] {
  const { m, n, k } = problem;
  const shapes = depthsOf(problem, isLong).flatMap(({ at, depth }) =>
    partWidths(m, ROWS).flatMap((rows) =>
      partWidths(n, COLUMNS).map((columns) => ({
        rows,
        columns,
        depth,
        isFirst: at === 0,
        isLast: at + depth === k,
        isLong,
      })),
    ),
  );
  return [...new Map(shapes.map((shape) => [tileName(shape), shape])).values()];
}

const tileName = ({ rows, columns, depth, isFirst, isLast }: TileShape): string =>
  `tile${rows}x${columns}x${depth}${isFirst ? '' : '+'}${isLast ? '' : '-'}`;

interface PanelRange {
  /** Address of all panels of a. */
  readonly rows: Local;
  /** Address of the panel `first` of b. */
  readonly panels: Local;
  readonly first: Local;
  readonly end: Local;
  /** Of a long product: memory for what the elements of a block of rows have rounded off. */
  readonly rest?: Local | undefined;
}

/** All rows of a with some panels of b. */
export function multiplyPanels(
  problem: MatmulProblem,
  { c, y }: Pick<Addresses, 'c' | 'y'>,
  { rows: placeA, panels, first, end, rest }: PanelRange,
): Statement[] {
  const { m, n, k } = problem;
  const [block, blockEnd, row, column, depthAt] = locals(5);
  const whole = m - (m % ROWS);
  const isLong = rest !== undefined;
  const depths = depthsOf(problem, isLong);
  const blockRows = blockRowsOf(problem);
  const tilesAt = (at: Expression, part: Pick<TileShape, 'depth' | 'isFirst' | 'isLast'>) => {
    const restPlace = (base: Local) =>
      plus(
        base,
        plus(times(apply('i32.sub', row, block), n * FLOAT), times(column, COLUMNS * FLOAT)),
      );
    const callTile = (rows: number, columns: number) =>
      call(tileName({ rows, columns, ...part, isLong }), [
        plus(placeA, plus(times(row, k * FLOAT), times(at, ROWS * FLOAT))),
        plus(
          panels,
          plus(
            times(apply('i32.sub', column, first), panelBytes(problem)),
            times(at, COLUMNS * FLOAT),
          ),
        ),
        ...frame.resultPlaces(problem, { y, c, row, column: times(column, COLUMNS) }),
        ...(rest ? [restPlace(rest)] : []),
      ]);
    const isLastBlock = apply('i32.eq', blockEnd, i32(whole));
    const ofRest = (columns: number): Statement[] =>
      m % ROWS === 0 ? [] : when(isLastBlock, [set(row, i32(whole)), callTile(m % ROWS, columns)]);
    // Panels of b outside: one stays in the first cache while the rows of a block go by.
    return forParts({ index: column, first, end, count: n, width: COLUMNS }, (columns) => [
      ...(whole === 0
        ? []
        : loop({ index: row, begin: block, end: blockEnd, step: ROWS }, [callTile(ROWS, columns)])),
      ...ofRest(columns),
    ]);
  };
  return loop({ index: block, end: i32(Math.max(whole, 1)), step: blockRows }, [
    set(blockEnd, lesser(plus(block, blockRows), whole)),
    ...depths.flatMap(({ at, depth }, i) => {
      const tiles = (place: Expression) =>
        tilesAt(place, { depth, isFirst: i === 0, isLast: i === depths.length - 1 });
      if (!isLong || i === 0 || i === depths.length - 1) return tiles(i32(at));
      // Those between the first and the last are alike.
      const end = i32(depths.at(-1)?.at ?? 0);
      return i > 1
        ? []
        : loop({ index: depthAt, begin: i32(at), end, step: depth }, tiles(depthAt));
    }),
  ]);
}

/** Rows of a that are multiplied with all of b before others. */
function blockRowsOf(problem: Pick<MatmulProblem, 'k'>): number {
  const most = depthsOf(problem, false)[0]?.depth ?? problem.k;
  return Math.max(Math.floor(BLOCK_BYTES / (Math.max(most, 1) * FLOAT) / ROWS), 1) * ROWS;
}
