import { type Block, BlockTable, innerBlocks, type Step } from '../../ir/walk/block.ts';
import { isFlatMatch, MatchFlattener } from './flatten-match.ts';
import { constructorsOf } from '../../inference/declarations.ts';
import { letIn } from '../../ir/build.ts';
import type { Expr, FunctionExpr, MatchExpr, VarExpr } from '../../ir/expr.ts';
import { mapFunctions, postOrder, rewrite, withChildren } from '../../ir/walk/visit.ts';
import { symbolsOfType } from '../../inference/sizes/gather-dim-facts.ts';
import { mentionedIn } from '../dims/dim-names.ts';
import type { Pass, PassContext } from '../pass.ts';

/**
 * Makes each `match` look at one constructor: nested patterns become a `match` inside of others, by
 * a decision tree that tests no place twice on one path. The remaining clauses have distinct
 * constructors, with variables or `_` for the fields, and `_` after them. A literal becomes an
 * `if`. The body of a clause that several paths lead to becomes a function, so that its code stays
 * there once.
 * In A-normal form.
 */
export const lowerMatch: Pass = {
  name: 'lower-match',
  run(module, context) {
    context.types.declare(module);
    const constructors = constructorsOf(module.types);
    return mapFunctions(module, (fn) => {
      const lowering = new MatchLowering(fn, context, constructors);
      return lowering.run();
    });
  },
};

class MatchLowering {
  readonly #fn: FunctionExpr;
  readonly #blocks: BlockTable;
  readonly #flattener: MatchFlattener;
  /** Blocks that are finished, by what they began with. */
  readonly #results = new Map<Expr, Expr>();

  constructor(
    fn: FunctionExpr,
    { types }: PassContext,
    constructors: ReturnType<typeof constructorsOf>,
  ) {
    this.#fn = fn;
    this.#blocks = new BlockTable(fn.body);
    const mentioned = symbolsMentionedIn(fn);
    const isUsed = (body: Expr, variable: VarExpr): boolean => {
      if (this.#blocks.of(body).lastUse.has(variable)) return true;
      // The size may be used, although the value is not.
      const { type } = variable;
      return type !== undefined && [...symbolsOfType(type)].some((name) => mentioned.has(name));
    };
    this.#flattener = new MatchFlattener({ types, constructors, isUsed });
  }

  run(): FunctionExpr {
    for (const root of this.#blocks.roots()) {
      const result = this.#lower(root, this.#blocks.of(root));
      if (result !== root) this.#results.set(root, result);
    }
    const lowered = this.#results.get(this.#fn.body);
    if (lowered === undefined) return this.#fn;
    const body = rewrite(lowered, (expr) =>
      expr.kind === 'var' ? this.#flattener.nameOf(expr) : expr,
    );
    return { ...this.#fn, body };
  }

  #lower(root: Expr, { steps, result }: Block): Expr {
    const isChanged = (value: Expr): boolean =>
      innerBlocks(value).some((inner) => this.#results.has(inner)) ||
      (value.kind === 'match' && !isFlatMatch(value));
    if (!isChanged(result) && !steps.some(({ value }) => isChanged(value))) return root;
    const last = this.#value(result);
    let lowered = chain(last.before, last.value);
    for (const { variable, value } of steps.toReversed()) {
      const step = this.#value(value);
      lowered = chain(step.before, letIn(variable, step.value, lowered));
    }
    return lowered;
  }

  /** A value over blocks that are finished, with what has to be bound before it. */
  #value(value: Expr): { readonly before: readonly Step[]; readonly value: Expr } {
    const resultOf = (child: Expr): Expr => this.#results.get(child) ?? child;
    if (value.kind === 'call' && innerBlocks(value).length > 0) {
      return { before: [], value: { ...value, callee: withChildren(value.callee, resultOf) } };
    }
    if (value.kind !== 'match' || isFlatMatch(value)) {
      return {
        before: [],
        value: innerBlocks(value).length === 0 ? value : withChildren(value, resultOf),
      };
    }
    return this.#flattener.flatten(value, (clause) => resultOf(bodyOf(value, clause)));
  }
}

/** Symbols that anything but a pattern mentions. */
function symbolsMentionedIn({ body }: FunctionExpr): ReadonlySet<string> {
  const found = new Set<string>();
  for (const expr of postOrder(body)) {
    if (expr.kind !== 'match') for (const symbol of mentionedIn(expr)) found.add(symbol);
  }
  return found;
}

function bodyOf({ clauses }: MatchExpr, index: number): Expr {
  const clause = clauses[index];
  if (clause === undefined) throw new Error(`internal: no clause ${index}`);
  return clause.body;
}

function chain(steps: readonly Step[], body: Expr): Expr {
  return steps.reduceRight((rest, { variable, value }) => letIn(variable, value, rest), body);
}
