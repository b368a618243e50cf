import { internalError } from '../../../core/errors.ts';
import type { DType } from '../../../core/tensor/dtype.ts';
import type { LaunchBuffer } from '../../../core/contracts/launch-plan.ts';
import { elementTypeOf, vectorType } from './element-type.ts';
import { FLOAT16_BITS } from '../../../ops/formula/wgsl/float16-bits.ts';
import type { ShaderBuilder } from './shader-builder.ts';

/** The elements that a kernel reads from a buffer or writes to it. */
interface Access {
  readonly buffer: LaunchBuffer;
  readonly dtype: DType;
  readonly width: 1 | 4;
  /** A u32 expression: the element for width 1, the group of four elements for width 4. */
  readonly index: string;
}

/** The dtypes whose elements share words, with their bits. */
const PACKED_BITS: Partial<Record<DType, 8 | 16>> = {
  float16: 16,
  int8: 8,
  uint8: 8,
  int16: 16,
  uint16: 16,
};

/** An expression of the dtype's WGSL type for what is stored; `read_write` where the kernel writes there too. */
export function readElement(
  shader: ShaderBuilder,
  access: Access,
  mode: 'read' | 'read_write' = 'read',
): string {
  const { dtype, width, index } = access;
  const name = shader.bind(access.buffer, storedType(shader, access, mode), mode);
  const element = `${name}[${index}]`;
  const bits = PACKED_BITS[dtype];
  if (dtype === 'bool') return `(${element} != ${width === 1 ? '0u' : 'vec4<u32>()'})`;
  if (bits === undefined) return element;
  // Where four elements are written too, they are bound as their bits.
  const isBits = width === 4 && mode === 'read_write';
  if (isNative(shader, dtype) && !isBits) return `${vectorType('f32', width)}(${element})`;
  if (width === 4) return unpackFour(dtype, element);
  const lanes = 32 / bits;
  const place = `${name}[(${index}) / ${lanes}u]`;
  const word = mode === 'read' ? place : `atomicLoad(&${place})`;
  const shift = `(${index}) % ${lanes}u * ${bits}u`;
  if (dtype === 'float16') return `unpack2x16float(${word} >> (${shift})).x`;
  const typed = isSigned(dtype) ? `bitcast<i32>(${word})` : word;
  return `extractBits(${typed}, ${shift}, ${bits}u)`;
}

/** A statement that stores a value of the dtype's WGSL type. */
export function writeElement(shader: ShaderBuilder, access: Access, value: string): string {
  const { dtype, width, index } = access;
  const name = shader.bind(access.buffer, storedType(shader, access, 'read_write'), 'read_write');
  const bits = PACKED_BITS[dtype];
  if (dtype === 'bool') {
    const [zero, one] = width === 1 ? ['0u', '1u'] : ['vec4<u32>(0u)', 'vec4<u32>(1u)'];
    return `${name}[${index}] = select(${zero}, ${one}, ${value});`;
  }
  if (bits === undefined) return `${name}[${index}] = ${value};`;
  const element = elementBits(shader, { dtype, width, value });
  if (width === 4) {
    return `${name}[${index}] = ${packFour(shader, bits, element)};`;
  }
  // Naga makes no f16 of bits. They are those of a binary16, so that the conversion rounds nothing.
  if (isNative(shader, dtype)) return `${name}[${index}] = f16(unpack2x16float(${element}).x);`;
  shader.declare(`set_${name}`, setPart(name, bits));
  return `set_${name}(${index}, ${element});`;
}

function isNative(shader: ShaderBuilder, dtype: DType): boolean {
  return dtype === 'float16' && shader.hasFloat16;
}

function isSigned(dtype: DType): boolean {
  return dtype === 'int8' || dtype === 'int16';
}

function storedType(
  shader: ShaderBuilder,
  { dtype, width }: Access,
  access: 'read' | 'read_write',
): string {
  // Four elements are written as their bits, with and without the extension.
  if (isNative(shader, dtype) && (width === 1 || access === 'read')) {
    shader.enable('f16');
    return width === 1 ? 'f16' : 'vec4<f16>';
  }
  const bits = PACKED_BITS[dtype];
  if (bits !== undefined && width === 4) return bits === 16 ? 'vec2<u32>' : 'u32';
  if (bits !== undefined) return access === 'read' ? 'u32' : 'atomic<u32>';
  const type = elementTypeOf(dtype);
  if (type === undefined) throw internalError(`${dtype} in storage`);
  return vectorType(type === 'bool' ? 'u32' : type, width);
}

/** Four elements of the word, or of the vec2 of words, that an expression gives. */
function unpackFour(dtype: DType, words: string): string {
  switch (dtype) {
    case 'float16':
      return `vec4<f32>(unpack2x16float(${words}.x), unpack2x16float(${words}.y))`;
    case 'int8':
      return `((vec4<i32>(bitcast<i32>(${words})) << vec4<u32>(24u, 16u, 8u, 0u)) >> vec4<u32>(24u))`;
    case 'uint8':
      return `((vec4<u32>(${words}) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u))`;
    case 'int16':
      return `((bitcast<vec4<i32>>(${words}.xxyy) << vec4<u32>(16u, 0u, 16u, 0u)) >> vec4<u32>(16u))`;
    default:
      return `((${words}.xxyy >> vec4<u32>(0u, 16u, 0u, 16u)) & vec4<u32>(65535u))`;
  }
}

interface StoredValue {
  readonly dtype: DType;
  readonly width: 1 | 4;
  readonly value: string;
}

/** The bits of values as u32, of which those beyond the dtype's size are 0 only for float16. */
function elementBits(shader: ShaderBuilder, { dtype, width, value }: StoredValue): string {
  if (dtype === 'float16') {
    shader.declare(`half_bits${width}`, FLOAT16_BITS[width]);
    return `half_bits${width}(${value})`;
  }
  return isSigned(dtype) ? `bitcast<${vectorType('u32', width)}>(${value})` : value;
}

/** An expression of the word, or vec2 of words, of four elements as u32. */
export function packFour(shader: ShaderBuilder, bits: 8 | 16, elements: string): string {
  const name = `pack${bits}`;
  shader.declare(name, PACK[bits]);
  return `${name}(${elements})`;
}

const PACK = {
  8: `fn pack8(x: vec4<u32>) -> u32 {
  let bytes = (x & vec4<u32>(255u)) << vec4<u32>(0u, 8u, 16u, 24u);
  return bytes.x | bytes.y | bytes.z | bytes.w;
}`,
  16: `fn pack16(x: vec4<u32>) -> vec2<u32> {
  return (x.xz & vec2<u32>(65535u)) | (x.yw << vec2<u32>(16u));
}`,
} as const;

/**
 * Sets one element of a word whose others belong to other invocations: what each of them clears and
 * sets are its own bits only, in whatever order.
 */
function setPart(buffer: string, bits: 8 | 16): string {
  const lanes = 32 / bits;
  const mask = `${2 ** bits - 1}u`;
  return `fn set_${buffer}(i: u32, bits: u32) {
  let shift = i % ${lanes}u * ${bits}u;
  atomicAnd(&${buffer}[i / ${lanes}u], ~(${mask} << shift));
  atomicOr(&${buffer}[i / ${lanes}u], (bits & ${mask}) << shift);
}`;
}
