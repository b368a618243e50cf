import { Tensor } from '../../client/values/tensor.ts';
import { hasState } from '../array-state.ts';
import { DataValue } from '../data/data-value.ts';
import type { Operand } from '../operand.ts';
import { mapTree } from '../data/tree.ts';

/** A function of values, as transforms take it: a program, or any other. */
export type AnyFunction = (...args: never[]) => unknown;

/**
 * Returns true for a leaf of a function's arguments. Objects and arrays are trees; an array of
 * numbers, or of such arrays, is one array.
 */
export function isArgumentLeaf(value: unknown): value is unknown {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return isNumbers(value);
  return Object.getPrototypeOf(value) !== Object.prototype;
}

function isNumbers(value: unknown): boolean {
  if (!Array.isArray(value)) return /^(number|bigint|boolean)$/.test(typeof value);
  return value.length > 0 && value.every(isNumbers);
}

/**
 * Returns true for a leaf that becomes an array or data; all others reach the function as they are.
 */
function isValueArgument(value: unknown): value is Operand | DataValue {
  return (
    value instanceof DataValue ||
    value instanceof Tensor ||
    hasState(value) ||
    ArrayBuffer.isView(value) ||
    isNumbers(value)
  );
}

/** The arguments, with other values: `map` gets them with the path, such as `0.layers.1.w`. */
export function mapArguments(
  args: readonly unknown[],
  map: (value: Operand | DataValue, path: string) => unknown,
): unknown[] {
  return args.map((arg, index) =>
    mapTree(
      arg,
      isArgumentLeaf,
      (leaf, path) => (isValueArgument(leaf) ? map(leaf, path) : leaf),
      String(index),
    ),
  );
}
