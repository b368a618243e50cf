import { type BlockTable, innerBlocks } from '../../ir/walk/block.ts';
import type { CallExpr, Expr, VarExpr } from '../../ir/expr.ts';
import { CALL_INTO, MAKE_CLOSURE } from '../../ir/operators/machine-operators.ts';
import { isOperatorCall } from '../../ir/operators/operator-name.ts';

/**
 * Names that may refer to the memory of a value in A-normal form: variables that are views of it or other
 * names, and places from where it may still be read when the last of those is gone.
 */
export class TensorAliases {
  readonly #blocks: BlockTable;
  /** The variable whose value a variable views. */
  readonly #roots = new Map<VarExpr, VarExpr>();
  /** All names of a value, by the first, where there are others. */
  readonly #names = new Map<VarExpr, VarExpr[]>();
  readonly #escaping = new Set<VarExpr>();

  constructor(blocks: BlockTable) {
    this.#blocks = blocks;
    // A view comes after what it views, and blocks after those around them.
    for (const root of blocks.roots().toReversed()) {
      for (const { variable, value } of blocks.of(root).steps) {
        const viewed = this.#viewed(value);
        if (viewed !== undefined) this.#addName(variable, this.rootOf(viewed));
      }
    }
    for (const root of blocks.roots()) {
      const { steps, result } = blocks.of(root);
      for (const { value } of steps) this.#recordEscapes(value);
      this.#recordEscapes(result);
      this.#escape([result, this.#viewed(result)]);
    }
  }

  /** The variable that was bound to the value first. */
  rootOf(variable: VarExpr): VarExpr {
    return this.#roots.get(variable) ?? variable;
  }

  /** All variables that may refer to the memory of one, itself included. */
  namesOf(variable: VarExpr): readonly VarExpr[] {
    const root = this.rootOf(variable);
    return this.#names.get(root) ?? [root];
  }

  /**
   * Returns true if the value may outlive the variables of its block: as a result of the block, in
   * a tuple or data, in a closure, or in a function that is called with it and may return it.
   */
  escapes(variable: VarExpr): boolean {
    return this.#escaping.has(this.rootOf(variable));
  }

  #addName(variable: VarExpr, root: VarExpr): void {
    this.#roots.set(variable, root);
    const names = this.#names.get(root);
    if (names === undefined) this.#names.set(root, [root, variable]);
    else names.push(variable);
  }

  /** The variable whose memory a value is, if it is not new. */
  #viewed(value: Expr): VarExpr | undefined {
    if (value.kind === 'var') return value;
    if (!isOperatorCall(value)) return undefined;
    const viewed = value.callee.name === CALL_INTO ? value.args.at(-1) : value.args[0];
    return viewed?.kind === 'var' ? viewed : undefined;
  }

  #recordEscapes(value: Expr): void {
    switch (value.kind) {
      case 'call':
        this.#recordCall(value);
        return;
      case 'function':
        this.#recordClosure(value);
        return;
      case 'tuple':
        this.#escape(value.fields);
        return;
      case 'match':
        this.#escape([value.value]);
        return;
      default:
    }
  }

  #recordCall({ callee, args }: CallExpr): void {
    const isClosure = callee.kind === 'operator' && callee.name === MAKE_CLOSURE;
    if (callee.kind === 'operator' && !isClosure) return;
    if (this.#blocks.primitive(callee) !== undefined) return;
    this.#escape([callee, ...args]);
    this.#recordClosure(callee);
    for (const arg of args) this.#recordClosure(arg);
  }

  #recordClosure(expr: Expr): void {
    const isClosure = expr.kind === 'function' && innerBlocks(expr).length > 0;
    if (isClosure) this.#escape(this.#blocks.captured(expr));
  }

  #escape(exprs: readonly (Expr | undefined)[]): void {
    for (const expr of exprs) if (expr?.kind === 'var') this.#escaping.add(this.rootOf(expr));
  }
}
