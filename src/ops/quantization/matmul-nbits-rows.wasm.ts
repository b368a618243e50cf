import { FLOAT, lesser, plus, times } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { forParts, partWidths } from '../../wasm/for-parts.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { writesOfColumns } from '../lowering/unit-writes.ts';
import type { WasmKernel } from '../lowering/wasm-lowering.ts';
import {
  bytesOfColumns,
  type Codes,
  codesOfSlot,
  placesOfColumn,
  zeroPoint,
  zeroStride,
} from './nbits-codes.wasm.ts';
import { acrossLanes } from './rounded-rows.wasm.ts';

/** Of larger blocks sums of products by words might not fit 32 bits. */
export const MOST_IN_BLOCK = 512;
/**
 * The scale of a block is the power of two that is at most its largest element, times this: so elements become integers below 2^29,
 * which has all digits of float32 that count beside the largest one. Upper words are 2^14 at most, and lower ones.
 */
const UNIT = 2 ** -28;
const EXPONENT = 0x7f800000;
/** Of smaller ones the inverse may be infinite; what such a block adds is 2^-97 at most, and is left out. */
const LEAST_SCALE = 2 ** -126;
const WORD = 2;
/** How many bytes an index has. */
const INDEX = 4;
const WORD_BITS = 15;
/** Of each block of a row: its scale, what sums of upper and lower words add for half of the range of codes, its sum. */
const BLOCK_FACTS = 16;
/** Bytes from the upper words of a row to the lower ones; a vector may begin at the last ones. */
const lowerWords = ({ depth }: Codes): number => depth * WORD + 16;

/** Columns that go through a row together. */
const COLUMNS = 4;

/** The addresses of the operands of a product. */
interface RowPlaces {
  readonly a: Expression;
  readonly weights: readonly [Expression, Expression, Expression | undefined];
  /** Which matrix a row has, where there are several. */
  readonly indices?: Expression;
}

/**
 * Each row with all columns, of its own matrix where there are several. Elements of the row become two words of 16 bits, with a scale
 * for each block, so that codes are multiplied as they are: eight products take one instruction.
 */
export function byRows(
  codes: Codes,
  placesOf: (inputs: readonly (Expression | undefined)[]) => RowPlaces | undefined,
): WasmKernel {
  const { m, n, k, blocks, matrices } = codes;
  const columnBytes = bytesOfColumns(codes, COLUMNS);
  return {
    functions: [
      wordsFunction(codes),
      ...partWidths(n, COLUMNS).map((width) => columnsFunction(codes, width)),
    ],
    scratch: [2 * lowerWords(codes), blocks * BLOCK_FACTS],
    units: Math.ceil(n / COLUMNS),
    writes: writesOfColumns({ rows: m, columns: n }, COLUMNS),
    ...(matrices === undefined && { unitInputs: [undefined, ...columnBytes] }),
    work: m * n * k,
    body({ inputs, output, scratch: [row, facts], units }) {
      const places = placesOf(inputs);
      if (!(places && row && facts)) return [];
      const { a, weights, indices } = places;
      const [index, part, first] = w.locals(3);
      const from = times(part, COLUMNS);
      const callColumns = (width: number): Statement =>
        s.call(`columns${width}`, [
          row,
          facts,
          ...placesOfColumn(codes, weights, indices === undefined ? from : plus(first, from)),
          plus(output, times(plus(times(index, n), from), FLOAT)),
        ]);
      return s.loop({ index, end: w.i32(m) }, [
        ...(indices === undefined ? [] : [s.set(first, firstColumn(codes, indices, index))]),
        s.call('words', [plus(a, times(index, k * FLOAT)), row, facts]),
        ...forParts({ index: part, ...units, count: n, width: COLUMNS }, (width) => [
          callColumns(width),
        ]),
      ]);
    },
  };
}

/** The first column of a row's matrix; that of the nearest one where its index lies outside. */
function firstColumn({ n, matrices = 1 }: Codes, indices: Expression, row: Expression): Expression {
  const given = w.load('i32', plus(indices, times(row, INDEX)));
  const positive = w.select(w.apply('i32.lt_s', given, w.i32(0)), w.i32(0), given);
  return times(lesser(positive, matrices - 1), n);
}

