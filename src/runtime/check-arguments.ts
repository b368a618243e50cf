import type { BytecodeFunction, ValueType } from '../bytecode/executable.ts';
import { type Dim, evaluateDim } from '../core/dim.ts';
import { FloatValue, TensorValue, type Value } from './value.ts';

/**
 * Arguments from outside for a function, ints turned to floats where its signature says so; undefined
 * where number, kinds, dtypes, ranks or dimensions do not fit, or a symbol has two meanings:
 * `explainArguments` says which. A function without a signature takes anything.
 */
export function checkArguments(
  { paramNames, signature }: BytecodeFunction,
  args: readonly Value[],
): Value[] | undefined {
  if (args.length !== paramNames.length) return undefined;
  const checked: Value[] = [];
  const sizes: [Dim, number][] = [];
  for (const [index, given] of args.entries()) {
    const type = signature?.params[index] ?? ANY;
    const isFloat = type.kind === 'float' && typeof given === 'number';
    const value = isFloat ? new FloatValue(given) : given;
    if (!hasKind(value, type)) return undefined;
    checked.push(value);
    if (type.kind !== 'tensor' || !(value instanceof TensorValue)) continue;
    for (const [axis, dim] of type.shape.entries()) sizes.push([dim, value.shape[axis] ?? 0]);
  }
  const symbols = new Map<string, number>();
  for (const [dim, size] of sizes) {
    if (typeof dim === 'string' && dim !== '?' && !symbols.has(dim)) symbols.set(dim, size);
  }
  // Of an expression whose symbols no argument has nothing is known.
  const fits = sizes.every(([dim, size]) => (evaluateDim(dim, symbols) ?? size) === size);
  return fits ? checked : undefined;
}

const ANY: ValueType = { kind: 'any' };

function hasKind(value: Value, type: ValueType): boolean {
  switch (type.kind) {
    case 'any':
      return true;
    case 'int':
      return typeof value === 'number';
    case 'float':
      return value instanceof FloatValue;
    default:
      return (
        value instanceof TensorValue &&
        value.dtype === type.dtype &&
        value.shape.length === type.shape.length
      );
  }
}
