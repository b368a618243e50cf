import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { type DType, dtypeInfo } from '../../../../core/tensor/dtype.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { normalizeAxis } from '../../../../core/tensor/shape.ts';
import type { ImportNode } from '../../import-node.ts';
import { dtypeFromOnnx } from '../../protobuf/read-tensor.ts';
import { cast, number } from '../elementwise/elementwise.ts';
import { sliceAlong } from '../movement/slice-along.ts';

/** How integers stand for numbers. */
export interface Quantization {
  readonly scale: Expr;
  /** The zero point; absent: zero. */
  readonly zero: Expr | undefined;
}

interface Blocks {
  readonly axis: number;
  /** Elements along the axis that share a scale; 0 where each has its own. */
  readonly size: number;
}

/** Scales or zero points of a tensor in a shape that broadcasts to its shape. */
export function spread(
  node: ImportNode,
  param: Expr,
  { like, axis, size }: Blocks & { readonly like: Expr },
): Expr {
  const shape = node.shape(param);
  const target = node.shape(like);
  if (size > 0) return repeatBlocks(node, param, { axis, size, length: target[axis] ?? 1 });
  if (shape.length !== 1) return param;
  if (shape[0] === 1) return node.reshape(param, []);
  if (target.length === 0) {
    throw node.malformed('a scale or zero point for each element of a scalar', 'one of each');
  }
  return node.reshape(param, [...shape, ...new Array<number>(target.length - axis - 1).fill(1)]);
}

/** Each element `size` times along an axis, `length` in all. */
function repeatBlocks(
  node: ImportNode,
  param: Expr,
  { axis, size, length }: Blocks & { readonly length: Dim },
): Expr {
  const shape = node.shape(param);
  const [lead, count, rest] = [shape.slice(0, axis), shape[axis] ?? 1, shape.slice(axis + 1)];
  const single = node.reshape(param, [...lead, count, 1, ...rest]);
  const wide = node.call('broadcast_to', [single], { shape: [...lead, count, size, ...rest] });
  const whole = node.dims.mul(count, size);
  const flat = node.reshape(wide, [...lead, whole, ...rest]);
  if (whole === length) return flat;
  return sliceAlong(node, flat, { axis, start: 0, end: length });
}

/** The blocks that attributes describe, for scales of a rank. */
function blocksOf(node: ImportNode, x: Expr): Blocks {
  const rank = node.shape(x).length;
  const size = node.attributes.int('block_size', 0);
  const axis = node.attributes.int('axis', 1);
  // The axis means nothing where there is one scale for all.
  const isUsed = node.shape(node.input(1)).length > 0 && rank > 0;
  const inRange = axis >= -rank && axis < rank;
  if (!isUsed || (!inRange && size === 0)) return { axis: 0, size };
  return { axis: normalizeAxis(axis, rank, node.where), size };
}

/** Scales that no kernel multiplies by, powers of two or integers, as float32. */
function floatScale(node: ImportNode, scale: Expr): Expr {
  const { dtype } = node.type(scale);
  return /^b?float(16|32)$/.test(dtype) ? scale : cast(node, scale, 'float32');
}

function isInteger(dtype: DType): boolean {
  return dtypeInfo(dtype).category !== 'float';
}

/** The zero point, zero where it is left out. */
export function zeroPoint(node: ImportNode, zero: Expr | undefined, dtype: DType): Expr {
  return zero ?? node.scalar(0, dtype);
}

/** Floats as integers with parameters that broadcast. */
export function toIntegers(
  node: ImportNode,
  x: Expr,
  { scale, zero, dtype }: Quantization & { readonly dtype: DType },
): Expr {
  return node.call('quantize', [x, scale, zeroPoint(node, zero, dtype)]);
}

/** Integers as floats with parameters that broadcast. */
export function toFloats(node: ImportNode, x: Expr, { scale, zero }: Quantization): Expr {
  return node.call('dequantize', [x, scale, zeroPoint(node, zero, node.type(x).dtype)]);
}

/** The dtype of an attribute that holds an element type, undefined for none. */
function dtypeAttribute(node: ImportNode, name: string): DType | undefined {
  const code = node.attributes.int(name, 0);
  return code === 0 ? undefined : dtypeFromOnnx(code, node.where);
}

