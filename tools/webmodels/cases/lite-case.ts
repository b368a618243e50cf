import type { DType } from '../../../src/core/tensor/dtype.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import type { Shape } from '../../../src/core/tensor/shape.ts';
import {
  between,
  Draw,
  type Elements,
  integersBetween,
  reals,
} from '../../differential/compare-onnx/draw.ts';

/**
 * What the elements of a case are: numbers of a dtype, where int8, uint8 and int16 stand for reals; or reals by weights that are stored
 * in another form, `hybrid` in int8, `half` in float16.
 */
export type Kind =
  | 'float32'
  | 'int8'
  | 'uint8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'bool'
  | 'hybrid'
  | 'half';

/** The reals that codes stand for: scale * (code - zero), one for all or one for each place of an axis. */
export interface Quantization {
  readonly scale: readonly number[];
  readonly zero: readonly number[];
  readonly axis: number;
}

export interface LiteSpec {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly quantization?: Quantization | undefined;
}

export interface LiteOperand extends LiteSpec {
  readonly data: HostTensor;
  /** True if the model holds it, else it is an input. */
  readonly isConstant: boolean;
  /** True if it may be any result of its type, as in a graph. */
  readonly isFree: boolean;
}

export type LiteOptions = Readonly<Record<string, number | boolean | readonly number[]>>;

/** An operator with operands, drawn at random. */
export interface LiteCase {
  readonly op: string;
  /** Its table of options by the name that the reader has for it, and its fields. */
  readonly options?: readonly [table: string, fields: LiteOptions];
  readonly inputs: readonly (LiteOperand | undefined)[];
  readonly outputs: readonly LiteSpec[];
  /** The least that kernels have; 1 otherwise. */
  readonly version?: number;
  /** For operators whose arithmetic is coarse; 1e-5 otherwise. */
  readonly atol?: number;
  readonly rtol?: number;
}

/** How cases of an operator are drawn, and for which elements. */
export interface LiteCases {
  readonly kinds: readonly Kind[];
  readonly draw: (draw: LiteDraw, kind: Kind) => Omit<LiteCase, 'op'>;
}

export type LiteCaseTable = Readonly<Record<string, LiteCases>>;

/** Codes by dtype: the least, the largest, and whether zero stands in the middle. */
const CODES = {
  int8: { low: -128, high: 127 },
  uint8: { low: 0, high: 255 },
  int16: { low: -32767, high: 32767 },
} as const;

export type CodeType = keyof typeof CODES;

export const isCode = (kind: string): kind is CodeType => kind in CODES;

/** Codes for reals from low to high; those of int16 have zero in the middle. */
export function quantizationOf(dtype: CodeType, low: number, high: number): Quantization {
  const codes = CODES[dtype];
  if (dtype === 'int16') {
    return { scale: [Math.fround(Math.max(-low, high) / codes.high)], zero: [0], axis: 0 };
  }
  const scale = Math.fround((high - low) / (codes.high - codes.low));
  return { scale: [scale], zero: [Math.round(codes.low - low / scale)], axis: 0 };
}

/** A seeded source of operands. */
export class LiteDraw extends Draw {
  /** The shape of a tensor with elements. */
  dims(from = 1, to = 4): number[] {
    return this.shape({ from, to, zero: 0 });
  }

  /** An operand with elements of a kind; codes stand for reals from -3 to 3, or in the given codes. */
  operand(
    kind: Kind,
    shape: Shape,
    options: { readonly elements?: Elements; readonly quantization?: Quantization } = {},
  ): LiteOperand {
    if (isCode(kind)) {
      const { low, high } = CODES[kind];
      const data = this.tensor(kind, shape, integersBetween(low, high));
      const { quantization = this.codes(kind) } = options;
      return { dtype: kind, shape, data, quantization, isConstant: false, isFree: true };
    }
    const dtype = kind === 'hybrid' || kind === 'half' ? 'float32' : kind;
    const { elements } = options;
    const isFree = elements === undefined || elements === reals;
    return { dtype, shape, data: this.tensor(dtype, shape, elements), isConstant: false, isFree };
  }

  /** The shape (N, H, W, C) of an operand that has to be like one that is there, as in a graph. */
  image(): readonly number[] | undefined {
    return undefined;
  }

  /** Codes of reals around zero. */
  codes(dtype: CodeType, scale = 1): Quantization {
    return quantizationOf(dtype, scale * this.real(-4, -1), scale * this.real(1, 4));
  }

  /** A result of a kind; codes stand for some of what a sum of `terms` products may be. */
  result(kind: Kind, shape: Shape, terms = 1): LiteSpec {
    if (isCode(kind))
      return { dtype: kind, shape, quantization: this.codes(kind, Math.sqrt(terms)) };
    return { dtype: kind === 'hybrid' || kind === 'half' ? 'float32' : kind, shape };
  }

  /** The code of a fused activation that LiteRT.js has everywhere: none, RELU, RELU_N1_TO_1, RELU6. */
  activation(): number {
    return this.pick([0, 0, 1, 2, 3]);
  }
}

/** The same operand, held by the model. */
export const held = (operand: LiteOperand): LiteOperand => ({
  ...operand,
  isConstant: true,
  isFree: false,
});

/** Integers that the model holds: axes, sizes, paddings. */
export function i32(values: readonly number[], shape: Shape = [values.length]): LiteOperand {
  const data = HostTensor.from('int32', shape, values);
  return { dtype: 'int32', shape, data, isConstant: true, isFree: false };
}

export const i32scalar = (value: number): LiteOperand => i32([value], []);

/** A spec like an operand's, in another shape: with its codes, as operators give that move elements. */
export const like = ({ dtype, quantization }: LiteSpec, shape: Shape): LiteSpec => ({
  dtype,
  shape,
  quantization,
});

export const NUMBERS: readonly Kind[] = ['float32', 'int32', 'int64'];
export const CODE_KINDS: readonly Kind[] = ['int8', 'uint8', 'int16'];
export const MOVED: readonly Kind[] = ['float32', 'int32', 'int8', 'uint8', 'int64', 'bool'];

/** An operator that moves elements of any type. */
export const moves = (
  draw: (draw: LiteDraw, kind: Kind) => Omit<LiteCase, 'op'>,
  kinds: readonly Kind[] = MOVED,
): LiteCases => ({ kinds, draw });

export { between, integersBetween, reals, type Elements };
