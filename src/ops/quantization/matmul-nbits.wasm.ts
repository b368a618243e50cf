import { FLOAT, plus, times } from '../../wasm/address.ts';
import {
  apply,
  type Expression,
  f32,
  f32x4,
  i32,
  lane,
  load,
  type Local,
  local,
  locals,
} from '../../wasm/expression.ts';
import { partWidths, forParts } from '../../wasm/for-parts.ts';
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
import { productKernel } from '../linear/product.wasm.ts';
import { writesOfColumns } from '../unit-writes.ts';
import { innerKernel, withHalves } from '../wasm-kernels.ts';
import type { WasmKernel, WasmLowering } from '../wasm-lowering.ts';
import { type NbitsProblem, nbitsProblem } from './matmul-nbits-problem.ts';
import { plainProblem } from '../linear/matmul-problem.ts';

/** Up to here weights are decoded for each row; of more rows they are decoded into memory once. */
const FEW_ROWS = 6;
/** Columns that go through a row together. */
const COLUMNS = 4;

/** The problem and how its codes are read. */
interface Codes extends NbitsProblem {
  /** Codes of a byte. */
  readonly each: number;
  /** Bytes that are read together, all of one block: 16, 8 or 4. */
  readonly chunk: number;
  readonly blockBytes: number;
  /** Elements of a row with what is behind the last one in its block. */
  readonly depth: number;
}

const matmulNbits: WasmLowering = (given) => {
  if (given.output.dtype !== 'float32') return undefined;
  const problem = nbitsProblem(given);
  const { bits, blockSize, blocks, m, n } = problem;
  const blockBytes = (blockSize * bits) / 8;
  const chunk = [16, 8].find((bytes) => blockBytes % bytes === 0) ?? 4;
  const codes: Codes = {
    ...problem,
    each: 8 / bits,
    chunk,
    blockBytes,
    depth: blocks * blockSize,
  };
  if (m * n === 0) return { body: () => [] };
  return m <= FEW_ROWS ? byRows(codes) : byDecoding(codes);
};

/** Each row with all columns, whose codes become floats in registers. */
function byRows(codes: Codes): WasmKernel {
  const { m, n, k, depth, blocks } = codes;
  return {
    functions: [
      arrangeFunction(codes),
      ...(codes.zeros === 'none' ? [] : [blockSumsFunction(codes)]),
      ...partWidths(n, COLUMNS).map((width) => columnsFunction(codes, width)),
    ],
    scratch: [Math.max(depth, 4) * FLOAT, Math.max(blocks, 4) * FLOAT],
    units: Math.ceil(n / COLUMNS),
    writes: writesOfColumns({ rows: m, columns: n }, COLUMNS),
    unitInputs: [
      undefined,
      COLUMNS * blocks * codes.blockBytes,
      COLUMNS * blocks * FLOAT,
      COLUMNS * zeroStride(codes),
    ],
    work: m * n * k,
    body({ inputs: [a, b, scales, zeros], output, scratch: [row, sums], units }) {
      if (!(a && b && scales && row && sums)) return [];
      const [index, part] = locals(2);
      const from = times(part, COLUMNS);
      const callColumns = (width: number): Statement =>
        call(`columns${width}`, [
          row,
          sums,
          plus(b, times(from, blocks * codes.blockBytes)),
          plus(scales, times(from, blocks * FLOAT)),
          plus(zeros ?? scales, times(from, zeroStride(codes))),
          plus(output, times(plus(times(index, n), from), FLOAT)),
        ]);
      return loop({ index, end: i32(m) }, [
        call('arrange', [plus(a, times(index, k * FLOAT)), row]),
        ...(codes.zeros === 'none' ? [] : [call('sums', [row, sums])]),
        ...forParts({ index: part, ...units, count: n, width: COLUMNS }, (width) => [
          callColumns(width),
        ]),
      ]);
    },
  };
}