function importQuantizeLinear(node: ImportNode): Expr {
  const x = node.input(0);
  const given = node.inputs[2];
  const declared = dtypeAttribute(node, 'output_dtype');
  const precision = dtypeAttribute(node, 'precision') ?? 'float32';
  const saturate = node.attributes.bool('saturate', true);
  const dtype = given === undefined ? (declared ?? 'uint8') : node.type(given).dtype;
  if (declared !== undefined && declared !== dtype) {
    throw node.malformed(`output_dtype ${declared}`, `that of the zero point, ${dtype}`);
  }
  const blocks = { ...blocksOf(node, x), like: x };
  const scale = spread(node, floatScale(node, node.input(1)), blocks);
  if (!isInteger(dtype)) {
    const quotient = divide(node, x, scale);
    return node.call(
      'cast',
      [quotient],
      dtype.startsWith('float8') ? { to: dtype, saturate } : { to: dtype },
    );
  }
  const zero = given === undefined ? undefined : spread(node, given, blocks);
  if (precision === 'float32') return toIntegers(node, x, { scale, zero, dtype });
  // The quotient is rounded to the precision before it is rounded to an integer.
  const quotient = cast(node, cast(node, divide(node, x, scale), precision), 'float32');
  return toIntegers(node, quotient, { scale: node.scalar(1), zero, dtype });
}

function divide(node: ImportNode, x: Expr, scale: Expr): Expr {
  return node.call('div', [cast(node, x, 'float32'), cast(node, scale, 'float32')]);
}

/** Constants of integers that WebGPU has no type for, as bytes. */
function wholeBytes(node: ImportNode, expr: Expr): Expr {
  const { dtype } = node.type(expr);
  if (expr.kind !== 'constant' || !/int[24]$/.test(dtype)) return expr;
  const { shape, data } = expr.value;
  const numbers = Array.from<number | bigint, number>(data, Number);
  return node.constant(HostTensor.from(dtype.startsWith('u') ? 'uint8' : 'int8', shape, numbers));
}

function importDequantizeLinear(node: ImportNode): Expr {
  const stored = node.input(0);
  const isByte = stored.kind === 'constant' && (node.inputs[2]?.kind ?? 'constant') === 'constant';
  const whole = (expr: Expr): Expr => (isByte ? wholeBytes(node, expr) : expr);
  const x = whole(stored);
  const { dtype } = node.type(x);
  const output = dtypeAttribute(node, 'output_dtype') ?? node.type(node.input(1)).dtype;
  const blocks = { ...blocksOf(node, x), like: x };
  const scale = spread(node, floatScale(node, node.input(1)), blocks);
  const given = node.inputs[2];
  if (!isInteger(dtype)) {
    // Zero points of floats are zero.
    const product = [cast(node, x, 'float32'), cast(node, scale, 'float32')];
    return cast(node, node.call('mul', product), output);
  }
  const zero = given === undefined ? undefined : spread(node, whole(given), blocks);
  return cast(node, toFloats(node, x, { scale, zero }), output);
}

/** uint8 with the scale and zero point that cover the elements and zero. */
export function quantizeDynamically(node: ImportNode, x: Expr): Quantization & { y: Expr } {
  const axes = node.shape(x).map((_, axis) => axis);
  const zero = number(node, x, 0);
  const extreme = (reduce: string, limit: string): Expr =>
    node.call(limit, [node.call(reduce, [x], { axes, keepdims: false }), zero]);
  const low = extreme('reduce_min', 'minimum');
  const high = extreme('reduce_max', 'maximum');
  const range = node.call('sub', [high, low]);
  const whole = node.call('div', [range, number(node, x, 255)]);
  // Where all elements are zero any scale does.
  const isFlat = node.call('equal', [range, zero]);
  const scale = node.call('where', [isFlat, number(node, x, 1), whole]);
  const none = node.scalar(0, 'uint8');
  const zeroPoint = node.call('quantize', [node.call('neg', [low]), scale, none]);
  return { y: node.call('quantize', [x, scale, zeroPoint]), scale, zero: zeroPoint };
}

function importDynamicQuantizeLinear(node: ImportNode): readonly Expr[] {
  const { y, scale, zero } = quantizeDynamically(node, node.input(0));
  return [y, scale, zeroPoint(node, zero, 'uint8')];
}

export const QUANTIZATION_IMPORTERS: OperatorImporters = {
  DequantizeLinear: since(10, 'dequantize reshape broadcast_to cast mul', importDequantizeLinear),
  DynamicQuantizeLinear: since(
    11,
    'quantize reduce_max maximum reduce_min minimum sub equal div where neg',
    importDynamicQuantizeLinear,
  ),
  QuantizeLinear: since(10, 'quantize reshape broadcast_to div cast', importQuantizeLinear),
};
