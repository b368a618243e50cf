import { UsageError } from '../../../core/errors.ts';
import type { Clause, Expr, Pattern } from '../expr.ts';
import type { ConstructorDefinition, Type, TypeDefinition } from '../type.ts';

/**
 * The one table of what nodes are made of. Structural equality, hashing and JSON loop over it, so
 * that a new kind of node is one entry here. Fields stand in the order in which they are walked:
 * binders before what they bind.
 */

/** The families of nodes, each with kinds of its own. */
interface Families {
  expr: Expr;
  pattern: Pattern;
  type: Type;
  clause: Clause;
  constructor: ConstructorDefinition;
  definition: TypeDefinition;
}

/** A family of nodes, such as expressions. */
export type Family = keyof Families;

/** A node of any family. */
export type Node = Families[Family];

/**
 * The content of a field:
 * - a node of a family, or with `*` a list of them;
 * - `binder`, `binder*`: variables that are bound here;
 * - `type-params`: names of type parameters that are bound here;
 * - `type-param`: such a name where it is used;
 * - `tensor`: the value of a constant;
 * - `shape`: dimensions;
 * - `dtype`, `scalar`: the name of a dtype, of a type of scalars;
 * - `device`: the name of a device;
 * - `string`, `integer`, `number`, `boolean`: plain data;
 * - `attributes`, `function-attributes`: plain data by name, whose order does not matter;
 * - `hint`: a name that does not matter;
 * - `span`: a place in a source, which does not matter either.
 *
 * A field that may be absent ends in `?`.
 */
type FieldRole = `${RequiredRole}${'' | '?'}`;

type RequiredRole = NodeRole | DataRole;

type NodeRole = `${Family}${'' | '*'}` | `binder${'' | '*'}`;

export type DataRole =
  | 'type-params'
  | 'type-param'
  | 'tensor'
  | 'shape'
  | 'dtype'
  | 'scalar'
  | 'device'
  | 'string'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'attributes'
  | 'function-attributes'
  | 'hint'
  | 'span';

/** Every field of a node but its kind, with a role that says so where it may be absent. */
type FieldsOf<N> = {
  readonly [F in Exclude<keyof N, 'kind'>]-?: undefined extends N[F]
    ? `${RequiredRole}?`
    : RequiredRole;
};

type KindsOf<N extends { readonly kind: string }> = {
  readonly [K in N['kind']]: FieldsOf<Extract<N, { readonly kind: K }>>;
};

const EXPR: KindsOf<Expr> = {
  var: { name: 'hint', type: 'type?', span: 'span?' },
  constant: { value: 'tensor', span: 'span?' },
  int: { value: 'integer', span: 'span?' },
  operator: { name: 'string' },
  constructor: { name: 'string', span: 'span?' },
  global: { name: 'string', span: 'span?' },
  call: {
    callee: 'expr',
    typeArguments: 'type*?',
    args: 'expr*',
    attributes: 'attributes',
    onDevice: 'device?',
    span: 'span?',
  },
  function: {
    typeParams: 'type-params?',
    params: 'binder*',
    resultType: 'type?',
    attributes: 'function-attributes',
    body: 'expr',
    span: 'span?',
  },
  tuple: { fields: 'expr*', span: 'span?' },
  projection: { tuple: 'expr', index: 'integer', span: 'span?' },
  let: { variable: 'binder', value: 'expr', body: 'expr', span: 'span?' },
  if: { condition: 'expr', thenBranch: 'expr', elseBranch: 'expr', span: 'span?' },
  match: { value: 'expr', clauses: 'clause*', complete: 'boolean', span: 'span?' },
};

const PATTERN: KindsOf<Pattern> = {
  wildcard: {},
  'var-pattern': { variable: 'binder' },
  'constructor-pattern': { constructor: 'string', fields: 'pattern*' },
  'tuple-pattern': { fields: 'pattern*' },
  'int-pattern': { value: 'integer' },
  'float-pattern': { value: 'number' },
};

