import { partsOfType, type Type, type TypeDefinition } from '../../ir/type.ts';

/**
 * How a data type uses a type parameter. A parameter that stands on both sides of arrows is invariant, one that
 * no field has is neither.
 */
export interface Variance {
  /** In values that its fields hold, or that functions in them give: `List[Tensor[(3,)]]` fits `List[Tensor[(?,)]]`. */
  readonly isCovariant: boolean;
  /** In what functions in its fields take: data over `Tensor[(?,)]` fits data over `Tensor[(3,)]`. */
  readonly isContravariant: boolean;
}

export type Variances = ReadonlyMap<string, readonly Variance[]>;

type DataTypes = ReadonlyMap<string, TypeDefinition>;

const UNUSED: Variance = { isCovariant: false, isContravariant: false };
const COVARIANT: Variance = { isCovariant: true, isContravariant: false };
const known = new WeakMap<DataTypes, Variances>();

/**
 * The variances of the type parameters of data types: the least fixpoint of how their fields use them, by a
 * worklist. A definition is looked at again when one that it mentions changed, at most twice for each of its parameters.
 */
export function variancesOf(types: DataTypes): Variances {
  const found = known.get(types) ?? solve(types);
  known.set(types, found);
  return found;
}

/** The variance of a parameter of a data type; covariant where the type is not known. */
export function varianceAt(variances: Variances, name: string, index: number): Variance {
  return variances.get(name)?.[index] ?? COVARIANT;
}

function solve(types: DataTypes): Variances {
  const variances = new Map<string, readonly Variance[]>();
  for (const { name, params } of types.values())
    variances.set(
      name,
      params.map(() => UNUSED),
    );
  const users = usersOf(types);
  const work = new Set(types.values());
  for (const definition of work) {
    work.delete(definition);
    const before = variances.get(definition.name) ?? [];
    const after = usesOf(definition, variances);
    if (after.every((variance, i) => isSame(variance, before[i]))) continue;
    variances.set(definition.name, after);
    for (const user of users.get(definition.name) ?? []) work.add(user);
  }
  return variances;
}

function usersOf(types: DataTypes): ReadonlyMap<string, ReadonlySet<TypeDefinition>> {
  const users = new Map<string, Set<TypeDefinition>>();
  for (const definition of types.values()) {
    const work: Type[] = definition.constructors.flatMap(({ fields }) => fields);
    for (let type = work.pop(); type !== undefined; type = work.pop()) {
      if (type.kind === 'adt') {
        const found = users.get(type.name) ?? new Set();
        users.set(type.name, found.add(definition));
      }
      work.push(...partsOfType(type));
    }
  }
  return users;
}

/** How the fields of a definition use its parameters, with what is known of other definitions so far. */
function usesOf({ params, constructors }: TypeDefinition, variances: Variances): Variance[] {
  const uses = new Map<string, Variance>();
  const work = constructors.flatMap(({ fields }) =>
    fields.map((type) => ({ type, at: COVARIANT })),
  );
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const { type, at } = next;
    if (type.kind === 'type-var') uses.set(type.name, either(uses.get(type.name) ?? UNUSED, at));
    else if (type.kind === 'tuple') for (const field of type.fields) work.push({ type: field, at });
    else if (type.kind === 'function') {
      for (const param of type.params) work.push({ type: param, at: flipped(at) });
      work.push({ type: type.result, at });
    } else if (type.kind === 'adt') {
      for (const [i, arg] of type.args.entries()) {
        work.push({ type: arg, at: inside(at, varianceAt(variances, type.name, i)) });
      }
    }
  }
  return params.map((name) => uses.get(name) ?? UNUSED);
}

function flipped({ isCovariant, isContravariant }: Variance): Variance {
  return { isCovariant: isContravariant, isContravariant: isCovariant };
}

function either(a: Variance, b: Variance): Variance {
  return {
    isCovariant: a.isCovariant || b.isCovariant,
    isContravariant: a.isContravariant || b.isContravariant,
  };
}

/** The variance of what stands at `inner` of something that stands at `outer`. */
function inside(outer: Variance, inner: Variance): Variance {
  const along = inner.isCovariant ? outer : UNUSED;
  return either(along, inner.isContravariant ? flipped(outer) : UNUSED);
}

function isSame(a: Variance, b: Variance | undefined): boolean {
  return a.isCovariant === b?.isCovariant && a.isContravariant === b.isContravariant;
}
