import { FLOAT, plus, times } from '../../wasm/address.ts';
import { apply, type Expression, f32, i32, load, local, locals } from '../../wasm/expression.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { productKernel } from '../linear/product.wasm.ts';
import { innerKernel } from '../lowering/wasm-kernels.ts';
import type { WasmKernel, WasmLowering } from '../lowering/wasm-lowering.ts';
import { gatheredNbitsProblem, type NbitsProblem, nbitsProblem } from './matmul-nbits-problem.ts';
import { byRounding, mayRound } from './matmul-nbits-fast.wasm.ts';
import { byRows, MOST_IN_BLOCK } from './matmul-nbits-rows.wasm.ts';
import { type Codes, codesOfSlot, zeroPoint, zeroStride } from './nbits-codes.wasm.ts';
import { plainProblem } from '../linear/matmul-problem.ts';

/** Up to here codes are read for each row; of more rows they are decoded into memory once. */
const FEW_ROWS = 8;

export const matmulNbitsWasm: WasmLowering = (given) => {
  if (given.output.dtype !== 'float32') return undefined;
  const codes = codesOf(nbitsProblem(given));
  const { m, n, blockSize } = codes;
  if (m * n === 0) return { body: () => [] };
  if (mayRound(given, codes)) return byRounding(codes, given);
  if (m > FEW_ROWS || blockSize > MOST_IN_BLOCK) return byDecoding(codes);
  return byRows(codes, ([a, b, scales, zeros]) => {
    return a && b && scales && { a, weights: [b, scales, zeros] };
  });
};

/** Larger blocks than rows can have are left to the reference. */
export const gatherMatmulNbitsWasm: WasmLowering = (given) => {
  const codes = codesOf(gatheredNbitsProblem(given));
  if (given.output.dtype !== 'float32' || codes.blockSize > MOST_IN_BLOCK) return undefined;
  if (codes.m * codes.n === 0) return { body: () => [] };
  return byRows(codes, ([a, b, scales, indices, zeros]) => {
    return a && b && scales && indices && { a, weights: [b, scales, zeros], indices };
  });
};

function codesOf(problem: NbitsProblem): Codes {
  const { bits, blockSize, blocks } = problem;
  const blockBytes = (blockSize * bits) / 8;
  const chunk = [16, 8].find((bytes) => blockBytes % bytes === 0) ?? 4;
  return { ...problem, each: 8 / bits, chunk, blockBytes, depth: blocks * blockSize };
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
        ...s.loop({ index, end: i32(m) }, [
          s.call('arrange', [
            plus(a, times(index, k * FLOAT)),
            plus(rows, times(index, depth * FLOAT)),
          ]),
        ]),
        ...s.loop({ index, end: i32(n) }, [
          s.call('decode', [
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

/**
 * `arrange(a, to)`: a row in the order in which codes are decoded, of each chunk the elements of the
 * lowest bits of its bytes first; zeros behind the last one.
 */
function arrangeFunction({ k, depth, each, chunk }: Codes): WasmFunction {
  const [a, to, first, slot, byte, at, target] = locals(7);
  const element = load('f32', plus(a, times(at, FLOAT)));
  const put = (value: Expression): Statement => s.store('f32', { address: target }, value);
  return {
    name: 'arrange',
    params: [a, to],
    body: [
      s.set(target, to),
      ...s.loop({ index: first, end: i32(depth), step: chunk * each }, [
        ...s.loop({ index: slot, end: i32(each) }, [
          s.set(at, plus(first, slot)),
          ...s.loop({ index: byte, end: i32(chunk) }, [
            ...(k === depth
              ? [put(element)]
              : s.when(apply('i32.lt_s', at, i32(k)), [put(element)], [put(f32(0))])),
            s.increment(at, each),
            s.increment(target, FLOAT),
          ]),
        ]),
      ]),
    ],
  };
}

/** Floats of the codes in a chunk, less half of their range, in the order of `arrange`. */
function decodeChunk(
  { bits, each, chunk }: Codes,
  address: Expression,
  { offset, statements }: { readonly offset: number; readonly statements: Statement[] },
): Expression[] {
  const bind = s.binder(statements);
  const width = chunk === 16 ? 'v128' : chunk === 8 ? 'zero64' : 'zero32';
  const bytes = bind(load(width, address, offset));
  const splat = (value: number) => apply('i8x16.splat', i32(value));
  return Array.from({ length: each }, (_, slot) => {
    const signed = bind(apply('i8x16.sub', codesOfSlot(bits, bytes, slot), splat(2 ** (bits - 1))));
    const halves = chunk === 16 ? ['low', 'high'] : ['low'];
    return halves.flatMap((half) => {
      const words = bind(apply(`i16x8.extend_${half}_i8x16_s`, signed));
      return (chunk === 4 ? ['low'] : ['low', 'high']).map((part) =>
        apply('f32x4.convert_i32x4_s', apply(`i32x4.extend_${part}_i16x8_s`, words)),
      );
    });
  }).flat();
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
    body: s.loop({ index: block, end: i32(blocks) }, [
      s.set(scale, load('splat32', scales)),
      s.set(zero, apply('f32x4.splat', zeroPoint(codes, zeros, block))),
      ...s.loop({ index, end: i32(blockBytes / chunk) }, [
        ...statements,
        ...vectors.map((vector, i) =>
          s.store(
            'v128',
            { address: to, offset: i * 16 },
            apply('f32x4.mul', apply('f32x4.sub', vector, zero), scale),
          ),
        ),
        s.increment(to, chunk * each * FLOAT),
        s.increment(b, chunk),
      ]),
      s.increment(scales, FLOAT),
    ]),
  };
}
