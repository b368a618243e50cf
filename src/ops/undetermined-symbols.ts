import { forEachSymbol } from '../core/dims/dim-symbols.ts';
import { DimValues } from '../core/dims/dim-values.ts';
import type { Dim } from '../core/dims/dim.ts';
import type { OperatorCall, TensorType } from '../core/contracts/primitive-function.ts';
import type { Operators } from './operators.ts';

/** Symbols in attributes of calls that the sizes of tensors of these types do not tell. */
export function undeterminedSymbols(
  calls: readonly Pick<OperatorCall, 'op' | 'attributes'>[],
  types: readonly TensorType[],
  operators: Operators,
): readonly string[] {
  const dims = calls.flatMap((call) => symbolicDims(call, operators));
  if (dims.length === 0) return [];
  const values = new DimValues();
  // Any sizes will do: whether a symbol follows from them does not depend on them.
  for (const { shape } of types) values.learn(shape, new Array<number>(shape.length).fill(1));
  const missing = new Set<string>();
  for (const dim of dims) {
    if (values.of(dim) !== undefined) continue;
    forEachSymbol(dim, (symbol) => {
      if (values.of(symbol) === undefined) missing.add(symbol);
    });
  }
  return [...missing];
}

function symbolicDims(
  { op, attributes }: Pick<OperatorCall, 'op' | 'attributes'>,
  operators: Operators,
): Dim[] {
  const specs = operators.require(op).attributes;
  return Object.entries(attributes).flatMap(([name, value]) =>
    specs[name]?.type === 'dims' && typeof value === 'object'
      ? value.filter((item: Dim) => typeof item !== 'number')
      : [],
  );
}
