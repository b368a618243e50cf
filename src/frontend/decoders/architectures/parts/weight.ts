import { call, constant } from '../../../../compiler/ir/build.ts';
import type { ConstantExpr, Expr } from '../../../../compiler/ir/expr.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { blockFormat } from '../../files/blocks/block-formats.ts';
import { decodeElements } from '../../files/blocks/decode-elements.ts';
import { requireByteLength } from '../../files/blocks/each-block.ts';
import { repackBlocks } from '../../files/blocks/repack-blocks.ts';
import { floats, mul, number, reshape, sub } from './tensor-calls.ts';

/** A matrix (rows, columns) as constants of a program: what it multiplies has `columns` elements. */
export type Matrix = DenseMatrix | BlockMatrix;

interface MatrixSizes {
  readonly rows: number;
  readonly columns: number;
}

/** A matrix of float32 elements. */
interface DenseMatrix extends MatrixSizes {
  readonly kind: 'dense';
  /** (rows, columns). */
  readonly elements: ConstantExpr;
}

/** Codes of 4 or 8 bits, which stay as small as the file has them. */
interface BlockMatrix extends MatrixSizes {
  readonly kind: 'blocks';
  readonly bits: 4 | 8;
  readonly blockSize: number;
  /** uint8 (rows, blocks, bytes). */
  readonly codes: Expr;
  /** float32 (rows, blocks). */
  readonly scales: Expr;
  /** float32 (rows, blocks); half the range where undefined. */
  readonly zeros: Expr | undefined;
}

export interface StoredMatrix extends MatrixSizes {
  readonly type: string;
  readonly where: string;
}

/** The matrix of stored bytes. Blocks stay codes; all else becomes float32. */
export function readMatrix(bytes: Uint8Array, stored: StoredMatrix): Matrix {
  const { rows, columns, type, where } = stored;
  const format = blockFormat(type);
  const count = rows * columns;
  if (format === undefined) {
    const values = decodeElements(bytes, { type, count, where });
    return denseMatrix(stored, values);
  }
  requireByteLength(bytes, (count / format.elements) * format.bytes, { type, where });
  return blockMatrix(stored, repackBlocks(bytes, format));
}

export function denseMatrix({ rows, columns }: MatrixSizes, values: Float32Array): Matrix {
  return { kind: 'dense', rows, columns, elements: floats([rows, columns], values) };
}

/** A matrix of codes, a scale and perhaps a zero point for each block. */
export function blockMatrix(
  { rows, columns }: MatrixSizes,
  { bits, codes, scales, zeros }: Coded,
): Matrix {
  const blocks = scales.length / rows;
  const blockSize = columns / blocks;
  const shape = [rows, blocks, (blockSize * bits) / 8];
  return {
    kind: 'blocks',
    rows,
    columns,
    bits,
    blockSize,
    codes: constant(new HostTensor('uint8', shape, codes)),
    scales: floats([rows, blocks], scales),
    zeros: zeros && floats([rows, blocks], zeros),
  };
}

interface Coded {
  readonly bits: 4 | 8;
  readonly codes: Uint8Array;
  readonly scales: Float32Array;
  readonly zeros?: Float32Array | undefined;
}

/** x (..., columns) times the transpose of a matrix: (..., rows). */
export function product(x: Expr, matrix: Matrix): Expr {
  if (matrix.kind === 'blocks') return codesProduct(x, matrix);
  const { rows, columns, elements } = matrix;
  const values = elements.value.elements;
  const transposed = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < columns; i++) {
      transposed[i * rows + row] = Number(values[row * columns + i]);
    }
  }
  return call('matmul', [x, floats([columns, rows], transposed)]);
}

/** {@link product} of x (b, m, columns) by a matrix that is also read by rows, and so is not held transposed. */
export function productByRows(x: Expr, matrix: Matrix): Expr {
  if (matrix.kind === 'blocks') return codesProduct(x, matrix);
  const { rows, columns, elements } = matrix;
  const flat = reshape(x, [{ op: 'mul', left: 'b', right: 'm' }, columns]);
  return reshape(call('gemm', [flat, elements], { trans_b: true }), ['b', 'm', rows]);
}

function codesProduct(x: Expr, { bits, blockSize, codes, scales, zeros }: BlockMatrix): Expr {
  const operands = [x, codes, scales, ...(zeros === undefined ? [] : [zeros])];
  return call('matmul_nbits', operands, { bits, block_size: blockSize });
}

/** Rows of a matrix by their numbers, int32 (b, s): (b, s, columns). */
export function embed(indices: Expr, matrix: Matrix): Expr {
  const rowsOf = (table: Expr): Expr => call('gather', [table, indices], { axis: 0 });
  if (matrix.kind === 'dense') return rowsOf(matrix.elements);
  const { bits, blockSize, columns, codes, scales, zeros } = matrix;
  const blocks = columns / blockSize;
  const shape = ['b', 's', blocks, blockSize];
  const unpacked = bits === 8 ? rowsOf(codes) : nibbles(rowsOf(codes), blocks, blockSize);
  const numbers = call('cast', [unpacked], { to: 'float32' });
  const perBlock = (table: Expr): Expr => reshape(rowsOf(table), ['b', 's', blocks, 1]);
  const zero = zeros === undefined ? number(2 ** (bits - 1)) : perBlock(zeros);
  const elements = mul(sub(reshape(numbers, shape), zero), perBlock(scales));
  return reshape(elements, ['b', 's', columns]);
}

/** Codes of 4 bits, two in a byte (b, s, blocks, bytes), in bytes of their own. */
function nibbles(bytes: Expr, blocks: number, blockSize: number): Expr {
  const single = reshape(bytes, ['b', 's', blocks, blockSize / 2, 1]);
  const shifts = constant(HostTensor.from('uint8', [2], [0, 4]));
  const shifted = call('shift_right', [single, shifts]);
  return call('bitwise_and', [shifted, constant(HostTensor.from('uint8', [], [15]))]);
}
