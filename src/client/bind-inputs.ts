import { elementCount, type Shape } from '../core/shape.ts';
import type { FunctionInfo, ValueInfo } from '../worker/protocol.ts';
import type { BoundValue, PlainInputs } from './input-value.ts';
import { Tensor } from './tensor.ts';

/** Sizes of named dimensions, with the input that fixed each. */
export type DimSizes = Map<string, { readonly size: number; readonly origin: string }>;

/**
 * Values in the order of the parameters; undefined when names or types are wrong, which
 * `explainInputs` puts into words.
 */
export function bindInputs(info: FunctionInfo, inputs: PlainInputs): BoundValue[] | undefined {
  const sizes: DimSizes = new Map();
  const values: BoundValue[] = [];
  for (const param of info.params) {
    const value = inputs[param.name];
    if (value === undefined || !valueFits(param, value, sizes)) return undefined;
    values.push(value);
  }
  return Object.keys(inputs).length === values.length ? values : undefined;
}

/** Whether a value has the type of an input. Records the sizes of names that are new. */
export function valueFits(param: ValueInfo, value: BoundValue, sizes: DimSizes): boolean {
  const { name, dtype, shape } = param;
  if (dtype === 'any') return true;
  if (dtype === 'int') return Number.isSafeInteger(value);
  if (typeof value !== 'object') return dtype === 'float' && typeof value === 'number';
  return (
    dtype === value.dtype &&
    shape.length === value.shape.length &&
    !wasTransferred(value) &&
    shape.every((dim, axis) => dimFits(dim, value.shape[axis] ?? 0, { name, sizes }))
  );
}

/** Whether an earlier run took the data of a tensor away. */
export function wasTransferred(value: BoundValue): boolean {
  return value instanceof Tensor && value.data.length < elementCount(value.shape);
}

function dimFits(
  dim: number | string,
  size: Shape[number],
  { name, sizes }: { name: string; sizes: DimSizes },
): boolean {
  if (typeof dim === 'number') return dim === size;
  // The machine evaluates expressions and checks them.
  if (!/^\w+$/.test(dim)) return true;
  const known = sizes.get(dim);
  if (known !== undefined) return known.size === size;
  sizes.set(dim, { size, origin: name });
  return true;
}
