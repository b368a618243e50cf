import type { AdtTypeNode, FunctionTypeNode, Type } from '../../../ir/type.ts';
import { formatType } from '../../../ir/type.ts';

/** The function values of one type, which differ in nothing but sizes. */
export interface FunctionClass {
  readonly type: FunctionTypeNode;
  /** The data type that they become. */
  readonly data: AdtTypeNode;
  /** The function that calls such a value. */
  readonly apply: string;
}

/** The types of functions whose values become data. */
export class FunctionClasses {
  readonly #classes = new Map<string, FunctionClass>();
  readonly #taken: ReadonlySet<string>;
  #count = 0;

  /** `taken` are names of data types and functions. */
  constructor(taken: ReadonlySet<string>) {
    this.#taken = taken;
  }

  /** All so far, also those that are added while they are walked. */
  all(): IterableIterator<FunctionClass> {
    return this.#classes.values();
  }

  /** Adds the class of a type of functions. */
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
    if (type.kind === 'adt') return { ...type, args: type.args.map((part) => this.held(part)) };
    return withParts(type, (part) => this.mapped(part));
  }

  /** {@link mapped} for an argument of a data type: there is one type of data for tensors of all sizes. */
  held(type: Type): Type {
    return asHeld(this.mapped(type));
  }

  /** The type that was mapped. */
  source(type: Type): Type {
    if (type.kind === 'adt') {
      for (const { data, type: own } of this.all()) if (data.name === type.name) return own;
    }
    return withParts(type, (part) => this.source(part));
  }
}

/** Types of functions in a type, in data that it is applied to as well. */
export function functionTypesIn(type: Type): readonly FunctionTypeNode[] {
  if (type.kind === 'function') return [type];
  if (type.kind === 'tuple') return type.fields.flatMap(functionTypesIn);
  return type.kind === 'adt' ? type.args.flatMap(functionTypesIn) : [];
}

/** Whether a part of a type, functions and arguments of data included, is as asked. */
export function somePart(type: Type, isAsked: (part: Type) => boolean): boolean {
  let found = isAsked(type);
  withParts(type, (part) => {
    found ||= somePart(part, isAsked);
    return part;
  });
  return found;
}

function keyOf(type: FunctionTypeNode): string {
  return formatType(withoutSizes(type));
}

/** A type whose tensors may have any size: function values of a class differ in them. */
export function withoutSizes<T extends Type>(type: T): T;
export function withoutSizes(type: Type): Type {
  if (type.kind === 'tensor') return { ...type, shape: type.shape.map(() => '?') };
  return withParts(type, withoutSizes);
}

/** A type with tensors of any size. Functions keep theirs. */
function asHeld(type: Type): Type {
  if (type.kind === 'tensor') return withoutSizes(type);
  return type.kind === 'function' ? type : withParts(type, asHeld);
}

function withParts(type: Type, change: (part: Type) => Type): Type {
  switch (type.kind) {
    case 'tuple':
      return { ...type, fields: type.fields.map(change) };
    case 'adt':
      return { ...type, args: type.args.map(change) };
    case 'function':
      return { ...type, params: type.params.map(change), result: change(type.result) };
    case 'tensor':
    case 'type-var':
    case 'scalar':
      return type;
    default:
      return type satisfies never;
  }
}
