import { countWork } from '../limits/work-meter.ts';

/**
 * A dimension: an integer, the name of a symbol, `'?'` for one that nothing is known of, or
 * arithmetic over dimensions.
 */
export type Dim = number | string | DimExpression;

/** Arithmetic over two dimensions. */
export interface DimExpression {
  /** The operation on them. */
  readonly op: DimOperator;
  /** The first dimension. */
  readonly left: Dim;
  /** The second dimension. */
  readonly right: Dim;
}

/** Kernels count in 32 bits, so that no dimension is larger. */
export const MAX_DIMENSION = 2 ** 31 - 1;

export const DIM_OPERATORS = ['add', 'sub', 'mul', 'floordiv', 'mod', 'min', 'max'] as const;

/** Integer arithmetic. `floordiv` and `mod` round towards minus infinity. */
export type DimOperator = (typeof DIM_OPERATORS)[number];

/** The exact value of one operation, or undefined for a zero divisor or beyond 2^53. */
export function applyDimOperator(op: DimOperator, left: number, right: number): number | undefined {
  const value = rawValue(op, left, right);
  // A sum with 0 makes -0 a plain 0.
  return Number.isSafeInteger(value) ? value + 0 : undefined;
}

function rawValue(op: DimOperator, left: number, right: number): number {
  switch (op) {
    case 'add':
      return left + right;
    case 'sub':
      return left - right;
    case 'mul':
      return left * right;
    case 'floordiv':
      // The quotient of doubles would round where the operands are large.
      return (left - floorMod(left, right)) / right;
    case 'mod':
      return floorMod(left, right);
    case 'min':
      return Math.min(left, right);
    case 'max':
      return Math.max(left, right);
    default:
      return op satisfies never;
  }
}

/** The sign of the remainder is the divisor's; no quotient that could be rounded is multiplied. */
export function floorMod(left: number, right: number): number {
  const rest = left % right;
  return rest !== 0 && rest < 0 !== right < 0 ? rest + right : rest;
}

/** The value of a dimension under a binding of its symbols; undefined when one is missing. */
export function evaluateDim(dim: Dim, symbols: ReadonlyMap<string, number>): number | undefined {
  if (typeof dim === 'number') return dim;
  if (typeof dim === 'string') return symbols.get(dim);
  const left = evaluateDim(dim.left, symbols);
  const right = evaluateDim(dim.right, symbols);
  if (left === undefined || right === undefined) return undefined;
  return applyDimOperator(dim.op, left, right);
}

/** Operators that stand between their operands; the others are written as calls. */
export const DIM_SIGNS: Readonly<Partial<Record<DimOperator, string>>> = {
  add: '+',
  sub: '-',
  mul: '*',
  floordiv: '//',
  mod: '%',
};

/** `n`, `(n + 1)`, `max(n, 2)`. */
export function formatDim(dim: Dim): string {
  if (typeof dim !== 'object') return String(dim);
  countWork();
  const left = formatDim(dim.left);
  const right = formatDim(dim.right);
  const sign = DIM_SIGNS[dim.op];
  return sign === undefined ? `${dim.op}(${left}, ${right})` : `(${left} ${sign} ${right})`;
}

/** The shape as numbers when every dimension is one, else undefined. */
export function concreteShape(shape: readonly Dim[]): number[] | undefined {
  const dims: number[] = [];
  for (const dim of shape) {
    if (typeof dim !== 'number') return undefined;
    dims.push(dim);
  }
  return dims;
}
