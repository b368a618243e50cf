import type { DType } from '../../core/tensor/dtype.ts';
import {
  type AdtTypeNode,
  type FunctionTypeNode,
  INT_TYPE,
  tensorType,
  type Type,
  type TypeDefinition,
} from '../ir/type.ts';

/** The data types of random modules. */
export const TYPE_DEFINITIONS: readonly TypeDefinition[] = [
  {
    name: 'List',
    params: ['A'],
    constructors: [
      {
        name: 'Cons',
        fields: [
          { kind: 'type-var', name: 'A' },
          { kind: 'adt', name: 'List', args: [{ kind: 'type-var', name: 'A' }] },
        ],
      },
      { name: 'Nil', fields: [] },
    ],
  },
  {
    name: 'Pair',
    params: ['A', 'B'],
    constructors: [
      {
        name: 'MkPair',
        fields: [
          { kind: 'type-var', name: 'A' },
          { kind: 'type-var', name: 'B' },
        ],
      },
    ],
  },
  {
    name: 'Signal',
    params: [],
    constructors: [
      { name: 'Off', fields: [] },
      { name: 'On', fields: [tensorType({ dtype: 'float32', shape: [4] }), INT_TYPE] },
    ],
  },
];

export const SCALAR = tensorType({ dtype: 'float32', shape: [] });
export const BOOL = tensorType({ dtype: 'bool', shape: [] });
export const VECTOR = tensorType({ dtype: 'float32', shape: [4] });
const MATRIX = tensorType({ dtype: 'int32', shape: [2, 3] });
/** A tensor of symbolically many rows. */
export const BATCH = tensorType({ dtype: 'float32', shape: ['n', 4] });
const CONSTANT_DTYPES: readonly DType[] = [
  'float64',
  'float16',
  'int8',
  'uint8',
  'int16',
  'uint16',
  'uint32',
  'int64',
  'uint64',
];

/** Choices and types for random modules. */
export class RandomTypes {
  readonly #random: () => number;
  readonly #symbolic: boolean;

  constructor(random: () => number, symbolic: boolean) {
    this.#random = random;
    this.#symbolic = symbolic;
  }

  /** An integer from 0 that is less than `count`. */
  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('internal: nothing to pick from');
    return item;
  }

  type(depth = 2): Type {
    const tensors = [SCALAR, BOOL, VECTOR, MATRIX, ...(this.#symbolic ? [BATCH] : [])];
    if (depth === 0 || this.chance(0.55)) return this.pick<Type>([...tensors, INT_TYPE]);
    const makers: readonly (() => Type)[] = [
      () => ({ kind: 'tuple', fields: this.types(this.below(4), depth - 1) }),
      () => ({ kind: 'adt', name: 'List', args: this.types(1, depth - 1) }),
      () => ({ kind: 'adt', name: 'Pair', args: this.types(2, depth - 1) }),
      () => ({ kind: 'adt', name: 'Signal', args: [] }),
      () => this.functionType(this.below(3), depth - 1),
      () => tensorType({ dtype: this.pick(CONSTANT_DTYPES), shape: this.pick([[], [3], [5, 4]]) }),
    ];
    return this.pick(makers)();
  }

  types(count: number, depth: number): Type[] {
    return Array.from({ length: count }, () => this.type(depth));
  }

  functionType(arity: number, depth = 1): FunctionTypeNode {
    return { kind: 'function', params: this.types(arity, depth), result: this.type(depth) };
  }
}

export function definitionOf(type: AdtTypeNode): TypeDefinition {
  const definition = TYPE_DEFINITIONS.find(({ name }) => name === type.name);
  if (definition === undefined) throw new Error(`internal: no definition of ${type.name}`);
  return definition;
}

/** The type of a field of a constructor, for the arguments of its data type. */
export function instantiate(field: Type, of: AdtTypeNode): Type {
  const { params } = definitionOf(of);
  if (field.kind === 'type-var') return of.args[params.indexOf(field.name)] ?? field;
  if (field.kind !== 'adt') return field;
  return { ...field, args: field.args.map((arg) => instantiate(arg, of)) };
}
