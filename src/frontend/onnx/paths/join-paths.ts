import * as ir from '../../../compiler/ir/build.ts';
import type { Expr } from '../../../compiler/ir/expr.ts';
import { AS_ANY } from '../../../compiler/ir/operators/scalar-operators.ts';
import { ANY_TYPE, formatType, tensorType, type Type } from '../../../compiler/ir/type.ts';
import { proveEqual } from '../../../core/dims/dim-algebra.ts';
import { forEachSymbol, isUnknownDim } from '../../../core/dims/dim-symbols.ts';
import { type Dim, formatDim } from '../../../core/dims/dim.ts';
import { dtypeInfo } from '../../../core/tensor/dtype.ts';
import { closedType, hasAny, joinTypes } from '../composite-values.ts';
import { Block } from '../graph-scope.ts';
import type { ImportNode } from '../import-node.ts';
import { Fork, Path } from './paths.ts';

/** Longer vectors of integers are data, and no shapes or axes. */
const MAX_SHAPE_LENGTH = 16;

/** The values of one name on the paths, in the order of their exits. */
type Column = readonly Expr[];

/**
 * In what the values of a column may differ and yet be one: in nothing that nodes behind depend on, in
 * all sizes, or in rank too, so that they are a value of any type.
 */
export type Difference = 'none' | 'sizes' | 'ranks';

/**
 * The values that the paths of a fork have computed, bound in the node's block; undefined where values differ so
 * that what follows has to be imported for each path: in rank, in which sizes are 1 (and broadcast), or in
 * the length of a shape. Dimensions that differ get names. Throws FormatError where dtypes differ.
 */
export function joinPaths(
  node: ImportNode,
  fork: Fork,
  columns: readonly Column[],
  mayDiffer: (column: number) => Difference = () => 'none',
): readonly Expr[] | undefined {
  const known = columns.map((column) => commonValue(node, fork, column));
  const open = columns.filter((_, i) => known[i] === undefined);
  const fields: Type[] = [];
  for (const [i, column] of columns.entries()) {
    if (known[i] !== undefined) continue;
    const type = joinedType(node, fork, { column, difference: mayDiffer(i) });
    if (type === undefined) return undefined;
    fields.push(type);
  }
  const joined = fields.length === 0 ? [] : bindFields(node, fork, { columns: open, fields });
  let next = 0;
  return known.map((value) => {
    const result = value ?? joined[next++];
    if (result === undefined) throw new Error('internal: a value of no path');
    return result;
  });
}

/** The value where it is the same on all paths and none of them has to be taken for it. */
function commonValue(node: ImportNode, fork: Fork, column: Column): Expr | undefined {
  const [first, ...others] = column;
  // An expression that is no value of the paths would not stop where one of them does.
  if (first === undefined || fork.mayStop) return undefined;
  if (others.every((value) => value === first)) return first;
  const isCommon = node
    .shapeValue(first)
    ?.elements.every(
      (dim, i) =>
        !isLocal(fork, dim) &&
        others.every((other) => proveEqual(dim, node.shapeValue(other)?.elements[i] ?? '?')),
    );
  return isCommon === true ? first : undefined;
}

function isLocal(fork: Fork, dim: Dim): boolean {
  let local = false;
  forEachSymbol(dim, (symbol) => (local ||= fork.hasNamed(symbol)));
  return local;
}

/** The facts that decide whether the same nodes can be imported for two values. */
function kindOf(node: ImportNode, value: Expr): string {
  if (isAny(node, value)) return 'any';
  if (isData(node, value)) return formatType(closedType(node.dataType(value)));
  const { dtype, shape } = node.type(value);
  const [length] = shape;
  const isShape = shape.length === 1 && typeof length === 'number' && length <= MAX_SHAPE_LENGTH;
  if (isShape && dtypeInfo(dtype).category === 'int') return `[${length}]`;
  return `(${shape.map((dim) => (dim === 1 ? '1' : 'n')).join()})`;
}

