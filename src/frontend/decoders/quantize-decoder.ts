import { call, constant, func } from '../../compiler/ir/build.ts';
import type { Expr, Module } from '../../compiler/ir/expr.ts';
import { rewriteBodies } from '../../compiler/ir/walk/visit.ts';
import { decodeFloat16 } from '../../core/tensor/float16-arrays.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Decoder } from './generation-module.ts';
import { BLOCK_SIZE, type CodedRows, type WeightQuantizer } from './weight-quantizer.ts';

/** Codes of a matrix (columns, rows), and the dtype that its products had. */
interface CodedMatrix {
  readonly dtype: 'float32' | 'float16';
  readonly codes: Expr;
  readonly scales: Expr;
  readonly bits: number;
}

/**
 * A decoder whose products by constant matrices (`matmul`, also by a transposed constant) read codes in their place. They
 * compute in float32.
 */
export function quantizeDecoder(decoder: Decoder, quantizer: WeightQuantizer): Decoder {
  const known = new Map<HostTensor, CodedMatrix | undefined>();
  const { vocabulary } = decoder;
  const coded = (tensor: HostTensor, isTransposed: boolean): CodedMatrix | undefined => {
    if (!known.has(tensor)) {
      const name = `matrix ${known.size} (${tensor.shape.join(', ')})`;
      known.set(tensor, codeMatrix(tensor, { isTransposed, name, quantizer, vocabulary }));
    }
    return known.get(tensor);
  };
  const module = rewriteBodies(decoder.module, (expr) => {
    if (expr.kind !== 'call' || !isOperator(expr.callee, 'matmul')) return expr;
    const [x, weights] = expr.args;
    if (x === undefined || weights === undefined) return expr;
    const isTransposed = weights.kind === 'call' && isOperator(weights.callee, 'transpose');
    const operand = isTransposed ? weights.args[0] : weights;
    if (operand?.kind !== 'constant' || operand.value.shape.length !== 2) return expr;
    const matrix = coded(operand.value, isTransposed);
    return matrix === undefined ? expr : productOf(x, matrix);
  });
  return { ...decoder, module };
}

const isOperator = (callee: Expr, name: string): boolean =>
  callee.kind === 'operator' && callee.name === name;

function productOf(x: Expr, { dtype, codes, scales, bits }: CodedMatrix): Expr {
  const attributes = { bits, block_size: BLOCK_SIZE };
  if (dtype === 'float32') return call('matmul_nbits', [x, codes, scales], attributes);
  const wide = call('cast', [x], { to: 'float32' });
  return call('cast', [call('matmul_nbits', [wide, codes, scales], attributes)], { to: dtype });
}

interface CodeOptions {
  /** True if rows of the matrix are columns of the product, and its columns the depth. */
  readonly isTransposed: boolean;
  readonly name: string;
  readonly quantizer: WeightQuantizer;
  readonly vocabulary: number;
}

function codeMatrix(
  tensor: HostTensor,
  { isTransposed, name, quantizer, vocabulary }: CodeOptions,
): CodedMatrix | undefined {
  const { dtype, data, shape } = tensor;
  if (dtype !== 'float32' && dtype !== 'float16') return undefined;
  const [first = 0, second = 0] = shape;
  const [rows, columns] = isTransposed ? [first, second] : [second, first];
  const values = dtype === 'float16' ? decodeFloat16(data as Uint16Array) : (data as Float32Array);
  const byRows = isTransposed ? values : transposed(values, columns, rows);
  const options = { columns, isVocabulary: rows === vocabulary };
  const coded = quantizer.quantize(name, byRows, options);
  return coded && { dtype, bits: coded.bits, ...constantsOf(coded, { rows, columns }) };
}

/** Codes and scales as operands of `matmul_nbits`. */
function constantsOf(
  { bits, codes, scales }: CodedRows,
  { rows, columns }: { readonly rows: number; readonly columns: number },
): { readonly codes: Expr; readonly scales: Expr } {
  const blocks = columns / BLOCK_SIZE;
  const shape = [rows, blocks, (BLOCK_SIZE * bits) / 8];
  return {
    codes: constant(new HostTensor('uint8', shape, codes)),
    scales: constant(new HostTensor('float32', [rows, blocks], scales)),
  };
}

/** (columns, rows) as (rows, columns). */
function transposed(values: Float32Array, columns: number, rows: number): Float32Array {
  const result = new Float32Array(values.length);
  for (let i = 0; i < columns; i++) {
    for (let row = 0; row < rows; row++) result[row * columns + i] = values[i * rows + row] ?? 0;
  }
  return result;
}

/**
 * The program with a function `quantization` that gives what rounding did, as float32 (2,): the error of all weights and that
 * of the matrix where it is largest.
 */
export function withReport(module: Module, { report }: WeightQuantizer): Module {
  const errors = HostTensor.from('float32', [2], [report.error, report.worst.error]);
  const told = func([], constant(errors), { resultNames: ['errors'] });
  return { ...module, functions: new Map([...module.functions, ['quantization', told]]) };
}