const TYPE: KindsOf<Type> = {
  tensor: { dtype: 'dtype', shape: 'shape' },
  tuple: { fields: 'type*' },
  function: { typeParams: 'type-params?', params: 'type*', result: 'type' },
  adt: { name: 'string', args: 'type*' },
  'type-var': { name: 'type-param' },
  scalar: { scalar: 'scalar' },
};

const CLAUSE: FieldsOf<Clause> = { pattern: 'pattern', body: 'expr' };

const CONSTRUCTOR: FieldsOf<ConstructorDefinition> = {
  name: 'string',
  fields: 'type*',
  tag: 'integer?',
};

const DEFINITION: FieldsOf<TypeDefinition> = {
  name: 'string',
  params: 'type-params',
  constructors: 'constructor*',
};

export interface Field {
  readonly name: string;
  readonly role: RequiredRole;
  /** True if a node may lack the field. */
  readonly isOptional: boolean;
  /** The family of the nodes that it holds; absent for data. */
  readonly family?: Family;
  /** True if the field holds a list of nodes. */
  readonly isList: boolean;
  /** True if the field holds variables that its node binds. */
  readonly binds: boolean;
}

const FAMILIES: ReadonlySet<string> = new Set<Family>([
  'expr',
  'pattern',
  'type',
  'clause',
  'constructor',
  'definition',
]);

/** Fields by key: `expr.call`, `type.tensor`; families of one kind have their name as key. */
export const FIELD_TABLE: ReadonlyMap<string, readonly Field[]> = new Map([
  ...entries('expr', EXPR),
  ...entries('pattern', PATTERN),
  ...entries('type', TYPE),
  ['clause', fieldList(CLAUSE)],
  ['constructor', fieldList(CONSTRUCTOR)],
  ['definition', fieldList(DEFINITION)],
]);

function entries(
  family: Family,
  kinds: Readonly<Record<string, Readonly<Record<string, FieldRole>>>>,
): [string, Field[]][] {
  return Object.entries(kinds).map(([kind, fields]) => [`${family}.${kind}`, fieldList(fields)]);
}

function fieldList(fields: Readonly<Record<string, FieldRole>>): Field[] {
  return Object.entries(fields).map(([name, given]) => {
    const isOptional = given.endsWith('?');
    const role = (isOptional ? given.slice(0, -1) : given) as RequiredRole;
    const isList = role.endsWith('*');
    const family = familyOf(isList ? role.slice(0, -1) : role);
    const binds = role.startsWith('binder');
    return { name, role, isOptional, isList, binds, ...(family === undefined ? {} : { family }) };
  });
}

function familyOf(name: string): Family | undefined {
  if (name === 'binder') return 'expr';
  return isFamily(name) ? name : undefined;
}

function isFamily(name: string): name is Family {
  return FAMILIES.has(name);
}

/** The key of a node in {@link FIELD_TABLE}. */
export function keyOf(family: Family, node: Node): string {
  return 'kind' in Object(node) ? `${family}.${Reflect.get(node, 'kind')}` : family;
}

/** Returns true if a text is the key of a kind of node. */
export function isKey(key: string): boolean {
  return FIELD_TABLE.has(key);
}

/** Returns true for the role of a field that holds data, not nodes. */
export function isDataRole(role: RequiredRole): role is DataRole {
  return familyOf(role.endsWith('*') ? role.slice(0, -1) : role) === undefined;
}

/** The fields of a kind of node. */
export function fieldsOf(key: string): readonly Field[] {
  const fields = FIELD_TABLE.get(key);
  const expected = 'that of a node, such as expr.call';
  if (fields === undefined)
    throw new UsageError({ where: 'FIELD_TABLE', got: `key ${key}`, expected });
  return fields;
}

/** The content of a node's field; undefined where it is absent. */
export function fieldValue(node: Node, field: Field): unknown {
  return Reflect.get(node, field.name);
}

export function fieldNodes(node: Node, field: Field): readonly Node[] {
  const value = fieldValue(node, field);
  if (field.family === undefined || value === undefined) return [];
  return (field.isList ? value : [value]) as readonly Node[];
}
