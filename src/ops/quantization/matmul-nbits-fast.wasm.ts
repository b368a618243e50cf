import { FLOAT, plus, times } from '../../wasm/address.ts';
import {
  apply,
  type Expression,
  f32,
  f32x4,
  i32,
  i32x4,
  load,
  local,
  locals,
  multiplyAdd,
} from '../../wasm/expression.ts';
import { forParts, partWidths } from '../../wasm/for-parts.ts';
import {
  type Bind,
  binder,
  call,
  increment,
  loop,
  set,
  type Statement,
  store,
  type WasmFunction,
} from '../../wasm/statement.ts';
import { writesOfColumns } from '../unit-writes.ts';
import type { WasmCall, WasmKernel } from '../wasm-lowering.ts';
import {
  bytesOfColumns,
  type Codes,
  codesOfSlot,
  placesOfColumn,
  zeroPoint,
  zeroStride,
} from './nbits-codes.wasm.ts';
import {
  acrossLanes,
  BLOCK_FACTS,
  BYTES,
  CHUNK,
  type RoundedCodes,
  type Rounding,
  roundFunction,
  WORDS,
} from './rounded-rows.wasm.ts';

/** In larger blocks the sums might not fit 32 bits. */
const MOST_IN_BLOCK = 512;

/** Columns and rows of a tile. */
const COLUMNS = 4;
const ROWS = 2;

/** Returns true if a product may be computed with {@link byRounding}. */
export const mayRound = ({ precision }: WasmCall, codes: Codes): boolean =>
  precision === 'fast' &&
  codes.bits >= 4 &&
  codes.chunk === CHUNK &&
  codes.k === codes.depth &&
  codes.blockSize <= MOST_IN_BLOCK;

/**
 * Rows are rounded to integers with a scale for each block, once for all columns, and multiplied by the codes as they are. Sums
 * of a block are exact.
 */
export function byRounding(codes: Codes, { multipliesBytes = false }: WasmCall): WasmKernel {
  const { m, n, k, blocks, bits } = codes;
  const rounding = multipliesBytes && bits < 8 ? BYTES : WORDS;
  const rowBytes = k * rounding.bytes;
  const factBytes = blocks * BLOCK_FACTS;
  const tiling = { ...codes, rounding, rowBytes, factBytes };
  const columnWidths = partWidths(n, COLUMNS);
  return {
    functions: [
      roundFunction(tiling),
      ...partWidths(m, ROWS).flatMap((rows) =>
        columnWidths.map((columns) => tileFunction(tiling, rows, columns)),
      ),
    ],
    scratch: [m * rowBytes, m * factBytes],
    units: Math.ceil(n / COLUMNS),
    writes: writesOfColumns({ rows: m, columns: n }, COLUMNS),
    unitInputs: [undefined, ...bytesOfColumns(codes, COLUMNS)],
    work: m * n * k,
    body({ inputs: [a, b, scales, zeros], output, scratch: [rounded, facts], units }) {
      if (!(a && b && scales && rounded && facts)) return [];
      const [row, part] = locals(2);
      const from = times(part, COLUMNS);
      const callTile = (rows: number, columns: number): Statement =>
        call(tileName(rows, columns), [
          plus(rounded, times(row, rowBytes)),
          plus(facts, times(row, factBytes)),
          ...placesOfColumn(codes, [b, scales, zeros], from),
          plus(output, times(plus(times(row, n), from), FLOAT)),
        ]);
      const whole = m - (m % ROWS);
      return [
        ...loop({ index: row, end: i32(m) }, [
          call('round', [
            plus(a, times(row, k * FLOAT)),
            plus(rounded, times(row, rowBytes)),
            plus(facts, times(row, factBytes)),
          ]),
        ]),
        ...forParts({ index: part, ...units, count: n, width: COLUMNS }, (columns) => [
          ...loop({ index: row, end: i32(whole), step: ROWS }, [callTile(ROWS, columns)]),
          ...(whole === m ? [] : [set(row, i32(whole)), callTile(m - whole, columns)]),
        ]),
      ];
    },
  };
}

const tileName = (rows: number, columns: number): string => `tile${rows}x${columns}`;

