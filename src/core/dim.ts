/**
 * A dimension: an integer, the name of a symbol, `'?'` for one that nothing is known of, or
 * arithmetic over dimensions.
 */
export type Dim = number | string | DimExpression;

export interface DimExpression {
  readonly op: DimOperator;
  readonly left: Dim;
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

function floorMod(left: number, right: number): number {
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

const INFIX: Partial<Record<DimOperator, string>> = {
  add: '+',
  sub: '-',
  mul: '*',
  floordiv: '//',
  mod: '%',
};

/** `n`, `(n + 1)`, `max(n, 2)`. */
export function formatDim(dim: Dim): string {
  if (typeof dim !== 'object') return String(dim);
  const left = formatDim(dim.left);
  const right = formatDim(dim.right);
  const sign = INFIX[dim.op];
  return sign === undefined ? `${dim.op}(${left}, ${right})` : `(${left} ${sign} ${right})`;
}

/** The dimension with symbols replaced; those without a replacement stay. */
export function substituteDim(dim: Dim, symbols: ReadonlyMap<string, Dim>): Dim {
  if (typeof dim === 'number') return dim;
  if (typeof dim === 'string') return symbols.get(dim) ?? dim;
  const left = substituteDim(dim.left, symbols);
  const right = substituteDim(dim.right, symbols);
  if (left === dim.left && right === dim.right) return dim;
  const value =
    typeof left === 'number' && typeof right === 'number'
      ? applyDimOperator(dim.op, left, right)
      : undefined;
  return value ?? { op: dim.op, left, right };
}

/** Calls `visit` for each symbol, from left to right, a repeated one again; `'?'` is none. */
export function forEachSymbol(dim: Dim, visit: (symbol: string) => void): void {
  if (typeof dim === 'string') {
    if (dim !== '?') visit(dim);
  } else if (typeof dim === 'object') {
    forEachSymbol(dim.left, visit);
    forEachSymbol(dim.right, visit);
  }
}

/** Whether `'?'` stands somewhere in the dimension. */
export function isUnknownDim(dim: Dim): boolean {
  if (typeof dim !== 'object') return dim === '?';
  return isUnknownDim(dim.left) || isUnknownDim(dim.right);
}

export function sameDim(a: Dim, b: Dim): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  return a.op === b.op && sameDim(a.left, b.left) && sameDim(a.right, b.right);
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
