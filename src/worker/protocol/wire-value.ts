import type { DType, TypedArray } from '../../core/tensor/dtype.ts';
import type { NodeSignature } from '../../core/contracts/node-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { KindOf, ValueSide } from '../../core/contracts/value-fold.ts';
import type { HandleId, Reply } from './reply.ts';

export interface WireTensor {
  readonly kind: 'tensor';
  readonly dtype: DType;
  readonly shape: Shape;
  readonly data: TypedArray;
}

interface WireHandle {
  readonly kind: 'handle';
  readonly handle: HandleId;
  readonly dtype: DType;
  readonly shape: Shape;
}

/** The form of each kind of value between page and worker; `never`: a page can neither give nor take it. */
export interface WireForms {
  readonly null: { readonly kind: 'null' };
  readonly int: { readonly kind: 'int'; readonly value: number };
  readonly float: { readonly kind: 'float'; readonly value: number };
  readonly string: { readonly kind: 'string'; readonly value: string };
  readonly dtype: never;
  readonly shape: { readonly kind: 'shape'; readonly value: Shape };
  readonly tensor: WireTensor;
  readonly handle: WireHandle;
  readonly adt: {
    readonly kind: 'adt';
    readonly tag: number;
    /** Where the type is known: the constructor by its name, or an empty text for a tuple. */
    readonly name?: string;
    readonly fields: readonly WireValue[];
  };
  /** A function of the program, which stays there. */
  readonly closure: { readonly kind: 'closure'; readonly handle: HandleId };
  /** A function of the page, by the name under which `call` calls it, which is that of the run if it is absent. */
  readonly packed: { readonly kind: 'packed'; readonly name: string; readonly call?: CallPage };
  /** An object of the page, by its number there. */
  readonly opaque: { readonly kind: 'opaque'; readonly name: string; readonly id: number };
  readonly storage: never;
  readonly heap: never;
  readonly vm: never;
}

export type WireValue = WireForms[KindOf<WireForms>];

export const WIRE_SIDE: ValueSide<WireForms> = {
  kindOf: ({ kind }) => kind,
  partsOf: (value) => (value.kind === 'adt' ? value.fields : undefined),
};

export interface WireResult {
  readonly name: string;
  readonly value: WireValue;
}

/** Calls a function of the page by its name. Tensors come and go with their elements. */
export type CallPage = (
  name: string,
  args: readonly WireValue[],
  node?: PageNode,
) => Promise<Reply<WireValue>>;

/**
 * A call for a node of a model: its value, with null for inputs that it leaves out, or its type as JSON. Or word that
 * no program holds an object of the page any more.
 */
export type PageNode =
  | { readonly kind: 'drop' }
  | { readonly kind: 'run'; readonly attributes: WireAttributes }
  | { readonly kind: 'type'; readonly signature: WireSignature };

export type WireAttributes = Readonly<
  Record<string, number | string | readonly number[] | readonly string[] | WireTensor>
>;

export type WireSignature = Omit<NodeSignature, 'attributes'> & {
  readonly attributes: WireAttributes;
};
