import { FLOAT, plus, times } from '../../wasm/address.ts';
import type { Expression } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { forParts, partWidths } from '../../wasm/for-parts.ts';
import type { Bind, Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { writesOfColumns } from '../lowering/unit-writes.ts';
import type { WasmCall, WasmKernel } from '../lowering/wasm-lowering.ts';
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
      const [row, part] = w.locals(2);
      const from = times(part, COLUMNS);
      const callTile = (rows: number, columns: number): Statement =>
        s.call(tileName(rows, columns), [
          plus(rounded, times(row, rowBytes)),
          plus(facts, times(row, factBytes)),
          ...placesOfColumn(codes, [b, scales, zeros], from),
          plus(output, times(plus(times(row, n), from), FLOAT)),
        ]);
      const whole = m - (m % ROWS);
      return [
        ...s.loop({ index: row, end: w.i32(m) }, [
          s.call('round', [
            plus(a, times(row, k * FLOAT)),
            plus(rounded, times(row, rowBytes)),
            plus(facts, times(row, factBytes)),
          ]),
        ]),
        ...forParts({ index: part, ...units, count: n, width: COLUMNS }, (columns) => [
          ...s.loop({ index: row, end: w.i32(whole), step: ROWS }, [callTile(ROWS, columns)]),
          ...(whole === m ? [] : [s.set(row, w.i32(whole)), callTile(m - whole, columns)]),
        ]),
      ];
    },
  };
}

const tileName = (rows: number, columns: number): string => `tile${rows}x${columns}`;

/** `tileRxC(rows, facts, codes, scales, zeros, y)`: so many rows times so many columns. */
function tileFunction(tiling: RoundedCodes, rowCount: number, columnCount: number): WasmFunction {
  const { n, blocks, blockSize, blockBytes, zeros: kind, rounding, rowBytes, factBytes } = tiling;
  const [a, facts, b, scales, zeros, y] = w.locals(6);
  const [block, place] = w.locals(2);
  const own = w.local('v128');
  const rows = Array.from({ length: rowCount }, (_, row) => ({
    row,
    bias: w.local('v128'),
    scale: w.local('v128'),
  }));
  const columns = Array.from({ length: columnCount }, (_, column) => ({
    column,
    codes: column * blocks * blockBytes,
    tiles: rows.map((row) => ({
      ...row,
      total: w.local('v128'),
      sum: w.local('v128'),
      less: w.local('f32'),
    })),
  }));
  const factOf = (row: number, offset: number): number => row * factBytes + offset;
  const products = Array.from({ length: blockBytes / CHUNK }, (_, chunk) => {
    const statements: Statement[] = [];
    const bind = s.binder(statements);
    const chunkBytes = CHUNK * tiling.each * rounding.bytes;
    const vectors = Array.from({ length: chunkBytes / 16 }, (_, vector) =>
      rows.map(({ row }) =>
        bind(w.load('v128', a, row * rowBytes + chunk * chunkBytes + vector * 16)),
      ),
    );
    for (const { codes, tiles } of columns) {
      const own = unpacked(tiling, w.load('v128', b, codes + chunk * CHUNK), bind);
      for (const { row, sum } of tiles) {
        for (const [i, code] of own.entries()) {
          const elements = vectors[i]?.[row] ?? w.i32x4(0);
          statements.push(s.set(sum, addProducts(rounding, elements, { code, sum })));
        }
      }
    }
    return statements;
  }).flat();
  const finish = columns.flatMap(({ column, tiles }): Statement[] => [
    s.set(own, w.load('splat32', scales, column * blocks * FLOAT)),
    ...tiles.map(({ total, sum, scale }) =>
      s.set(
        total,
        w.multiplyAdd(
          w.apply('f32x4.mul', w.apply('f32x4.convert_i32x4_s', sum), own),
          scale,
          total,
        ),
      ),
    ),
    ...(kind === 'none'
      ? []
      : [
          s.set(place, plus(zeros, column * zeroStride(tiling))),
          ...tiles.map(({ row, less }) => {
            const offset = w.apply(
              'f32.mul',
              zeroPoint(tiling, place, block),
              w.load('f32', facts, factOf(row, 8)),
            );
            const scale = w.load('f32', scales, column * blocks * FLOAT);
            return s.set(less, w.apply('f32.add', less, w.apply('f32.mul', offset, scale)));
          }),
        ]),
  ]);
  const tiles = columns.flatMap(({ column, tiles }) => tiles.map((tile) => ({ ...tile, column })));
  return {
    name: tileName(rowCount, columnCount),
    params: [a, facts, b, scales, zeros, y],
    body: [
      ...tiles.flatMap(({ total, less }) => [s.set(total, w.f32x4(0)), s.set(less, w.f32(0))]),
      ...s.loop({ index: block, end: w.i32(blocks) }, [
        ...rows.map(({ row, bias }) => s.set(bias, w.load('zero32', facts, factOf(row, 4)))),
        ...tiles.map(({ sum, bias }) => s.set(sum, bias)),
        ...products,
        ...rows.map(({ row, scale }) => s.set(scale, w.load('splat32', facts, factOf(row, 0)))),
        ...finish,
        s.increment(a, blockSize * rounding.bytes),
        s.increment(b, blockBytes),
        s.increment(scales, FLOAT),
        s.increment(facts, BLOCK_FACTS),
      ]),
      ...tiles.map(({ row, column, total, less }) =>
        s.store(
          'f32',
          { address: y, offset: (row * n + column) * FLOAT },
          w.apply('f32.sub', acrossLanes('f32x4', 'f32.add', total), less),
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
    ['low', 'high'].map((half) => bind(w.apply(`i16x8.extend_${half}_i8x16_u`, slot))),
  );
}

/** Products of integers, added up by fours or pairs in lanes of 32 bits, and a sum. */
function addProducts(
  { bytes }: Rounding,
  elements: Expression,
  { code, sum }: { readonly code: Expression; readonly sum: Expression },
): Expression {
  return bytes === 1
    ? w.apply('i32x4.relaxed_dot_i8x16_i7x16_add_s', elements, code, sum)
    : w.apply('i32x4.add', sum, w.apply('i32x4.dot_i16x8_s', elements, code));
}
