import { elementCount } from '../../core/tensor/element-count.ts';
import type { FunctionInfo, ValueInfo } from '../../worker/protocol/loaded-session.ts';
import { DeviceTensor, type HandleOwner } from './device-tensor.ts';
import type { BoundValue, PlainInputs } from './input-value.ts';

/** Inputs in the order of the parameters, with what does not fit. */
export interface Binding {
  /** Meaningless where {@link mismatches} has the parameter. */
  readonly values: readonly BoundValue[];
  /** Parameters that got nothing, or a value of another type. */
  readonly mismatches: readonly ValueInfo[];
  /** Sizes of named dimensions, each with the input that fixed it. */
  readonly sizes: ReadonlyMap<string, DimSize>;
  readonly owner: HandleOwner | undefined;
}

export interface DimSize {
  readonly size: number;
  readonly origin: string;
}

/** Binds inputs by name. `explainInputs` puts mismatches and unknown names into words. */
export function bindInputs(
  info: FunctionInfo,
  inputs: PlainInputs,
  owner: HandleOwner | undefined,
): Binding {
  const sizes = new Map<string, DimSize>();
  const mismatches: ValueInfo[] = [];
  const values = info.params.map((param) => {
    // Own names only: every object has a `constructor`.
    const value = Object.hasOwn(inputs, param.name) ? inputs[param.name] : undefined;
    if (value === undefined || !valueFits(param, value, { owner, sizes })) mismatches.push(param);
    return value ?? '';
  });
  return { values, mismatches, sizes, owner };
}

interface FitContext {
  readonly owner: HandleOwner | undefined;
  readonly sizes: Map<string, DimSize>;
}

function valueFits(
  { name, dtype, shape }: ValueInfo,
  value: BoundValue,
  { owner, sizes }: FitContext,
): boolean {
  if (typeof value === 'object') {
    // The machine checks its fields.
    if ('wire' in value) return true;
    const isUsable =
      value instanceof DeviceTensor
        ? owner?.accepts(value.owner) && value.handle !== undefined
        : // Less when an earlier run transferred the data.
          value.data.length === elementCount(value.shape);
    if (!isUsable) return false;
  }
  if (dtype === 'any') return /^(object|number|string)$/.test(typeof value);
  if (dtype === 'int') return Number.isSafeInteger(value);
  if (typeof value !== 'object') return dtype === 'float' && typeof value === 'number';
  const dimFits = (dim: number | string, axis: number): boolean => {
    const size = value.shape[axis] ?? 0;
    if (typeof dim === 'number') return dim === size;
    // The machine evaluates expressions and checks them.
    if (!/^\w+$/.test(dim)) return true;
    const known = sizes.get(dim);
    if (known === undefined) sizes.set(dim, { size, origin: name });
    return (known?.size ?? size) === size;
  };
  return dtype === value.dtype && shape.length === value.shape.length && shape.every(dimFits);
}
