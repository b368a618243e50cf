import type { WasmKernel } from '../lowering/wasm-lowering.ts';
import type { MatmulProblem } from './matmul-problem.ts';
import { FLOAT } from '../../wasm/address.ts';
import { panelRowsKernel } from './product-panel-rows.wasm.ts';
import { type ConstantOperand, isOne, matrixPanels, panelKernel } from './product-panels.wasm.ts';
import { dotKernel, rowKernel } from './product-rows.wasm.ts';
import { streamKernel } from './product-stream.wasm.ts';

/** From so many rows on b is copied into panels, of which a tile reads whole cache lines. */
const PANEL_ROWS = 6;
/** Columns of a row that fill some cache lines. */
const WIDE = 128;

/** Bytes of b from which on it is read but once, in the order in which it lies. */
const STREAMED_BYTES = 2 ** 18;

/** A product of matrices of float32. */
export function productKernel(problem: MatmulProblem, constant: ConstantOperand = 'b'): WasmKernel {
  const { m, n, k, b } = problem;
  if (n === 1 && m > 1) return transposedProduct(problem);
  if (m >= PANEL_ROWS) return panelKernel(problem, matrixPanels(problem, constant), constant);
  if (b.row === 1 && b.column !== 1) return dotKernel(problem);
  const isLarge = n * k * FLOAT >= STREAMED_BYTES && n >= WIDE;
  if (!isLarge || b.column !== 1) return rowKernel(problem);
  const kernel = streamKernel(problem);
  const mayBeConstant = constant === 'b' && isOne(problem, b.batch);
  return mayBeConstant ? panelRowsKernel(problem, kernel) : kernel;
}

/** One column is a row of the transposed product, which lies in memory alike. */
function transposedProduct({ m, n, a, b, c, ...problem }: MatmulProblem): WasmKernel {
  const kernel = productKernel({
    ...problem,
    m: n,
    n: m,
    a: { batch: b.batch, row: b.column, column: b.row },
    b: { batch: a.batch, row: a.column, column: a.row },
    c: c && { ...c, row: c.column, column: c.row },
  });
  return swapped(kernel);
}

/** A kernel of the first two operands in the other order. */
export function swapped(kernel: WasmKernel): WasmKernel {
  const { packs = [] } = kernel;
  return {
    ...kernel,
    packs: packs.map(({ operand, ...pack }) => ({
      ...pack,
      operand: operand < 2 ? 1 - operand : operand,
    })),
    body: ({ inputs: [first, second, bias], ...places }) =>
      kernel.body({ ...places, inputs: [second, first, bias] }),
  };
}
