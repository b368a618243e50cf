import { FLOAT, lesser, plus, times } from '../../wasm/address.ts';
import {
  apply,
  type Expression,
  f32,
  f32x4,
  i32,
  load,
  type Local,
  local,
  locals,
  multiplyAdd,
  select,
} from '../../wasm/expression.ts';
import { forParts, partWidths } from '../../wasm/for-parts.ts';
import {
  binder,
  call,
  increment,
  loop,
  set,
  type Statement,
  store,
  type WasmFunction,
  when,
} from '../../wasm/statement.ts';
import { writesOfColumns } from '../unit-writes.ts';
import type { WasmKernel } from '../wasm-lowering.ts';
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
      const [index, part, first] = locals(3);
      const from = times(part, COLUMNS);
      const callColumns = (width: number): Statement =>
        call(`columns${width}`, [
          row,
          facts,
          ...placesOfColumn(codes, weights, indices === undefined ? from : plus(first, from)),
          plus(output, times(plus(times(index, n), from), FLOAT)),
        ]);
      return loop({ index, end: i32(m) }, [
        ...(indices === undefined ? [] : [set(first, firstColumn(codes, indices, index))]),
        call('words', [plus(a, times(index, k * FLOAT)), row, facts]),
        ...forParts({ index: part, ...units, count: n, width: COLUMNS }, (width) => [
          callColumns(width),
        ]),
      ]);
    },
  };
}

/** The first column of a row's matrix; that of the nearest one where its index lies outside. */
function firstColumn({ n, matrices = 1 }: Codes, indices: Expression, row: Expression): Expression {
  const given = load('i32', plus(indices, times(row, INDEX)));
  const positive = select(apply('i32.lt_s', given, i32(0)), i32(0), given);
  return times(lesser(positive, matrices - 1), n);
}

/**
 * `words(a, to, facts)`: a row as upper and lower words, in the order of `arrange`, and the facts of its blocks. What is not finite makes
 * its block's scale so.
 */
function wordsFunction(codes: Codes): WasmFunction {
  const { k, bits, blocks, blockSize, each, chunk } = codes;
  const [a, to, facts, block, first, end, chunkStart, slot, byte, at, target] = locals(11);
  const [value, upper, upperSum, lowerSum] = locals(4);
  const [most, inverse, scale, total] = locals(4, 'f32');
  const element = load('f32', plus(a, times(at, FLOAT)));
  const scaled = apply('f32.nearest', apply('f32.mul', element, inverse));
  const putWords = (first: Expression, second: Expression): Statement[] => [
    store('i16', { address: target }, first),
    store('i16', { address: target, offset: lowerWords(codes) }, second),
  ];
  const put: Statement[] = [
    set(value, apply('i32.trunc_sat_f32_s', scaled)),
    set(upper, apply('i32.shr_s', plus(value, 2 ** (WORD_BITS - 1)), i32(WORD_BITS))),
    set(value, apply('i32.sub', value, times(upper, 2 ** WORD_BITS))),
    set(upperSum, plus(upperSum, upper)),
    set(lowerSum, plus(lowerSum, value)),
    set(total, apply('f32.add', total, element)),
    ...putWords(upper, value),
  ];
  const isLess = (x: Expression, y: Expression) => apply('i32.lt_s', x, y);
  return {
    name: 'words',
    params: [a, to, facts],
    body: [
      set(target, to),
      ...loop({ index: block, end: i32(blocks) }, [
        set(first, times(block, blockSize)),
        set(end, plus(first, blockSize)),
        ...(k % blockSize === 0 ? [] : when(isLess(i32(k), end), [set(end, i32(k))])),
        set(most, f32(0)),
        ...loop({ index: at, begin: first, end }, [
          set(most, apply('f32.max', most, apply('f32.abs', element))),
        ]),
        set(scale, apply('f32.mul', powerOfTwo(most), f32(UNIT))),
        set(inverse, f32(0)),
        ...when(apply('f32.ge', scale, f32(LEAST_SCALE)), [
          set(inverse, apply('f32.div', f32(1), scale)),
        ]),
        set(upperSum, i32(0)),
        set(lowerSum, i32(0)),
        set(total, f32(0)),
        ...loop({ index: chunkStart, end: i32(blockSize), step: chunk * each }, [
          ...loop({ index: slot, end: i32(each) }, [
            set(at, plus(plus(first, chunkStart), slot)),
            ...loop({ index: byte, end: i32(chunk) }, [
              ...(k % blockSize === 0 ? put : when(isLess(at, end), put, putWords(i32(0), i32(0)))),
              increment(at, each),
              increment(target, WORD),
            ]),
          ]),
        ]),
        store('f32', { address: facts }, scale),
        store('i32', { address: facts, offset: 4 }, times(upperSum, -(2 ** (bits - 1)))),
        store('i32', { address: facts, offset: 8 }, times(lowerSum, -(2 ** (bits - 1)))),
        store('f32', { address: facts, offset: 12 }, total),
        increment(facts, BLOCK_FACTS),
      ]),
    ],
  };
}

