import type { Expr, FunctionExpr, VarExpr } from '../expr.ts';
import { operatorName } from '../operators/operator-name.ts';
import { CALL_INTO } from '../operators/machine-operators.ts';
import { childrenOf, variablesOf } from './visit.ts';

/** A chain of lets, as it stands in a function body, a branch of an `if` or a clause. */
export interface Block {
  readonly steps: readonly Step[];
  /** The result of the block: an atom, or a value that is bound to no variable. */
  readonly result: Expr;
  /**
   * The last step that reads a variable, in itself or in a block inside it; `steps.length` for the
   * result. Holds every variable that the block reads.
   */
  readonly lastUse: ReadonlyMap<VarExpr, number>;
  /** Variables from outside that the block reads. */
  readonly free: ReadonlySet<VarExpr>;
}

export interface Step {
  readonly variable: VarExpr;
  readonly value: Expr;
}

/** The blocks of a function in A-normal form and of the functions inside it. */
export class BlockTable {
  readonly #blocks = new Map<Expr, Block>();
  /** Primitive functions by the variables that they are bound to: they are called, never held. */
  readonly #primitives = new Map<VarExpr, FunctionExpr>();

  /** Analyses all blocks, innermost first, without recursion. */
  constructor(body: Expr) {
    const chains: { readonly root: Expr; readonly steps: Step[]; readonly result: Expr }[] = [];
    const work: Expr[] = [body];
    for (let root = work.pop(); root !== undefined; root = work.pop()) {
      const chain = readChain(root);
      chains.push({ root, ...chain });
      for (const { variable, value } of chain.steps) {
        const primitive = primitiveOf(value);
        if (primitive !== undefined) this.#primitives.set(variable, primitive);
        work.push(...innerBlocks(value));
      }
      work.push(...innerBlocks(chain.result));
    }
    for (const { root, steps, result } of chains.toReversed()) {
      if (!this.#blocks.has(root)) this.#blocks.set(root, this.#analyse(steps, result));
    }
  }

  /** The primitive function that a value calls, with or without a destination. */
  kernel(value: Expr): FunctionExpr | undefined {
    if (value.kind !== 'call') return undefined;
    const { callee, args } = value;
    const isInto = operatorName(value) === CALL_INTO;
    const called = isInto ? args[0] : callee;
    return called === undefined ? undefined : this.primitive(called);
  }

  /** The block that begins with an expression: a body, a branch or a clause. */
  of(root: Expr): Block {
    const block = this.#blocks.get(root);
    if (block === undefined) throw new Error(`internal: no block begins with this ${root.kind}`);
    return block;
  }

  /** The expressions with which blocks begin; those inside a block come before it. */
  roots(): readonly Expr[] {
    return [...this.#blocks.keys()];
  }

  primitive(callee: Expr): FunctionExpr | undefined {
    return callee.kind === 'var' ? this.#primitives.get(callee) : primitiveOf(callee);
  }

  /** Variables that a function reads and does not bind, in order of first use. */
  captured(fn: FunctionExpr): readonly VarExpr[] {
    const params = new Set(fn.params);
    return [...this.of(fn.body).free].filter((variable) => !params.has(variable));
  }

  /** The steps and results of a body and of the branches in it, functions left out. */
  valuesIn(body: Expr): { readonly variable?: VarExpr; readonly value: Expr }[] {
    const found: { readonly variable?: VarExpr; readonly value: Expr }[] = [];
    const work = [body];
    for (let root = work.pop(); root !== undefined; root = work.pop()) {
      const { steps, result } = this.of(root);
      const values = [...steps, { value: result }];
      found.push(...values);
      for (const { value } of values) {
        if (value.kind === 'if' || value.kind === 'match') work.push(...innerBlocks(value));
      }
    }
    return found;
  }

  /** All closures, those inside others before them. */
  closures(): readonly FunctionExpr[] {
    return [...this.#blocks.values()].flatMap(({ steps, result }) =>
      [...steps.map(({ value }) => value), result].flatMap(closureIn),
    );
  }

  /** The closures that are made in a body, those inside them left out. */
  functionsIn(body: Expr): FunctionExpr[] {
    return this.valuesIn(body).flatMap(({ value }) => closureIn(value));
  }

  #analyse(steps: readonly Step[], result: Expr): Block {
    const lastUse = new Map<VarExpr, number>();
    for (const [index, { value }] of steps.entries()) {
      for (const used of this.#usedBy(value)) lastUse.set(used, index);
    }
    for (const used of this.#usedBy(result)) lastUse.set(used, steps.length);
    const free = new Set(lastUse.keys());
    for (const { variable } of steps) free.delete(variable);
    return { steps, result, lastUse, free };
  }

  /** Variables that a value of a step reads. */
  #usedBy(value: Expr): readonly VarExpr[] {
    switch (value.kind) {
      case 'var':
        return this.#primitives.has(value) ? [] : [value];
      case 'function':
        return primitiveOf(value) === undefined ? this.captured(value) : [];
      case 'if':
        return [
          ...atoms([value.condition]),
          ...this.of(value.thenBranch).free,
          ...this.of(value.elseBranch).free,
        ];
      case 'match': {
        const used = atoms([value.value]);
        for (const { pattern, body } of value.clauses) {
          const bound = new Set(variablesOf(pattern));
          for (const variable of this.of(body).free) if (!bound.has(variable)) used.push(variable);
        }
        return used;
      }
      default: {
        const used: VarExpr[] = [];
        for (const child of childrenOf(value)) {
          if (child.kind !== 'var') used.push(...this.#usedBy(child));
          else if (!this.#primitives.has(child)) used.push(child);
        }
        return used;
      }
    }
  }
}

function readChain(root: Expr): { readonly steps: Step[]; readonly result: Expr } {
  const steps: Step[] = [];
  let current = root;
  for (; current.kind === 'let'; current = current.body) {
    steps.push({ variable: current.variable, value: current.value });
  }
  const last = steps.at(-1);
  if (last === undefined || current !== last.variable) return { steps, result: current };
  // A result that is returned at once needs no variable, and a call of this kind is a tail call.
  steps.pop();
  return { steps, result: last.value };
}

/** The expressions with which the blocks inside a value begin: branches, clauses, bodies of closures. */
export function innerBlocks(value: Expr): readonly Expr[] {
  switch (value.kind) {
    case 'if':
      return [value.thenBranch, value.elseBranch];
    case 'match':
      return value.clauses.map((clause) => clause.body);
    case 'function':
      return primitiveOf(value) === undefined ? [value.body] : [];
    case 'call':
      return innerBlocks(value.callee);
    default:
      return [];
  }
}

function closureIn(value: Expr): readonly FunctionExpr[] {
  const fn = value.kind === 'call' ? value.callee : value;
  return fn.kind === 'function' && primitiveOf(fn) === undefined ? [fn] : [];
}

function primitiveOf(expr: Expr): FunctionExpr | undefined {
  return expr.kind === 'function' && expr.attributes.primitive !== undefined ? expr : undefined;
}

function atoms(exprs: readonly Expr[]): VarExpr[] {
  return exprs.filter((expr) => expr.kind === 'var');
}

/** The variable that a call writes its result to. */
export function destinationOf(value: Expr): VarExpr | undefined {
  const isInto = value.kind === 'call' && operatorName(value) === CALL_INTO;
  const last = isInto ? value.args.at(-1) : undefined;
  return last?.kind === 'var' ? last : undefined;
}