/** Weights of float32 in memory, and a product of them. */
function byDecoding(codes: Codes): WasmKernel {
  const { m, n, k, depth, blocks } = codes;
  const product = innerKernel(
    productKernel({
      ...plainProblem({ m, n, k: depth }),
      b: { batch: [0, 0], row: 1, column: depth },
    }),
    'product_',
  );
  return {
    functions: [arrangeFunction(codes), decodeFunction(codes), ...product.functions],
    scratch: [m * depth * FLOAT, n * depth * FLOAT, ...product.scratch],
    body({ inputs: [a, b, scales, zeros], output, scratch: [rows, weights, ...scratch] }) {
      if (!(a && b && scales && rows && weights)) return [];
      const index = local('i32');
      const places = { inputs: [rows, weights], output, scratch };
      return [
        ...loop({ index, end: i32(m) }, [
          call('arrange', [
            plus(a, times(index, k * FLOAT)),
            plus(rows, times(index, depth * FLOAT)),
          ]),
        ]),
        ...loop({ index, end: i32(n) }, [
          call('decode', [
            plus(b, times(index, blocks * codes.blockBytes)),
            plus(scales, times(index, blocks * FLOAT)),
            plus(zeros ?? scales, times(index, zeroStride(codes))),
            plus(weights, times(index, depth * FLOAT)),
          ]),
        ]),
        ...product.pack(places),
        ...product.run(places),
      ];
    },
  };
}

const zeroStride = ({ zeros, zeroBytes, blocks }: NbitsProblem): number =>
  zeros === 'packed' ? zeroBytes : blocks * FLOAT;

/**
 * `arrange(a, to)`: a row in the order in which codes are decoded, of each chunk the elements of the
 * lowest bits of its bytes first; zeros behind the last one.
 */
function arrangeFunction({ k, depth, each, chunk }: Codes): WasmFunction {
  const [a, to, first, slot, byte, at, target] = locals(7);
  const element = load('f32', plus(a, times(at, FLOAT)));
  const put = (value: Expression): Statement => store('f32', { address: target }, value);
  return {
    name: 'arrange',
    params: [a, to],
    body: [
      set(target, to),
      ...loop({ index: first, end: i32(depth), step: chunk * each }, [
        ...loop({ index: slot, end: i32(each) }, [
          set(at, plus(first, slot)),
          ...loop({ index: byte, end: i32(chunk) }, [
            ...(k === depth
              ? [put(element)]
              : when(apply('i32.lt_s', at, i32(k)), [put(element)], [put(f32(0))])),
            increment(at, each),
            increment(target, FLOAT),
          ]),
        ]),
      ]),
    ],
  };
}

/** `sums(a, to)`: the sum of each block of a row. */
function blockSumsFunction({ blocks, blockSize }: Codes): WasmFunction {
  const [a, to, block, index] = locals(4);
  const sum = local('v128');
  return {
    name: 'sums',
    params: [a, to],
    body: loop({ index: block, end: i32(blocks) }, [
      set(sum, f32x4(0)),
      ...loop({ index, end: i32(blockSize), step: 4 }, [
        set(sum, apply('f32x4.add', sum, load('v128', a))),
        increment(a, 4 * FLOAT),
      ]),
      store('f32', { address: to }, acrossLanes(sum)),
      increment(to, FLOAT),
    ]),
  };
}

function acrossLanes(value: Expression): Expression {
  const add = (x: Expression, y: Expression) => apply('f32.add', x, y);
  const [a, b, c, d] = [0, 1, 2, 3].map((index) => lane('f32x4', value, index));
  return a && b && c && d ? add(add(a, b), add(c, d)) : f32(0);
}

/** Floats of the codes in a chunk, less half of their range, in the order of `arrange`. */
function decodeChunk(
  { bits, each, chunk }: Codes,
  address: Expression,
  { offset, statements }: { readonly offset: number; readonly statements: Statement[] },
): Expression[] {
  const bind = binder(statements);
  const width = chunk === 16 ? 'v128' : chunk === 8 ? 'zero64' : 'zero32';
  const bytes = bind(load(width, address, offset));
  const splat = (value: number) => apply('i8x16.splat', i32(value));
  return Array.from({ length: each }, (_, slot) => {
    const moved = slot === 0 ? bytes : apply('i8x16.shr_u', bytes, i32(slot * bits));
    const isLast = slot === each - 1 && slot > 0;
    const code = isLast || bits === 8 ? moved : apply('v128.and', moved, splat(2 ** bits - 1));
    const signed = bind(apply('i8x16.sub', code, splat(2 ** (bits - 1))));
    const halves = chunk === 16 ? ['low', 'high'] : ['low'];
    return halves.flatMap((half) => {
      const words = bind(apply(`i16x8.extend_${half}_i8x16_s`, signed));
      return (chunk === 4 ? ['low'] : ['low', 'high']).map((part) =>
        apply('f32x4.convert_i32x4_s', apply(`i32x4.extend_${part}_i16x8_s`, words)),
      );
    });
  }).flat();
}

