import { applyDimOperator, type Dim } from './dim.ts';
import { countWork } from '../limits/work-meter.ts';

/** The dimension with symbols replaced; those without a replacement stay. */
export function substituteDim(dim: Dim, symbols: ReadonlyMap<string, Dim>): Dim {
  if (typeof dim === 'number') return dim;
  if (typeof dim === 'string') return symbols.get(dim) ?? dim;
  countWork();
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
    countWork();
    forEachSymbol(dim.left, visit);
    forEachSymbol(dim.right, visit);
  }
}

/** Returns true if `'?'` occurs in the dimension. */
export function isUnknownDim(dim: Dim): boolean {
  if (typeof dim !== 'object') return dim === '?';
  return isUnknownDim(dim.left) || isUnknownDim(dim.right);
}

export function sameDim(a: Dim, b: Dim): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  return a.op === b.op && sameDim(a.left, b.left) && sameDim(a.right, b.right);
}
