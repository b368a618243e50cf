import { isElaborated } from '../inference/elaborate.ts';
import { isAtom } from '../ir/walk/atoms.ts';
import type { Expr, FunctionExpr, LetExpr, VarExpr } from '../ir/expr.ts';
import { computeScopes, type Scope, type Scopes } from '../ir/walk/scopes.ts';
import type { Type } from '../ir/type.ts';
import { mapFunctions, withChildren } from '../ir/walk/visit.ts';
import type { Pass } from './pass.ts';

/**
 * A-normal form: every operand is an atom, and every value is bound by a `let` where it is
 * computed, which is the innermost scope that holds all its uses. The body of a function, a branch
 * or a clause is a chain of lets that ends in an atom or in its last value.
 *
 * In a module whose types were inferred the new variables have types too.
 */
export const toAnf: Pass = {
  name: 'to-anf',
  run(module, { types }) {
    types.declare(module);
    const typeOf = isElaborated(module) ? (expr: Expr): Type => types.of(expr) : undefined;
    return mapFunctions(module, (fn) => functionToAnf(fn, typeOf));
  },
};

/** One function in A-normal form; `typeOf` gives the types of new variables. */
export function functionToAnf(fn: FunctionExpr, typeOf?: (expr: Expr) => Type): FunctionExpr {
  const body = new AnfConverter(fn, typeOf).convert();
  return body === fn.body ? fn : { ...fn, body };
}

interface Binding {
  readonly variable: VarExpr;
  readonly value: Expr;
  /** The `let` of the source, when it is kept as it is. */
  readonly source: LetExpr | undefined;
}

class AnfConverter {
  readonly #scopes: Scopes;
  readonly #typeOf: ((expr: Expr) => Type) | undefined;
  /** The atom that stands for an expression as an operand. */
  readonly #atoms = new Map<Expr, Expr>();
  /** Lets by variable, and by the expression that they name. */
  readonly #letOf = new Map<VarExpr, LetExpr>();
  readonly #naming = new Map<Expr, LetExpr>();
  /** Further variables of an expression, which give other names to its dimensions. */
  readonly #aliases = new Map<Expr, VarExpr[]>();
  /** Lets that name dimensions of parameters, by parameter. */
  readonly #entries = new Map<VarExpr, LetExpr[]>();
  readonly #bindings = new Map<Scope, Binding[]>();
  /** The results of the scopes, lets left out. */
  readonly #results = new Set<Expr>();
  #temporaries = 0;