/**
 * `words(a, to, facts)`: a row as upper and lower words, in the order of `arrange`, and the facts of its blocks. What is not finite makes
 * its block's scale so.
 */
function wordsFunction(codes: Codes): WasmFunction {
  const { k, bits, blocks, blockSize, each, chunk } = codes;
  const [a, to, facts, block, first, end, chunkStart, slot, byte, at, target] = w.locals(11);
  const [value, upper, upperSum, lowerSum] = w.locals(4);
  const [most, inverse, scale, total] = w.locals(4, 'f32');
  const element = w.load('f32', plus(a, times(at, FLOAT)));
  const scaled = w.apply('f32.nearest', w.apply('f32.mul', element, inverse));
  const putWords = (first: Expression, second: Expression): Statement[] => [
    s.store('i16', { address: target }, first),
    s.store('i16', { address: target, offset: lowerWords(codes) }, second),
  ];
  const put: Statement[] = [
    s.set(value, w.apply('i32.trunc_sat_f32_s', scaled)),
    s.set(upper, w.apply('i32.shr_s', plus(value, 2 ** (WORD_BITS - 1)), w.i32(WORD_BITS))),
    s.set(value, w.apply('i32.sub', value, times(upper, 2 ** WORD_BITS))),
    s.set(upperSum, plus(upperSum, upper)),
    s.set(lowerSum, plus(lowerSum, value)),
    s.set(total, w.apply('f32.add', total, element)),
    ...putWords(upper, value),
  ];
  const isLess = (x: Expression, y: Expression) => w.apply('i32.lt_s', x, y);
  return {
    name: 'words',
    params: [a, to, facts],
    body: [
      s.set(target, to),
      ...s.loop({ index: block, end: w.i32(blocks) }, [
        s.set(first, times(block, blockSize)),
        s.set(end, plus(first, blockSize)),
        ...(k % blockSize === 0 ? [] : s.when(isLess(w.i32(k), end), [s.set(end, w.i32(k))])),
        s.set(most, w.f32(0)),
        ...s.loop({ index: at, begin: first, end }, [
          s.set(most, w.apply('f32.max', most, w.apply('f32.abs', element))),
        ]),
        s.set(scale, w.apply('f32.mul', powerOfTwo(most), w.f32(UNIT))),
        s.set(inverse, w.f32(0)),
        ...s.when(w.apply('f32.ge', scale, w.f32(LEAST_SCALE)), [
          s.set(inverse, w.apply('f32.div', w.f32(1), scale)),
        ]),
        s.set(upperSum, w.i32(0)),
        s.set(lowerSum, w.i32(0)),
        s.set(total, w.f32(0)),
        ...s.loop({ index: chunkStart, end: w.i32(blockSize), step: chunk * each }, [
          ...s.loop({ index: slot, end: w.i32(each) }, [
            s.set(at, plus(plus(first, chunkStart), slot)),
            ...s.loop({ index: byte, end: w.i32(chunk) }, [
              ...(k % blockSize === 0
                ? put
                : s.when(isLess(at, end), put, putWords(w.i32(0), w.i32(0)))),
              s.increment(at, each),
              s.increment(target, WORD),
            ]),
          ]),
        ]),
        s.store('f32', { address: facts }, scale),
        s.store('i32', { address: facts, offset: 4 }, times(upperSum, -(2 ** (bits - 1)))),
        s.store('i32', { address: facts, offset: 8 }, times(lowerSum, -(2 ** (bits - 1)))),
        s.store('f32', { address: facts, offset: 12 }, total),
        s.increment(facts, BLOCK_FACTS),
      ]),
    ],
  };
}

/** The power of two that is at most a number above 0; 0 and infinity as they are. */
function powerOfTwo(x: Expression): Expression {
  const exponent = w.apply('i32.and', w.apply('i32.reinterpret_f32', x), w.i32(EXPONENT));
  return w.apply('f32.reinterpret_i32', exponent);
}

