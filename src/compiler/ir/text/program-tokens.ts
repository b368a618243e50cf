import { type Dim, formatDim } from '../../../core/dims/dim.ts';
import type { TypedArray } from '../../../core/tensor/dtype.ts';
import type { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { Expr, Module, VarExpr } from '../expr.ts';
import {
  type Family,
  type Field,
  fieldNodes,
  fieldsOf,
  fieldValue,
  keyOf,
  type Node,
} from '../json/field-table.ts';
import { requireExpr, requireModule } from '../require-module.ts';

/**
 * A program as a sequence of tokens that has all that matters, and nothing else: two programs are
 * equal when their tokens are. Variables and nodes met before are told by their number.
 */
export type Token = string | number | TypedArray | VarExpr;

export function* moduleTokens(module: Module): Generator<Token> {
  requireModule('a comparison', module);
  const walk = new Walk();
  for (const [name, definition] of sorted(module.types)) {
    yield `type ${name}`;
    yield* walk.tokens('definition', definition);
  }
  for (const [name, fn] of sorted(module.functions)) {
    yield `def ${name}`;
    // Global functions share no work: what two of them refer to is computed in each.
    yield* new Walk().tokens('expr', fn);
  }
  yield plain(module.metadata);
}

export function exprTokens(expr: Expr): Generator<Token> {
  requireExpr('a comparison', expr);
  return new Walk().tokens('expr', expr);
}

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Type parameters in scope, by name, each with the number of its binding. */
interface TypeScope {
  readonly numbers: ReadonlyMap<string, number>;
}

interface NodeItem {
  readonly family: Family;
  readonly node: Node;
  readonly scope: TypeScope;
}

/** A node to be walked, or a token that is already known. */
type Item = NodeItem | Token;

/** Leaves are values, not computations: it does not matter whether they are shared. */
const UNSHARED: ReadonlySet<string> = new Set<Expr['kind']>([
  'constant',
  'int',
  'operator',
  'constructor',
  'global',
]);

class Walk {
  readonly #numbers = new Map<Node, number>();
  #typeParams = 0;

  /** Iterative: a node's tokens, then those of its fields, in the order of the field table. */
  *tokens(family: Family, root: Node): Generator<Token> {
    const stack: Item[] = [{ family, node: root, scope: { numbers: new Map() } }];
    for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
      if (!isNodeItem(item)) {
        yield item;
        continue;
      }
      const known = this.#known(item);
      if (known === undefined) this.#open(item, stack);
      else yield known;
    }
  }

  /** The token of what was met before, or is bound outside; else the node gets its number. */
  #known({ family, node }: NodeItem): Token | undefined {
    if (family !== 'expr' || !('kind' in node) || UNSHARED.has(node.kind)) return undefined;
    const number = this.#numbers.get(node);
    if (number !== undefined) return `#${number}`;
    // Binders number their variables before anything refers to them.
    if (node.kind === 'var') return node;
    this.#numbers.set(node, this.#numbers.size);
    return undefined;
  }

  #open({ family, node, scope }: NodeItem, stack: Item[]): void {
    const key = keyOf(family, node);
    const items: Item[] = [key];
    let inner = scope;
    for (const field of fieldsOf(key)) inner = this.#field(node, field, { scope: inner, items });
    for (let i = items.length - 1; i >= 0; i--) {
      const item = items[i];
      if (item !== undefined) stack.push(item);
    }
  }

  /** The tokens of a field, and the scope of the fields after it. */
  #field(
    node: Node,
    field: Field,
    { scope, items }: { scope: TypeScope; items: Item[] },
  ): TypeScope {
    const value = fieldValue(node, field);
    if (field.role === 'hint' || field.role === 'span') return scope;
    if (value === undefined) {
      items.push('absent');
      return scope;
    }
    if (field.family !== undefined) {
      const nodes = fieldNodes(node, field);
      if (field.isList) items.push(nodes.length);
      for (const child of nodes) {
        if (field.binds) this.#bind(child, { scope, items });
        else items.push({ family: field.family, node: child, scope });
      }
      return scope;
    }
    if (field.role === 'type-params') {
      return this.#bindTypes(value as readonly string[], { scope, items });
    }
    items.push(...dataTokens(field, value, scope));
    return scope;
  }

  #bind(variable: Node, { scope, items }: { scope: TypeScope; items: Item[] }): void {
    this.#numbers.set(variable, this.#numbers.size);
    const { type } = variable as VarExpr;
    items.push('binder', type === undefined ? 'absent' : { family: 'type', node: type, scope });
  }

  #bindTypes(
    names: readonly string[],
    { scope, items }: { scope: TypeScope; items: Item[] },
  ): TypeScope {
    items.push(names.length);
    if (names.length === 0) return scope;
    const numbers = new Map(scope.numbers);
    for (const name of names) {
      numbers.set(name, this.#typeParams);
      items.push(`type parameter ${this.#typeParams++}`);
    }
    return { numbers };
  }
}

function isNodeItem(item: Item): item is NodeItem {
  return typeof item === 'object' && 'family' in item;
}

function dataTokens(field: Field, value: unknown, scope: TypeScope): Token[] {
  switch (field.role) {
    case 'type-param': {
      const name = String(value);
      const number = scope.numbers.get(name);
      return [number === undefined ? `free ${name}` : `type parameter ${number}`];
    }
    case 'tensor':
      return tensorTokens(value as HostTensor);
    case 'shape': {
      const dims = value as readonly Dim[];
      return [dims.length, ...dims.map(formatDim)];
    }
    default:
      return [plain(value)];
  }
}

/** A tensor of equal elements is the same whether it is stored as a splat or not. */
function tensorTokens(tensor: HostTensor): Token[] {
  const { elements } = tensor;
  const isUniform = tensor.isSplat || isFilled(elements);
  return [
    tensor.dtype,
    tensor.shape.join(),
    isUniform ? 'splat' : 'elements',
    isUniform ? elements.subarray(0, 1) : elements,
  ];
}

function isFilled(elements: TypedArray): boolean {
  const width = elements.BYTES_PER_ELEMENT;
  const bytes = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
  for (let i = width; i < bytes.length; i++) if (bytes[i] !== bytes[i - width]) return false;
  return bytes.length > 0;
}

/** JSON with names in order, and with the numbers that it does not tell apart: -0, NaN, infinities. */
function plain(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'number') return Object.is(inner, -0) ? '-0' : `${inner}`;
    if (typeof inner === 'string') return `"${inner}`;
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    const names = Object.entries(inner).filter(([, item]) => item !== undefined);
    return Object.fromEntries(names.sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
