import {
  type AdtTypeNode,
  formatType,
  type FunctionTypeNode,
  type Type,
  withParts,
} from '../../../ir/type.ts';
import type { DataInstances } from './data-instances.ts';
import { asHeld, withoutSizes } from './type-parts.ts';

/** The function values of one type, which differ in nothing but sizes. */
export interface FunctionClass {
  readonly type: FunctionTypeNode;
  readonly data: AdtTypeNode;
  /** The function that calls such a value. */
  readonly apply: string;
}

/** The types of functions whose values become data. */
export class FunctionClasses {
  readonly #classes = new Map<string, FunctionClass>();
  readonly #taken: ReadonlySet<string>;
  /** Data types that hold functions of their parameters. */
  readonly data: DataInstances;
  #count = 0;

  /** `taken` are names of data types. */
  constructor(taken: ReadonlySet<string>, data: DataInstances) {
    this.#taken = taken;
    this.data = data;
  }

  /** All so far, also those that are added while they are walked. */
  all(): IterableIterator<FunctionClass> {
    return this.#classes.values();
  }

  add(type: FunctionTypeNode): void {
    const key = keyOf(type);
    if (this.#classes.has(key)) return;
    let name = `Function${this.#count++}`;
    while (this.#taken.has(name)) name = `Function${this.#count++}`;
    const data: AdtTypeNode = { kind: 'adt', name, args: [] };
    this.#classes.set(key, { type: withoutSizes(type), data, apply: `gradient.apply.${name}` });
  }

  /** The class of a type, if it is one of these. */
  of(type: Type | undefined): FunctionClass | undefined {
    return type?.kind === 'function' ? this.#classes.get(keyOf(type)) : undefined;
  }

  /** The type of the same values once functions are data, which hold tensors of any size. */
  mapped(type: Type): Type {
    const own = this.of(type);
    if (own !== undefined) return own.data;
    if (type.kind === 'adt') {
      const instance = this.data.of(type);
      return instance ?? { ...type, args: type.args.map((part) => this.held(part)) };
    }
    return withParts(type, (part) => this.mapped(part));
  }

  /** {@link mapped} for an argument of a data type: there is one type of data for tensors of all sizes. */
  held(type: Type): Type {
    return asHeld(this.mapped(type));
  }

  source(type: Type): Type {
    if (type.kind === 'adt') {
      for (const { data, type: own } of this.all()) if (data.name === type.name) return own;
      const own = this.data.source(type);
      if (own !== undefined) return own;
    }
    return withParts(type, (part) => this.source(part));
  }
}

function keyOf(type: FunctionTypeNode): string {
  return formatType(withoutSizes(type));
}