/** What is taken from the decoded codes of a block: its zero point, less half of the range. */
function zeroPoint({ zeros, bits, each }: Codes, place: Local, block: Local): Expression {
  const middle = 2 ** (bits - 1);
  if (zeros === 'none') return f32(0);
  if (zeros === 'floats') {
    return apply('f32.sub', load('f32', plus(place, times(block, FLOAT))), f32(middle));
  }
  const byte = load('i8_u', plus(place, apply('i32.div_u', block, i32(each))));
  const shift = times(apply('i32.rem_u', block, i32(each)), bits);
  const code = apply('i32.and', apply('i32.shr_u', byte, shift), i32(2 ** bits - 1));
  return apply('f32.convert_i32_s', plus(code, -middle));
}

/** `columns(a, sums, codes, scales, zeros, y)`: a row times so many columns. */
function columnsFunction(codes: Codes, width: number): WasmFunction {
  const { blocks, blockBytes, each, chunk, zeros: kind } = codes;
  const [a, sums, b, scales, zeros, y] = locals(6);
  const [block, chunkIndex, scale] = [local('i32'), local('i32'), local('f32')];
  const columns = Array.from({ length: width }, (_, column) => ({
    total: local('v128'),
    part: local('v128'),
    less: local('f32'),
    codes: column * blocks * blockBytes,
    column,
  }));
  const step: Statement[] = columns.flatMap(({ part, codes: offset }) => {
    const statements: Statement[] = [];
    const vectors = decodeChunk(codes, b, { offset, statements });
    return [
      ...statements,
      ...vectors.map((vector, i) => {
        const product = apply('f32x4.mul', vector, load('v128', a, i * 16));
        return set(part, apply('f32x4.add', part, product));
      }),
    ];
  });
  const finish = columns.flatMap(({ total, part, less, column }): Statement[] => {
    const place = local('i32');
    const add = apply('f32x4.mul', part, apply('f32x4.splat', scale));
    const offset = apply('f32.mul', zeroPoint(codes, place, block), load('f32', sums));
    return [
      set(scale, load('f32', scales, column * blocks * FLOAT)),
      set(total, apply('f32x4.add', total, add)),
      ...(kind === 'none'
        ? []
        : [
            set(place, plus(zeros, column * zeroStride(codes))),
            set(less, apply('f32.add', less, apply('f32.mul', offset, scale))),
          ]),
    ];
  });
  return {
    name: `columns${width}`,
    params: [a, sums, b, scales, zeros, y],
    body: [
      ...columns.flatMap(({ total, less }) => [set(total, f32x4(0)), set(less, f32(0))]),
      ...loop({ index: block, end: i32(blocks) }, [
        ...columns.map(({ part }) => set(part, f32x4(0))),
        ...loop({ index: chunkIndex, end: i32(blockBytes / chunk) }, [
          ...step,
          increment(a, chunk * each * FLOAT),
          increment(b, chunk),
        ]),
        ...finish,
        increment(scales, FLOAT),
        increment(sums, FLOAT),
      ]),
      ...columns.map(({ total, less, column }) =>
        store(
          'f32',
          { address: y, offset: column * FLOAT },
          apply('f32.sub', acrossLanes(total), less),
        ),
      ),
    ],
  };
}

/** `decode(codes, scales, zeros, to)`: a column as floats, in the order of `arrange`. */
function decodeFunction(codes: Codes): WasmFunction {
  const { blocks, blockBytes, each, chunk } = codes;
  const [b, scales, zeros, to, block, index] = locals(6);
  const [scale, zero] = locals(2, 'v128');
  const statements: Statement[] = [];
  const vectors = decodeChunk(codes, b, { offset: 0, statements });
  return {
    name: 'decode',
    params: [b, scales, zeros, to],
    body: loop({ index: block, end: i32(blocks) }, [
      set(scale, load('splat32', scales)),
      set(zero, apply('f32x4.splat', zeroPoint(codes, zeros, block))),
      ...loop({ index, end: i32(blockBytes / chunk) }, [
        ...statements,
        ...vectors.map((vector, i) =>
          store(
            'v128',
            { address: to, offset: i * 16 },
            apply('f32x4.mul', apply('f32x4.sub', vector, zero), scale),
          ),
        ),
        increment(to, chunk * each * FLOAT),
        increment(b, chunk),
      ]),
      increment(scales, FLOAT),
    ]),
  };
}

export const MATMUL_NBITS_WASM: Readonly<Record<string, WasmLowering>> = {
  matmul_nbits: withHalves(matmulNbits),
};
