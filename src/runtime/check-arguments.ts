import type { BytecodeFunction } from '../bytecode/executable.ts';
import { fits } from './kernel-arguments.ts';
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
  const types = signature?.params ?? [];
  const checked = args.map((arg, i) =>
    types[i]?.kind === 'float' && typeof arg === 'number' ? new FloatValue(arg) : arg,
  );
  const symbols = new Map<string, number>();
  const areFit = (): boolean =>
    types.every((type, i) => {
      const value = checked[i] ?? null;
      if (type.kind === 'tensor') return value instanceof TensorValue && fits(value, type, symbols);
      if (type.kind === 'float') return value instanceof FloatValue;
      return type.kind === 'any' || typeof value === 'number';
    });
  // Expressions are checked by the second look, when all symbols are known.
  return areFit() && areFit() ? checked : undefined;
}