  constructor(fn: FunctionExpr, typeOf: ((expr: Expr) => Type) | undefined) {
    this.#scopes = computeScopes(fn, { enter: (expr) => !isAtom(expr) });
    this.#typeOf = typeOf;
    this.#results.add(resultOf(fn.body));
    for (const expr of this.#scopes.order) {
      for (const { root } of this.#scopes.inside(expr)) this.#results.add(resultOf(root));
      if (expr.kind !== 'let') continue;
      this.#letOf.set(expr.variable, expr);
      const named = resultOf(expr.value);
      if (named.kind === 'var' && namesUnknown(expr.variable, named)) this.#addEntry(named, expr);
      if (isAtom(named)) continue;
      const first = this.#naming.get(named);
      if (first === undefined) this.#naming.set(named, expr);
      else if (namesOthers(expr.variable, first.variable)) {
        this.#aliases.set(named, [...(this.#aliases.get(named) ?? []), expr.variable]);
        // Who uses it knows its dimensions by these names.
        this.#letOf.delete(expr.variable);
      }
    }
  }

  convert(): Expr {
    for (const expr of this.#scopes.order) this.#atoms.set(expr, this.#convert(expr));
    return this.#block(this.#scopes.top);
  }

  #addEntry(param: VarExpr, expr: LetExpr): void {
    this.#letOf.delete(expr.variable);
    this.#entries.set(param, [...(this.#entries.get(param) ?? []), expr]);
  }

  /** The lets that name dimensions of a parameter stand first: their values come before their bodies. */
  #enter(param: VarExpr): void {
    for (const source of this.#entries.get(param) ?? []) {
      this.#bindingsIn(this.#scopes.of(source)).push({
        variable: source.variable,
        value: this.#atomOf(this.#letOf.get(param)?.value ?? param),
        source,
      });
    }
  }

  #bindingsIn(scope: Scope): Binding[] {
    const bindings = this.#bindings.get(scope) ?? [];
    this.#bindings.set(scope, bindings);
    return bindings;
  }

  /** Binds the value of an expression in its scope, and gives the atom that stands for it. */
  #convert(expr: Expr): Expr {
    if (expr.kind === 'var') this.#enter(expr);
    // A variable that names what has a name already, or an atom, gives way to it.
    if (expr.kind === 'var') return this.#atomOf(this.#letOf.get(expr)?.value ?? expr);
    if (isAtom(expr)) return expr;
    if (expr.kind === 'let') return this.#atomOf(expr.body);
    const blocks = new Map<Expr, Expr>();
    for (const inner of this.#scopes.inside(expr)) blocks.set(inner.root, this.#block(inner));
    // A value that is a block and an operand too is computed outside: its block is the same atom.
    const value = withChildren(expr, (child) => blocks.get(child) ?? this.#atomOf(child));
    const source = this.#naming.get(expr);
    const variable = source?.variable ?? this.#temporary(expr);
    const bindings = this.#bindingsIn(this.#scopes.of(expr));
    bindings.push({ variable, value, source });
    for (const alias of this.#aliases.get(expr) ?? []) {
      bindings.push({ variable: alias, value: variable, source: undefined });
    }
    return variable;
  }

  #temporary(expr: Expr): VarExpr {
    // The result of a scope that is computed there keeps no name.
    const name = this.#results.has(expr) ? 'result' : `v${this.#temporaries++}`;
    return { kind: 'var', name, type: this.#typeOf?.(expr) };
  }

  #atomOf(expr: Expr): Expr {
    return this.#atoms.get(expr) ?? expr;
  }

  /** The chain of lets of a scope, all of whose values are known. */
  #block(scope: Scope): Expr {
    const bindings = this.#bindings.get(scope) ?? [];
    let result = this.#atomOf(scope.root);
    const last = bindings.at(-1);
    // Nothing reads the last value but the result, so it needs no name.
    const isDirect = last !== undefined && last.variable === result;
    if (isDirect) result = last.value;
    for (let i = bindings.length - (isDirect ? 2 : 1); i >= 0; i--) {
      const binding = bindings[i];
      if (binding !== undefined) result = chain(binding, result);
    }
    return result;
  }
}

/**
 * Returns true if the types of two variables of one value have different names for its dimensions.
 */
function namesOthers({ type }: VarExpr, { type: known }: VarExpr): boolean {
  const work: (readonly [type: Type | undefined, known: Type | undefined])[] = [[type, known]];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const [mine, others] = next;
    if (mine?.kind === 'tuple') {
      const fields = others?.kind === 'tuple' ? others.fields : [];
      for (const [i, field] of mine.fields.entries()) work.push([field, fields[i]]);
    } else if (mine?.kind === 'tensor') {
      const shape = others?.kind === 'tensor' ? others.shape : [];
      if (mine.shape.some((dim, axis) => typeof dim === 'string' && dim !== shape[axis]))
        return true;
    }
  }
  return false;
}

/** Returns true if a variable has a size or name where the one it is bound to has `?`. */
function namesUnknown({ type }: VarExpr, { type: known }: VarExpr): boolean {
  if (type?.kind !== 'tensor' || known?.kind !== 'tensor') return false;
  return known.shape.some((dim, axis) => dim === '?' && type.shape[axis] !== '?');
}

function resultOf(expr: Expr): Expr {
  let result = expr;
  while (result.kind === 'let') result = result.body;
  return result;
}

function chain({ variable, value, source }: Binding, body: Expr): LetExpr {
  if (source?.value === value && source.body === body) return source;
  const span = source?.span;
  return { kind: 'let', variable, value, body, ...(span === undefined ? {} : { span }) };
}
