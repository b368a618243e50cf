import { fits, listOf, requireKind } from '../../core/check-options.ts';
import { requireModule } from '../ir/require-module.ts';
import { UsageError } from '../../core/errors.ts';
import type { TypeInference } from '../inference/type-inference.ts';
import { countWork } from '../../core/limits/work-meter.ts';
import type { CallExpr, Expr, Module, Span } from '../ir/expr.ts';
import { withPlace } from '../ir/place.ts';
import { mapFunctions, postOrder, withChildren } from '../ir/walk/visit.ts';
import { countReaders } from './count-readers.ts';
import { hasTypes } from './has-types.ts';
import { matchPattern } from './match-pattern.ts';
import { PatternTable } from './pattern-table.ts';
import type { OnRewrite, RewriteRule } from './rewrite-rule.ts';

/** Options of applying rules. */
interface Rewriting {
  /** The types of the module's expressions. */
  readonly types: TypeInference;
  /** Called for each rule that was applied. */
  readonly onRewrite?: OnRewrite | undefined;
}

/**
 * Applies rules from the leaves up until none applies, in what replacements are made of too. A node
 * is tried with the rules for its operator, in the order of the table, so that the work grows with
 * the program and the rules that apply. Rules have to lead to an end: each takes something away.
 */
export function rewriteModule(
  module: Module,
  rules: readonly RewriteRule[],
  rewriting: Rewriting,
): Module {
  requireModule('rewriteModule', module);
  requireKind('rewriteModule', RULES, ['rules that are', rules]);
  const table = new PatternTable(rules);
  return mapFunctions(module, (fn, name) => {
    const body = new BodyRewriter(fn.body, table, { ...rewriting, name }).run();
    return body === fn.body ? fn : { ...fn, body };
  });
}

/** So often may rules apply in turn to what one of them has made. */
const MAX_DEPTH = 256;

const RULES = listOf(['as parseRules makes it', isRule]);

function isRule(value: unknown): boolean {
  const { pattern, replace } = Object(value) as Partial<RewriteRule>;
  return pattern !== undefined && fits('function', replace);
}

class BodyRewriter {
  readonly #body: Expr;
  readonly #table: PatternTable<RewriteRule>;
  readonly #rewriting: Rewriting & { readonly name: string };
  /** The replacement of each node; nothing more applies to a result, which is its own. */
  readonly #results = new Map<Expr, Expr>();
  /** Nodes of the body by the other node that each became. */
  readonly #origins = new Map<Expr, Expr[]>();
  /** Replacements within replacements. */
  #depth = 0;
  /** How often nodes of the body are read, once a rule wants to know. */
  #readers: ReadonlyMap<Expr, number> | undefined;

  constructor(
    body: Expr,
    table: PatternTable<RewriteRule>,
    rewriting: Rewriting & { readonly name: string },
  ) {
    this.#body = body;
    this.#table = table;
    this.#rewriting = rewriting;
  }

  run(): Expr {
    return this.#rewrite(this.#body);
  }

  /** A new expression over results; its calls get a place where they have none. */
  #rewrite(root: Expr, span?: Span): Expr {
    const resultOf = (expr: Expr): Expr => this.#results.get(expr) ?? expr;
    for (const expr of postOrder(root, (inner) => !this.#results.has(inner))) {
      if (this.#results.has(expr)) continue;
      const rebuilt = withPlace(withChildren(expr, resultOf), span);
      const replaced = rebuilt.kind === 'call' ? this.#replace(rebuilt) : undefined;
      const result =
        replaced === undefined ? rebuilt : this.#rewriteAgain(replaced, placeOf(rebuilt) ?? span);
      this.#results.set(result, result);
      if (result === expr) continue;
      this.#results.set(expr, result);
      const origins = this.#origins.get(result);
      if (origins === undefined) this.#origins.set(result, [expr]);
      else origins.push(expr);
    }
    return resultOf(root);
  }

  #rewriteAgain(replaced: Expr, span: Span | undefined): Expr {
    this.#depth++;
    const result = this.#rewrite(replaced, span);
    this.#depth--;
    return result;
  }

  #replace(root: CallExpr): Expr | undefined {
    for (const rule of this.#table.rowsFor(root)) {
      const replaced = this.#apply(rule, root);
      if (replaced !== undefined) return replaced;
    }
    return undefined;
  }

  #apply(rule: RewriteRule, root: CallExpr): Expr | undefined {
    countWork();
    const { types, onRewrite, name } = this.#rewriting;
    const replaced = matchPattern(rule.pattern, root, {
      readers: { isOnce: (expr) => this.#countReaders(expr) === 1 },
      accept: (captures) =>
        hasTypes(rule, captures, types) ? rule.replace(captures, { types }) : undefined,
    });
    if (replaced !== undefined) {
      if (this.#depth >= MAX_DEPTH) throw endless(rule);
      onRewrite?.({ rule: rule.name, explains: rule.explains, function: name, span: root.span });
    }
    return replaced;
  }

  /**
   * Readers in the body as it was; none for what a replacement has made. Those that were replaced
   * count, so that nothing is taken for read once that is read twice.
   */
  #countReaders(expr: Expr): number {
    this.#readers ??= countReaders(this.#body);
    let count = this.#readers.get(expr) ?? 0;
    for (const origin of this.#origins.get(expr) ?? []) count += this.#readers.get(origin) ?? 0;
    return count;
  }
}

function endless({ name }: RewriteRule): UsageError {
  return new UsageError({
    where: `rewrite rule ${JSON.stringify(name)}`,
    got: `${MAX_DEPTH} rules that applied in turn, each to what the one before had made`,
    expected: 'rules that come to an end',
    remedy: 'Let each take something away, or put the same in one standard form.',
  });
}

function placeOf(expr: Expr): Span | undefined {
  return expr.kind === 'call' ? expr.span : undefined;
}