/** The power of two that is at most a number above 0; 0 and infinity as they are. */
function powerOfTwo(x: Expression): Expression {
  const exponent = apply('i32.and', apply('i32.reinterpret_f32', x), i32(EXPONENT));
  return apply('f32.reinterpret_i32', exponent);
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
  const bind = binder(statements);
  const width = chunk === 16 ? 'v128' : chunk === 8 ? 'zero64' : 'zero32';
  const bytes = bind(load(width, address, offset));
  const halves = chunk === 16 ? ['low', 'high'] : ['low'];
  return Array.from({ length: each }, (_, slot) => {
    const own = bind(codesOfSlot(bits, bytes, slot));
    return halves.map((half, i) => {
      // Codes that a vector has no bytes for are 0, whatever words it has there.
      const place = (slot * chunk + i * 8) * WORD;
      const wide = bind(apply(`i16x8.extend_${half}_i8x16_u`, own));
      const dot = (from: number) => apply('i32x4.dot_i16x8_s', wide, load('v128', words, from));
      return [dot(place), dot(place + lowerWords(codes))] as const;
    });
  }).flat();
}

/** `columns(words, facts, codes, scales, zeros, y)`: a row times so many columns. */
function columnsFunction(codes: Codes, width: number): WasmFunction {
  const { blocks, blockBytes, each, chunk, zeros: kind } = codes;
  const [a, facts, b, scales, zeros, y] = locals(6);
  const [block, chunkIndex, scale] = [local('i32'), local('i32'), local('f32')];
  const columns = Array.from({ length: width }, (_, column) => ({
    total: local('v128'),
    upper: local('v128'),
    lower: local('v128'),
    less: local('f32'),
    codes: column * blocks * blockBytes,
    column,
  }));
  const step: Statement[] = columns.flatMap(({ upper, lower, codes: offset }) => {
    const statements: Statement[] = [];
    const products = productsOfChunk(codes, a, { address: b, offset, statements });
    const plusAll = (sum: Local, which: 0 | 1): Statement =>
      set(
        sum,
        products.reduce<Expression>((x, pair) => apply('i32x4.add', x, pair[which]), sum),
      );
    return [...statements, plusAll(upper, 0), plusAll(lower, 1)];
  });
  const finish = columns.flatMap(({ total, upper, lower, less, column }): Statement[] => {
    const place = local('i32');
    const own = load('f32', scales, column * blocks * FLOAT);
    const floats = (words: Local): Expression => apply('f32x4.convert_i32x4_s', words);
    const both = multiplyAdd(floats(upper), f32x4(2 ** WORD_BITS), floats(lower));
    const offset = apply('f32.mul', zeroPoint(codes, place, block), load('f32', facts, 12));
    return [
      set(scale, apply('f32.mul', own, load('f32', facts))),
      set(total, multiplyAdd(both, apply('f32x4.splat', scale), total)),
      ...(kind === 'none'
        ? []
        : [
            set(place, plus(zeros, column * zeroStride(codes))),
            set(less, apply('f32.add', less, apply('f32.mul', offset, own))),
          ]),
    ];
  });
  return {
    name: `columns${width}`,
    params: [a, facts, b, scales, zeros, y],
    body: [
      ...columns.flatMap(({ total, less }) => [set(total, f32x4(0)), set(less, f32(0))]),
      ...loop({ index: block, end: i32(blocks) }, [
        ...columns.flatMap(({ upper, lower }) => [
          set(upper, load('zero32', facts, 4)),
          set(lower, load('zero32', facts, 8)),
        ]),
        ...loop({ index: chunkIndex, end: i32(blockBytes / chunk) }, [
          ...step,
          increment(a, chunk * each * WORD),
          increment(b, chunk),
        ]),
        ...finish,
        increment(scales, FLOAT),
        increment(facts, BLOCK_FACTS),
      ]),
      ...columns.map(({ total, less, column }) =>
        store(
          'f32',
          { address: y, offset: column * FLOAT },
          apply('f32.sub', acrossLanes('f32x4', 'f32.add', total), less),
        ),
      ),
    ],
  };
}
