import { checkOptions } from '../../core/check-options.ts';
import { isDType, type DType } from '../../core/dtype.ts';
import { TypeCheckError, WeftError } from '../../core/errors.ts';
import { CORE_OPERATORS } from '../../ops/core-operators.ts';
import type { Operators } from '../../ops/operators.ts';
import { Diagnostics } from '../ir/diagnostics.ts';
import type { Expr } from '../ir/expr.ts';
import { type Token, tokenize } from '../ir/lexer.ts';
import { SyntaxFault, TokenCursor } from '../ir/token-cursor.ts';
import type { Captures } from './captures.ts';
import { rootOperators, type TypePattern } from './expr-pattern.ts';
import { haveSameType } from './has-types.ts';
import { parseReplacement, type ReplacementContext, takeWord } from './parse-replacement.ts';
import { parseRulePattern } from './parse-rule-pattern.ts';
import { makeReplacement, type Replacement } from './replacement.ts';
import type { RewriteContext, RewriteRule } from './rewrite-rule.ts';
import { namesOf } from './rule-names.ts';

/** How a text of rules is read. */
export interface ParseRulesOptions {
  /** The name of the text, for messages. Default `rules`. */
  readonly file?: string | undefined;
  /** The operators that rules may name. Default: the core operators. */
  readonly operators?: Operators | undefined;
}

/**
 * Reads rewrite rules, which end with semicolons: `"name": pattern => replacement where conditions`. Throws
 * one ParseError for all errors of the text.
 */
export function parseRules(text: string, options: ParseRulesOptions = {}): readonly RewriteRule[] {
  checkOptions<ParseRulesOptions>('parseRules', options, { file: 'text', operators: 'operators' });
  const { file = 'rules', operators = CORE_OPERATORS } = options;
  const diagnostics = new Diagnostics(text, file);
  const tokens = tokenize(text, diagnostics);
  const rules: RewriteRule[] = [];
  for (let start = 0; tokens[start]?.kind !== 'end'; ) {
    const end = endOfRule(tokens, start);
    const cursor = new TokenCursor(tokens, start, end);
    try {
      if (start < end) rules.push(parseRule({ cursor, operators }, text, tokens[end]?.start));
    } catch (fault) {
      if (!(fault instanceof SyntaxFault)) throw fault;
      diagnostics.report(fault.token, fault.complaint);
    }
    start = tokens[end]?.kind === 'end' ? end : end + 1;
  }
  diagnostics.throwIfAny();
  return rules;
}

function endOfRule(tokens: readonly Token[], start: number): number {
  const length = tokens.slice(start).findIndex(({ kind, text }) => {
    return kind === 'end' || (kind === 'sign' && text === ';');
  });
  return start + length;
}

type Context = Omit<ReplacementContext, 'names'>;

/** `"name" "reason": pattern => replacement where conditions` */
function parseRule(context: Context, text: string, end = text.length): RewriteRule {
  const { cursor } = context;
  const first = cursor.peek();
  const title = takeTitle(context);
  const start = cursor.peek();
  const pattern = parseRulePattern(context);
  if (rootOperators(pattern) === undefined) {
    throw cursor.unexpected('a call of an operator', { token: start });
  }
  cursor.expect('=>');
  const inside = { ...context, names: namesOf(pattern) };
  const replacement = parseReplacement(inside);
  const types = cursor.accept('where') ? parseConditions(inside) : undefined;
  if (cursor.peek().kind !== 'end') throw cursor.unexpected('";", or where and conditions');
  const name = title.name ?? text.slice(first.start, end).replaceAll(/\s+/g, ' ').trim();
  return {
    name,
    pattern,
    ...(title.explains !== undefined && { explains: title.explains }),
    ...(types !== undefined && { types }),
    replace: (captures, rewriting) => replaced({ name, replacement }, captures, rewriting),
  };
}

function takeTitle({ cursor }: Context): { name?: string; explains?: string } {
  if (cursor.peek().kind !== 'string') return {};
  const name = cursor.next().text;
  const explains = cursor.peek().kind === 'string' ? { explains: cursor.next().text } : {};
  cursor.expect(':');
  return { name, ...explains };
}

/** `dtype(%x) == dtype(%y)`, `dtype(%x) in (float32, float16)`, `rank(%x) == 2`, `shape(%x) == shape(%y)`. */
function parseConditions(context: ReplacementContext): Readonly<Record<string, TypePattern>> {
  const { cursor } = context;
  const conditions = new Map<string, TypePattern>();
  do {
    const token = cursor.peek();
    const property = token.text;
    if (!['dtype', 'rank', 'shape'].includes(property) || !cursor.at('(', 1)) {
      throw cursor.unexpected('a condition on dtype(…), rank(…) or shape(…)', { token });
    }
    const name = takeWord(context);
    const condition = parseCondition(context, property);
    conditions.set(name, { ...conditions.get(name), ...condition });
  } while (cursor.accept(','));
  return Object.fromEntries(conditions);
}

function parseCondition(context: ReplacementContext, property: string): TypePattern {
  const { cursor } = context;
  if (property === 'dtype' && cursor.accept('in')) {
    return { dtypes: cursor.list('(', ')', () => takeDType(context)) };
  }
  cursor.expect('=');
  cursor.expect('=');
  if (cursor.at(property) && cursor.at('(', 1)) {
    const other = takeWord(context);
    if (property === 'dtype') return { dtypeOf: other };
    return property === 'rank' ? { rankOf: other } : { shapeOf: other };
  }
  if (property === 'dtype') return { dtypes: [takeDType(context)] };
  if (property === 'shape') throw cursor.unexpected('shape(…) of another expression');
  return { rank: Number(cursor.take('number', 'a rank').text) };
}

function takeDType({ cursor }: ReplacementContext): DType {
  const token = cursor.take('name', 'a dtype');
  if (isDType(token.text)) return token.text;
  throw cursor.unexpected('a dtype', { token });
}

/**
 * The replacement, where it has the type of what it replaces: a rule does not change what others rely on. Throws TypeCheckError, which names the rule, for calls that no operands of the match allow.
 */
function replaced(
  { name, replacement }: { readonly name: string; readonly replacement: Replacement },
  captures: Captures,
  context: RewriteContext,
): Expr | undefined {
  const made = makeReplacement(replacement, captures, context);
  if (made === undefined) return undefined;
  try {
    return haveSameType(made, captures.root, context.types) ? made : undefined;
  } catch (error) {
    if (!(error instanceof WeftError)) throw error;
    const message = `rewrite rule ${JSON.stringify(name)} makes what is not well-typed: ${error.message}`;
    throw new TypeCheckError(message, { cause: error });
  }
}
