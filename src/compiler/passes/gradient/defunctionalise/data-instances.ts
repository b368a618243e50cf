import { CompileLimitError } from '../../../../core/errors.ts';
import { type AdtTypeNode, formatType, type Type, type TypeDefinition } from '../../../ir/type.ts';
import { substituteTypes } from '../typed-values.ts';
import { functionTypesIn, hasTypeParameter, withoutSizes } from './type-parts.ts';

/** So many instances of data types: one that holds itself at ever new types has no end. */
const MAX_INSTANCES = 1000;

/** A data type with the types that it is applied to. */
interface Instance {
  readonly source: AdtTypeNode;
  /** Its own type, without parameters. */
  readonly data: AdtTypeNode;
}

/**
 * Instances of data types that hold functions of their type parameters, one for the types that each is applied to. Their
 * functions may become data, as those in `Box[A] { Box(A, fn (A) -> A) }` can not, since that is not so for each A.
 */
export class DataInstances {
  readonly #definitions: ReadonlyMap<string, TypeDefinition>;
  readonly #dependent: ReadonlySet<string>;
  readonly #instances = new Map<string, Instance>();
  readonly #byName = new Map<string, Instance>();

  constructor(definitions: ReadonlyMap<string, TypeDefinition>) {
    this.#definitions = definitions;
    this.#dependent = dependentTypes(definitions);
  }

  /** The instance for an applied data type; undefined for a type that needs none. */
  of(type: AdtTypeNode): AdtTypeNode | undefined {
    if (!this.#dependent.has(type.name) || type.args.some(hasTypeParameter)) return undefined;
    const source = withoutSizes(type);
    const key = formatType(source);
    const known = this.#instances.get(key);
    if (known !== undefined) return known.data;
    if (this.#instances.size >= MAX_INSTANCES) {
      throw new CompileLimitError({
        where: `gradient: ${type.name}`,
        got: `more than ${MAX_INSTANCES} types that data types are applied to`,
        expected: 'data that hold themselves at the same types',
      });
    }
    let name = `${type.name}.at_${this.#instances.size}`;
    while (this.#definitions.has(name)) name += '_';
    const made = { source, data: { kind: 'adt' as const, name, args: [] } };
    this.#instances.set(key, made);
    this.#byName.set(name, made);
    return made.data;
  }

  source({ name }: AdtTypeNode): AdtTypeNode | undefined {
    return this.#byName.get(name)?.source;
  }

  fields(type: AdtTypeNode): readonly Type[] {
    return this.#constructors(type).flatMap(({ fields }) => fields);
  }

  /** The definitions of all instances. `mapped` may ask for others. */
  *definitions(mapped: (type: Type) => Type): Generator<TypeDefinition> {
    for (const { source, data } of this.#instances.values()) {
      const constructors = this.#constructors(source).map(({ name, fields }) => ({
        name: constructorOf(data, name),
        fields: fields.map(mapped),
      }));
      yield { name: data.name, params: [], constructors };
    }
  }

  #constructors({ name, args }: AdtTypeNode): TypeDefinition['constructors'] {
    const { params = [], constructors = [] } = this.#definitions.get(name) ?? {};
    const given = new Map(params.flatMap((param, i) => (args[i] ? [[param, args[i]]] : [])));
    return constructors.map((own) => ({
      ...own,
      fields: own.fields.map((type) => substituteTypes(type, given)),
    }));
  }
}

export function constructorOf({ name }: AdtTypeNode, constructor: string): string {
  return `${name}.${constructor}`;
}

/** Data types with functions of their parameters, and those that apply one of these to theirs. */
function dependentTypes(definitions: ReadonlyMap<string, TypeDefinition>): ReadonlySet<string> {
  const found = new Set<string>();
  const isDependent = (type: Type): boolean => {
    if (!hasTypeParameter(type)) return false;
    if (functionTypesIn(type).some(hasTypeParameter)) return true;
    if (type.kind === 'tuple') return type.fields.some(isDependent);
    return type.kind === 'adt' && (found.has(type.name) || type.args.some(isDependent));
  };
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const { name, params, constructors } of definitions.values()) {
      if (params.length === 0 || found.has(name)) continue;
      if (constructors.some(({ fields }) => fields.some(isDependent))) found.add(name);
    }
  }
  return found;
}
