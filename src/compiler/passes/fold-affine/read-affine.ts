import type { CallExpr } from '../../ir/expr.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import type { Captures } from '../../rewriting/captures.ts';
import { any, calls, commutes, type ExprPattern, filled } from '../../rewriting/expr-pattern.ts';
import { tensorTypeOf } from '../../rewriting/has-types.ts';
import { PatternTable } from '../../rewriting/pattern-table.ts';
import { matchPattern } from '../../rewriting/match-pattern.ts';
import {
  type Affine,
  channelCoefficients,
  type Coefficients,
  combine,
  isFinite,
  vectorCoefficients,
} from './affine.ts';

interface AffineCall {
  /** The name of its row of the table. */
  readonly rule: string;
  readonly affine: Affine;
  /** Elementwise operators that it stands for. */
  readonly operators: number;
  readonly hasShift: boolean;
}

/** A call of x with a constant, and what it does to x. */
interface AffineRule {
  readonly name: string;
  readonly pattern: ExprPattern;
  affine(constant: Coefficients): Affine;
}

const X = any('x');
const C = filled(undefined, 'c');

const AFFINE_CALLS = new PatternTable<AffineRule>([
  {
    name: 'x * c into weights',
    pattern: commutes('mul', [X, C]),
    affine: (scale) => ({ scale, shift: 0 }),
  },
  {
    name: 'x / c into weights',
    pattern: calls('div', [X, C]),
    affine: (divisor) => ({ scale: combine(1, divisor, (one, d) => one / d), shift: 0 }),
  },
  {
    name: 'x + c into weights',
    pattern: commutes('add', [X, C]),
    affine: (shift) => ({ scale: 1, shift }),
  },
  {
    name: 'x - c into weights',
    pattern: calls('sub', [X, C]),
    affine: (constant) => ({ scale: 1, shift: combine(0, constant, (zero, c) => zero - c) }),
  },
  {
    name: 'c - x into weights',
    pattern: calls('sub', [C, X]),
    affine: (shift) => ({ scale: -1, shift }),
  },
]);

/** Batch normalisation of x with constant statistics. */
export const BATCH_NORM = calls('batch_norm', [
  X,
  ...['scale', 'bias', 'mean', 'variance'].map((name) => filled(undefined, name)),
]);

/** The affine function that a call is of its operand `index`, channels of which lie along `axis` if there are any. */
export function readAffine(
  call: CallExpr,
  index: number,
  { axis, types }: { readonly axis: number | undefined; readonly types: TypeInference },
): AffineCall | undefined {
  const source = call.args[index];
  if (source === undefined || call.onDevice !== undefined) return undefined;
  const isOfSource = (captures: Captures): boolean => captures.get('x') === source;
  for (const rule of AFFINE_CALLS.rowsFor(call)) {
    const found = matchPattern(rule.pattern, call, {
      accept: (captures) => {
        const type = isOfSource(captures) ? tensorTypeOf(source, types) : undefined;
        const constant = type && channelCoefficients(captures.tensor('c'), type, axis);
        return constant === undefined ? undefined : finite(rule.name, rule.affine(constant), 1);
      },
    });
    if (found !== undefined) return found;
  }
  if (index !== 0 || axis !== 1) return undefined;
  return matchPattern(BATCH_NORM, call, {
    accept: (captures) => finite('batch_norm into weights', batchNormAffine(captures), 2),
  });
}

function finite(rule: string, affine: Affine, operators: number): AffineCall | undefined {
  if (!isFinite(affine.scale) || !isFinite(affine.shift)) return undefined;
  return { rule, affine, operators, hasShift: affine.shift !== 0 };
}

/**
 * A match of {@link BATCH_NORM} is x * s + t for each channel, with
 * s = scale / sqrt(variance + epsilon) and t = bias - mean * s.
 */
export function batchNormAffine(captures: Captures): Affine {
  const statistic = (name: string): Coefficients => vectorCoefficients(captures.tensor(name));
  const given = captures.root.attributes['epsilon'];
  const epsilon = typeof given === 'number' ? given : 1e-5;
  const deviation = combine(statistic('variance'), epsilon, (v, e) => Math.sqrt(v + e));
  const s = combine(statistic('scale'), deviation, (a, b) => a / b);
  return {
    scale: s,
    shift: combine(
      statistic('bias'),
      combine(statistic('mean'), s, (m, f) => m * f),
      (b, m) => b - m,
    ),
  };
}