/** `tileRxC(rows, facts, codes, scales, zeros, y)`: so many rows times so many columns. */
function tileFunction(tiling: RoundedCodes, rowCount: number, columnCount: number): WasmFunction {
  const { n, blocks, blockSize, blockBytes, zeros: kind, rounding, rowBytes, factBytes } = tiling;
  const [a, facts, b, scales, zeros, y] = locals(6);
  const [block, place] = locals(2);
  const own = local('v128');
  const rows = Array.from({ length: rowCount }, (_, row) => ({
    row,
    bias: local('v128'),
    scale: local('v128'),
  }));
  const columns = Array.from({ length: columnCount }, (_, column) => ({
    column,
    codes: column * blocks * blockBytes,
    tiles: rows.map((row) => ({
      ...row,
      total: local('v128'),
      sum: local('v128'),
      less: local('f32'),
    })),
  }));
  const factOf = (row: number, offset: number): number => row * factBytes + offset;
  const products = Array.from({ length: blockBytes / CHUNK }, (_, chunk) => {
    const statements: Statement[] = [];
    const bind = binder(statements);
    const chunkBytes = CHUNK * tiling.each * rounding.bytes;
    const vectors = Array.from({ length: chunkBytes / 16 }, (_, vector) =>
      rows.map(({ row }) =>
        bind(load('v128', a, row * rowBytes + chunk * chunkBytes + vector * 16)),
      ),
    );
    for (const { codes, tiles } of columns) {
      const own = unpacked(tiling, load('v128', b, codes + chunk * CHUNK), bind);
      for (const { row, sum } of tiles) {
        for (const [i, code] of own.entries()) {
          const elements = vectors[i]?.[row] ?? i32x4(0);
          statements.push(set(sum, addProducts(rounding, elements, { code, sum })));
        }
      }
    }
    return statements;
  }).flat();
  const finish = columns.flatMap(({ column, tiles }): Statement[] => [
    set(own, load('splat32', scales, column * blocks * FLOAT)),
    ...tiles.map(({ total, sum, scale }) =>
      set(
        total,
        multiplyAdd(apply('f32x4.mul', apply('f32x4.convert_i32x4_s', sum), own), scale, total),
      ),
    ),
    ...(kind === 'none'
      ? []
      : [
          set(place, plus(zeros, column * zeroStride(tiling))),
          ...tiles.map(({ row, less }) => {
            const offset = apply(
              'f32.mul',
              zeroPoint(tiling, place, block),
              load('f32', facts, factOf(row, 8)),
            );
            const scale = load('f32', scales, column * blocks * FLOAT);
            return set(less, apply('f32.add', less, apply('f32.mul', offset, scale)));
          }),
        ]),
  ]);
  const tiles = columns.flatMap(({ column, tiles }) => tiles.map((tile) => ({ ...tile, column })));
  return {
    name: tileName(rowCount, columnCount),
    params: [a, facts, b, scales, zeros, y],
    body: [
      ...tiles.flatMap(({ total, less }) => [set(total, f32x4(0)), set(less, f32(0))]),
      ...loop({ index: block, end: i32(blocks) }, [
        ...rows.map(({ row, bias }) => set(bias, load('zero32', facts, factOf(row, 4)))),
        ...tiles.map(({ sum, bias }) => set(sum, bias)),
        ...products,
        ...rows.map(({ row, scale }) => set(scale, load('splat32', facts, factOf(row, 0)))),
        ...finish,
        increment(a, blockSize * rounding.bytes),
        increment(b, blockBytes),
        increment(scales, FLOAT),
        increment(facts, BLOCK_FACTS),
      ]),
      ...tiles.map(({ row, column, total, less }) =>
        store(
          'f32',
          { address: y, offset: (row * n + column) * FLOAT },
          apply('f32.sub', acrossLanes('f32x4', 'f32.add', total), less),
        ),
      ),
    ],
  };
}

/** Vectors of the codes of a chunk, of as many bytes each as elements have. */
function unpacked({ bits, rounding }: RoundedCodes, chunk: Expression, bind: Bind): Expression[] {
  const bytes = bind(chunk);
  const slots = bits === 8 ? [bytes] : [0, 1].map((slot) => bind(codesOfSlot(bits, bytes, slot)));
  if (rounding.bytes === 1) return slots;
  return slots.flatMap((slot) =>
    ['low', 'high'].map((half) => bind(apply(`i16x8.extend_${half}_i8x16_u`, slot))),
  );
}

/** Products of integers, added up by fours or pairs in lanes of 32 bits, and a sum. */
function addProducts(
  { bytes }: Rounding,
  elements: Expression,
  { code, sum }: { readonly code: Expression; readonly sum: Expression },
): Expression {
  return bytes === 1
    ? apply('i32x4.relaxed_dot_i8x16_i7x16_add_s', elements, code, sum)
    : apply('i32x4.add', sum, apply('i32x4.dot_i16x8_s', elements, code));
}