function joinedType(
  node: ImportNode,
  fork: Fork,
  { column, difference }: { column: Column; difference: Difference },
): Type | undefined {
  if (column.some((value) => isAny(node, value))) return ANY_TYPE;
  if (column.some((value) => isData(node, value))) {
    const type = joinedDataType(node, column);
    // The nodes that follow may know the ranks of each path.
    const isKnown = column.some((value) => node.composite(value) !== undefined);
    return difference === 'none' && isKnown && hasAny(type) ? undefined : type;
  }
  const [first, ...others] = column.map((value) => node.type(value));
  if (first === undefined) throw new Error('internal: a value of no path');
  const odd = others.find(({ dtype }) => dtype !== first.dtype);
  if (odd !== undefined) {
    throw node.malformed(`an output as ${first.dtype} and ${odd.dtype}`, 'one dtype');
  }
  const ranks = new Set(column.map((value) => node.shape(value).length));
  if (ranks.size > 1) return difference === 'ranks' ? ANY_TYPE : undefined;
  const kinds = new Set(column.map((value) => kindOf(node, value)));
  if (difference === 'none' && kinds.size > 1) return undefined;
  const shape = first.shape.map((dim, axis): Dim => {
    const isSame = others.every((other) => sameOrUnknown(dim, other.shape[axis] ?? '?') !== '?');
    return isSame && !isUnknownDim(dim) && !isLocal(fork, dim) ? dim : '?';
  });
  return tensorType({ dtype: first.dtype, shape });
}

function isAny({ context }: ImportNode, value: Expr): boolean {
  return context.types.of(value).kind === 'scalar';
}

/** Returns true for sequences and optional values. */
function isData({ context }: ImportNode, value: Expr): boolean {
  return context.types.of(value).kind === 'adt';
}

/** The type of sequences, or of optional values. Throws FormatError for a column that has other values too. */
function joinedDataType(node: ImportNode, column: Column): Type {
  const type = closedType(column.map((value) => node.dataType(value)).reduce(joinTypes));
  if (type.kind === 'adt') return type;
  throw node.malformed(
    'an output that is not a sequence, or not optional, in each branch',
    'one kind of value',
  );
}

/** The dimension where both are it for sure, else `?`. */
export function sameOrUnknown(left: Dim, right: Dim): Dim {
  if (isUnknownDim(left) || isUnknownDim(right)) return '?';
  return proveEqual(left, right) ? left : '?';
}

interface Fields {
  readonly columns: readonly Column[];
  readonly fields: readonly Type[];
}

/** The values as variables of the node's block. */
function bindFields(node: ImportNode, fork: Fork, { columns, fields }: Fields): readonly Expr[] {
  const { block, span } = node;
  const [only] = fields;
  const type: Type = fields.length === 1 && only !== undefined ? only : { kind: 'tuple', fields };
  const { exits } = fork;
  const value = fork.expression(type, (end) => {
    const at = exits.indexOf(end);
    return tupled(columns.map((column, i) => closed(node, column[at], fields[i])));
  });
  if (fields.length === 1) return named(node, [value], { columns, fields });
  const results = block.bind(value, { name: 'results', type, span });
  return named(
    node,
    fields.map((_, i) => ir.projection(results, i)),
    { columns, fields },
  );
}

function tupled(values: readonly Expr[]): Expr {
  const [only] = values;
  return values.length === 1 && only !== undefined ? only : ir.tuple(values);
}

/** A result of a path, with `?` where another has another dimension. */
function closed(node: ImportNode, value: Expr | undefined, type: Type | undefined): Expr {
  if (value === undefined || type === undefined) throw new Error('internal: a value of no path');
  if (type.kind === 'adt') return node.data(value, type);
  const tensor = node.tensor(value);
  if (isAny(node, value)) return value;
  if (type.kind !== 'tensor') return ir.call(AS_ANY, [tensor], {}, node.span);
  if (!type.shape.some(isUnknownDim)) return tensor;
  const variable = ir.variableOf('either', type);
  return ir.letIn(variable, tensor, variable);
}