/** Sums of the products of a chunk's codes and words, upper and lower ones, four in a vector of 32 bits. */
function productsOfChunk(
  codes: Codes,
  words: Expression,
  {
    address,
    offset,
    statements,
  }: {
    readonly address: Expression;
    readonly offset: number;
    readonly statements: Statement[];
  },
): readonly (readonly [upper: Expression, lower: Expression])[] {
  const { bits, each, chunk } = codes;
  const bind = s.binder(statements);
  const width = chunk === 16 ? 'v128' : chunk === 8 ? 'zero64' : 'zero32';
  const bytes = bind(w.load(width, address, offset));
  const halves = chunk === 16 ? ['low', 'high'] : ['low'];
  return Array.from({ length: each }, (_, slot) => {
    const own = bind(codesOfSlot(bits, bytes, slot));
    return halves.map((half, i) => {
      // Codes that a vector has no bytes for are 0, whatever words it has there.
      const place = (slot * chunk + i * 8) * WORD;
      const wide = bind(w.apply(`i16x8.extend_${half}_i8x16_u`, own));
      const dot = (from: number) => w.apply('i32x4.dot_i16x8_s', wide, w.load('v128', words, from));
      return [dot(place), dot(place + lowerWords(codes))] as const;
    });
  }).flat();
}

/** `columns(words, facts, codes, scales, zeros, y)`: a row times so many columns. */
function columnsFunction(codes: Codes, width: number): WasmFunction {
  const { blocks, blockBytes, each, chunk, zeros: kind } = codes;
  const [a, facts, b, scales, zeros, y] = w.locals(6);
  const [block, chunkIndex, scale] = [w.local('i32'), w.local('i32'), w.local('f32')];
  const columns = Array.from({ length: width }, (_, column) => ({
    total: w.local('v128'),
    upper: w.local('v128'),
    lower: w.local('v128'),
    less: w.local('f32'),
    codes: column * blocks * blockBytes,
    column,
  }));
  const step: Statement[] = columns.flatMap(({ upper, lower, codes: offset }) => {
    const statements: Statement[] = [];
    const products = productsOfChunk(codes, a, { address: b, offset, statements });
    const plusAll = (sum: Local, which: 0 | 1): Statement =>
      s.set(
        sum,
        products.reduce<Expression>((x, pair) => w.apply('i32x4.add', x, pair[which]), sum),
      );
    return [...statements, plusAll(upper, 0), plusAll(lower, 1)];
  });
  const finish = columns.flatMap(({ total, upper, lower, less, column }): Statement[] => {
    const place = w.local('i32');
    const own = w.load('f32', scales, column * blocks * FLOAT);
    const floats = (words: Local): Expression => w.apply('f32x4.convert_i32x4_s', words);
    const both = w.multiplyAdd(floats(upper), w.f32x4(2 ** WORD_BITS), floats(lower));
    const offset = w.apply('f32.mul', zeroPoint(codes, place, block), w.load('f32', facts, 12));
    return [
      s.set(scale, w.apply('f32.mul', own, w.load('f32', facts))),
      s.set(total, w.multiplyAdd(both, w.apply('f32x4.splat', scale), total)),
      ...(kind === 'none'
        ? []
        : [
            s.set(place, plus(zeros, column * zeroStride(codes))),
            s.set(less, w.apply('f32.add', less, w.apply('f32.mul', offset, own))),
          ]),
    ];
  });
  return {
    name: `columns${width}`,
    params: [a, facts, b, scales, zeros, y],
    body: [
      ...columns.flatMap(({ total, less }) => [s.set(total, w.f32x4(0)), s.set(less, w.f32(0))]),
      ...s.loop({ index: block, end: w.i32(blocks) }, [
        ...columns.flatMap(({ upper, lower }) => [
          s.set(upper, w.load('zero32', facts, 4)),
          s.set(lower, w.load('zero32', facts, 8)),
        ]),
        ...s.loop({ index: chunkIndex, end: w.i32(blockBytes / chunk) }, [
          ...step,
          s.increment(a, chunk * each * WORD),
          s.increment(b, chunk),
        ]),
        ...finish,
        s.increment(scales, FLOAT),
        s.increment(facts, BLOCK_FACTS),
      ]),
      ...columns.map(({ total, less, column }) =>
        s.store(
          'f32',
          { address: y, offset: column * FLOAT },
          w.apply('f32.sub', acrossLanes('f32x4', 'f32.add', total), less),
        ),
      ),
    ],
  };
}
