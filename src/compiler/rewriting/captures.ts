import { internalError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { AttributeValue } from '../../core/contracts/primitive-function.ts';
import type { CallExpr, Expr } from '../ir/expr.ts';
import { isSmallFloat, smallFloatToNumber } from '../../core/tensor/small-floats.ts';

/** A capture and those before it. */
export interface Binding {
  readonly name: string;
  readonly value: Expr | { readonly attribute: AttributeValue };
  readonly previous: Binding | undefined;
}

/** The expressions behind the names of a pattern in one match. */
export class Captures {
  /** The call that the whole pattern fits. */
  readonly root: CallExpr;
  readonly #last: Binding | undefined;

  constructor(root: CallExpr, last: Binding | undefined) {
    this.root = root;
    this.#last = last;
  }

  /** The expression of this name; undefined where the match has none. */
  find(name: string): Expr | undefined {
    if (name === 'root') return this.root;
    const value = bound(this.#last, name);
    return value !== undefined && 'kind' in value ? value : undefined;
  }

  /** The expression of this name, which every match has. */
  get(name: string): Expr {
    const found = this.find(name);
    if (found === undefined) throw internalError(`a match without ${name}`);
    return found;
  }

  /** The constant of this name, which every match has. */
  tensor(name: string): HostTensor {
    const found = this.get(name);
    if (found.kind === 'constant') return found.value;
    throw internalError(`${name} is captured and no constant`);
  }

  /** The number that all elements of the constant of this name are. */
  number(name: string): number | undefined {
    const found = this.find(name);
    return found?.kind === 'constant' ? constantNumber(found.value) : undefined;
  }

  /** The attribute of this name; undefined where the match has none. */
  attribute(name: string): AttributeValue | undefined {
    const value = bound(this.#last, name);
    return value !== undefined && 'attribute' in value ? value.attribute : undefined;
  }

  /** An attribute that is a list of integers; NaN for symbols, nothing for an absent one. */
  integers(name: string): readonly number[] {
    const value = this.attribute(name);
    return Array.isArray(value) ? value.map(Number) : [];
  }
}

export function bound(last: Binding | undefined, name: string): Binding['value'] | undefined {
  for (let at = last; at !== undefined; at = at.previous) if (at.name === name) return at.value;
  return undefined;
}

/** The number that a tensor repeats. Looks only at splats and single elements: others seldom do. */
export function constantNumber(tensor: HostTensor): number | undefined {
  const { dtype, isSplat, elementCount, elements } = tensor;
  if (!isSplat && elementCount !== 1) return undefined;
  const element = elements[0];
  if (element === undefined) return undefined;
  return isSmallFloat(dtype) ? smallFloatToNumber(dtype, Number(element)) : Number(element);
}