/** The values with names for their unknown dimensions: one name for those that are one on each path. */
function named(
  node: ImportNode,
  values: readonly Expr[],
  { columns, fields }: Fields,
): readonly Expr[] {
  const names = new Map<string, Dim>();
  return values.map((value, i) => {
    const type = fields[i];
    if (type?.kind !== 'tensor') {
      return node.block.bind(value, { name: 'result', ...(type && { type }), span: node.span });
    }
    if (values.length > 1 && !type.shape.some(isUnknownDim)) return value;
    const sized = node.block.name(value, type, node.span);
    const own = node.shape(sized);
    const shape = own.map((dim, axis) => {
      if (!isUnknownDim(type.shape[axis] ?? dim)) return dim;
      const dims = columns[i]?.map((each) => node.shape(each)[axis] ?? '?') ?? [];
      if (dims.some(isUnknownDim)) return dim;
      const key = dims.map(formatDim).join(' ');
      const other = names.get(key) ?? dim;
      names.set(key, other);
      return other;
    });
    return shape.every((dim, axis) => dim === own[axis]) ? sized : node.reshape(sized, shape);
  });
}

/**
 * Paths of a fork in place of those that have values of the same ranks, one for each combination: so
 * several `If`s after each other do not double the paths each time. The paths meet in a value of a data
 * type that has a constructor for each new path.
 */
export function regroupPaths(
  node: ImportNode,
  { fork, names }: { fork: Fork; names: readonly string[] },
): Fork {
  const groups = new Map<string, Path[]>();
  const valuesOf = (end: Path): Expr[] =>
    names
      .flatMap((name) => end.names.lookup(name) ?? [])
      .map((value) => (node.composite(value) === undefined ? node.tensor(value) : value));
  for (const end of fork.exits) {
    const kind = valuesOf(end)
      .map((value) => kindOf(node, value))
      .join();
    groups.set(kind, [...(groups.get(kind) ?? []), end]);
  }
  if (groups.size === fork.exits.length) return fork;
  const union = node.context.freshTypeName('Ranks');
  const type: Type = { kind: 'adt', name: union, args: [] };
  const members = [...groups.values()].map((exits, i) => {
    const values = exits.map(valuesOf);
    const fields = names.map((_, k) =>
      fieldType(
        node,
        values.flatMap((each) => each[k] ?? []),
      ),
    );
    return { exits, fields, name: `${union}_${i}` };
  });
  node.context.typeDefinitions.set(union, {
    name: union,
    params: [],
    constructors: members.map(({ name, fields }) => ({ name, fields })),
  });
  const value = fork.expression(type, (end) => {
    const member = members.find(({ exits }) => exits.includes(end));
    if (member === undefined) throw new Error('internal: an end of no group');
    const values = valuesOf(end).map((each, k) => closed(node, each, member.fields[k]));
    return ir.construct(member.name, values);
  });
  const met = node.block.bind(value, { name: 'paths', type, span: node.span });
  const variables = members.map(({ fields }) =>
    fields.map((field) => ir.variableOf('field', field)),
  );
  const paths = members.map(({ exits, fields }, i) => {
    const [first] = exits;
    if (first === undefined) throw new Error('internal: a group without exits');
    const path = new Path(new Block(node.context, node.block.frame), first.names.fork());
    for (const [k, name] of names.entries()) {
      const [variable, field] = [variables[i]?.[k], fields[k]];
      if (variable === undefined || field === undefined) throw new Error('internal: no field');
      const isTensor = field.kind === 'tensor';
      path.names.set(name, isTensor ? path.block.name(variable, field, node.span) : variable);
    }
    return path;
  });
  return new Fork(paths, fork, (bodies) =>
    ir.match(
      met,
      bodies.map((body, i) => {
        const pattern = ir.constructorPattern(members[i]?.name ?? '', variables[i] ?? []);
        return [pattern, body] as const;
      }),
    ),
  );
}

/** Symbols have no meaning in a data type. */
function fieldType(node: ImportNode, column: Column): Type {
  if (column.some((value) => isAny(node, value))) return ANY_TYPE;
  if (column.some((value) => isData(node, value))) return joinedDataType(node, column);
  const [first, ...others] = column.map((value) => node.type(value));
  if (first === undefined) throw new Error('internal: a field without a value');
  const shape = first.shape.map((dim, axis) =>
    typeof dim === 'number' && others.every((other) => other.shape[axis] === dim) ? dim : '?',
  );
  return tensorType({ dtype: first.dtype, shape });
}
