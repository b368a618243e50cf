import type { CallExpr, Expr } from '../../ir/expr.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import {
  type Affine,
  channelCoefficients,
  type Coefficients,
  combine,
  isFinite,
  vectorCoefficients,
} from './affine.ts';

/** A call that is affine in one of its operands. */
export interface AffineCall {
  readonly affine: Affine;
  /** Elementwise operators that it stands for. */
  readonly operators: number;
  readonly hasShift: boolean;
}

type Reader = (constant: Coefficients, isLeft: boolean) => Affine | undefined;

/** By operator: x with a constant, which is the left operand if `isLeft`. */
const READERS: Readonly<Record<string, Reader>> = {
  mul: (scale) => ({ scale, shift: 0 }),
  div: (divisor, isLeft) =>
    isLeft ? undefined : { scale: combine(1, divisor, (one, d) => one / d), shift: 0 },
  add: (shift) => ({ scale: 1, shift }),
  sub: (constant, isLeft) =>
    isLeft
      ? { scale: -1, shift: constant }
      : { scale: 1, shift: combine(0, constant, (zero, c) => zero - c) },
};

/** What a call does to its operand `index`, channels of which lie along `axis` if there are any. */
export function readAffine(
  call: CallExpr,
  index: number,
  { axis, types }: { readonly axis: number | undefined; readonly types: TypeInference },
): AffineCall | undefined {
  const { callee, args, onDevice } = call;
  if (callee.kind !== 'operator' || onDevice !== undefined) return undefined;
  const source = args[index];
  const type = source && types.of(source);
  if (type?.kind !== 'tensor') return undefined;
  if (callee.name === 'batch_norm') {
    return index === 0 && axis === 1 ? finite(batchNormAffine(call), 2) : undefined;
  }
  const read = READERS[callee.name];
  const other: Expr | undefined = args[1 - index];
  if (read === undefined || other?.kind !== 'constant') return undefined;
  const coefficients = channelCoefficients(other.value, type, axis);
  return coefficients === undefined ? undefined : finite(read(coefficients, index === 1), 1);
}

function finite(affine: Affine | undefined, operators: number): AffineCall | undefined {
  if (affine === undefined || !isFinite(affine.scale) || !isFinite(affine.shift)) return undefined;
  return { affine, operators, hasShift: affine.shift !== 0 };
}

/**
 * Batch normalisation with constant statistics is x * s + t for each channel, with
 * s = scale / sqrt(variance + epsilon) and t = bias - mean * s.
 */
export function batchNormAffine({ args, attributes }: CallExpr): Affine | undefined {
  const statistics = args.slice(1).flatMap((arg) => {
    return arg.kind === 'constant' ? [vectorCoefficients(arg.value)] : [];
  });
  const [scale, bias, mean, variance] = statistics;
  if (scale === undefined || bias === undefined) return undefined;
  if (mean === undefined || variance === undefined) return undefined;
  const given = attributes['epsilon'];
  const epsilon = typeof given === 'number' ? given : 1e-5;
  const deviation = combine(variance, epsilon, (v, e) => Math.sqrt(v + e));
  const s = combine(scale, deviation, (a, b) => a / b);
  return {
    scale: s,
    shift: combine(
      bias,
      combine(mean, s, (m, f) => m * f),
      (b, m) => b - m,
    ),
  };
}
