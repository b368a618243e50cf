import type { Dim } from '../../core/dim.ts';
import { formatDim } from '../../core/dim.ts';
import type { TypedArray } from '../../core/dtype.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Expr, Module, VarExpr } from './expr.ts';
import {
  type Family,
  type Field,
  fieldNodes,
  fieldsOf,
  fieldValue,
  keyOf,
  type Node,
} from './field-table.ts';

/**
 * Whether two modules are the same program. Names of variables and of type parameters and places in
 * sources do not matter. Sharing does: an expression that is computed once is not the same as two
 * that are equal. Constants are compared by content. Linear in the size of the graphs.
 */
export function equalModules(a: Module, b: Module): boolean {
  return equalTokens(moduleTokens(a), moduleTokens(b));
}

/** {@link equalModules} for expressions. A variable that is free in both is equal only to itself. */
export function equalExprs(a: Expr, b: Expr): boolean {
  return equalTokens(new Walk().tokens('expr', a), new Walk().tokens('expr', b));
}

/** 64 bits as 16 hexadecimal digits. Equal modules have equal hashes, from one run to the next. */
export function hashModule(module: Module): string {
  return hashTokens(moduleTokens(module));
}

/** {@link hashModule} for expressions. Free variables count by their names. */
export function hashExpr(expr: Expr): string {
  return hashTokens(new Walk().tokens('expr', expr));
}

/**
 * A program as a sequence of tokens that has all that matters, and nothing else: two programs are
 * equal when their tokens are. Variables and nodes met before are told by their number.
 */
type Token = string | number | TypedArray | VarExpr;

function* moduleTokens(module: Module): Generator<Token> {
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

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Type parameters in scope, by name, each with the number of its binding. */
interface TypeScope {
  readonly numbers: ReadonlyMap<string, number>;
}

/** A node to be walked, or a token that is already known. */
type Item = { readonly family: Family; readonly node: Node; readonly scope: TypeScope } | Token;

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
      if (!isNodeItem(item)) yield item;
      else this.#node(item.family, item.node, { scope: item.scope, stack });
    }
  }

  #node(family: Family, node: Node, { scope, stack }: { scope: TypeScope; stack: Item[] }): void {
    const items: Item[] = [];
    if (family === 'expr' && !('kind' in node && UNSHARED.has(node.kind))) {
      const known = this.#numbers.get(node);
      if (known !== undefined) {
        stack.push(`#${known}`);
        return;
      }
      if ('kind' in node && node.kind === 'var') {
        // Binders number their variables before anything refers to them.
        stack.push(node);
        return;
      }
      this.#numbers.set(node, this.#numbers.size);
    }
    items.push(keyOf(family, node));
    let inner = scope;
    for (const field of fieldsOf(keyOf(family, node))) {
      inner = this.#field(node, field, { scope: inner, items });
    }
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
    if (field.role === 'type-params')
      return this.#bindTypes(value as readonly string[], { scope, items });
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

function isNodeItem(item: Item): item is Extract<Item, { family: Family }> {
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

function equalTokens(a: Iterator<Token>, b: Iterator<Token>): boolean {
  for (;;) {
    const left = a.next();
    const right = b.next();
    if (left.done === true || right.done === true) return left.done === right.done;
    if (!sameToken(left.value, right.value)) return false;
  }
}

function sameToken(a: Token, b: Token): boolean {
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b)) return a === b;
  if (a.byteLength !== b.byteLength) return false;
  const left = new Uint8Array(a.buffer, a.byteOffset, a.byteLength);
  const right = new Uint8Array(b.buffer, b.byteOffset, b.byteLength);
  return left.every((byte, i) => byte === right[i]);
}

/** Two FNV-1a hashes of 32 bits side by side, from different offsets and with different primes. */
function hashTokens(tokens: Iterable<Token>): string {
  let low = 0x811c9dc5;
  let high = 0x2b992ddf;
  const mix = (byte: number): void => {
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high ^ byte, 0x0100019d) ^ (high >>> 15);
  };
  for (const token of tokens) {
    if (ArrayBuffer.isView(token)) {
      const bytes = new Uint8Array(token.buffer, token.byteOffset, token.byteLength);
      for (const byte of bytes) mix(byte);
    } else {
      const text = typeof token === 'object' ? `free ${token.name}` : String(token);
      for (let i = 0; i < text.length; i++) mix(text.charCodeAt(i));
    }
    mix(0x1f);
  }
  return hex(high) + hex(low);
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
