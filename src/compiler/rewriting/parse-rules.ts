import { checkOptions } from '../../core/check-options.ts';
import { type DType, isDType } from '../../core/tensor/dtype.ts';
import { TypeCheckError, WeftError } from '../../core/errors.ts';
import { nearestName } from '../../core/nearest-name.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import type { Operators } from '../../ops/operators.ts';
import { Diagnostics } from '../ir/diagnostics.ts';
import type { Expr } from '../ir/expr.ts';
import { type Token, tokenize } from '../ir/text/lexer.ts';
import { parseAttribute, parseTensorLiteral, startsLiteral } from '../ir/text/parse-literal.ts';
import { SyntaxFault, TokenCursor } from '../ir/text/token-cursor.ts';
import type { Captures } from './captures.ts';
import { rootOperators, type TypePattern, type ExprPattern } from './expr-pattern.ts';
import { haveSameType } from './has-types.ts';
import {
  parseRulePattern,
  requireOperandCount,
  ROOT,
  type RuleContext,
  startsAttribute,
  takeAttributeName,
  takeOperator,
} from './parse-rule-pattern.ts';
import {
  type AttributeSource,
  type CallReplacement,
  makeReplacement,
  type Replacement,
} from './replacement.ts';
import type { RewriteContext, RewriteRule } from './rewrite-rule.ts';

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

/** As {@link RuleContext}, with the names that the pattern of the rule has. */
interface ReplacementContext extends RuleContext {
  readonly names: PatternNames;
}

/** Reads the replacement of a match: `%x`, a number or literal, or a call. */
function parseReplacement(context: ReplacementContext): Replacement {
  const { cursor } = context;
  if (cursor.peek().kind === 'variable') return { kind: 'capture', name: takeExprName(context) };
  if (startsLiteral(cursor)) {
    const number = cursor.peek(cursor.at('-') ? 1 : 0);
    // A number without a suffix has the dtype of the match.
    if (number.kind === 'number' && /^[\d.]+(?:[eE][+-]?\d+)?$/.test(number.text)) {
      return { kind: 'number', value: Number(parseAttribute(cursor)) };
    }
    return { kind: 'tensor', value: parseTensorLiteral(cursor) };
  }
  return parseCall(context, cursor.take('name', 'a replacement: %x, a number or a call'));
}

function parseCall(context: ReplacementContext, token: Token): CallReplacement {
  const { cursor } = context;
  const op = takeOperator(context, token);
  const args: Replacement[] = [];
  const copied: string[] = [];
  const attributes: Record<string, AttributeSource> = {};
  cursor.list('(', ')', () => {
    if (startsAttribute(cursor)) {
      const attribute = takeAttributeName(context, op);
      cursor.expect('=');
      attributes[attribute] = parseSource(context);
    } else if (cursor.at('attributes') && cursor.at('(', 1)) {
      copied.push(takeWord(context));
    } else args.push(parseReplacement(context));
  });
  requireOperandCount(context, op, args.length);
  return { kind: 'call', op: op.name, args, attributes, copied };
}

/** `%p`, `shape(%x)`, `dtype(%x)`, or a value. */
function parseSource(context: ReplacementContext): AttributeSource {
  const { cursor, names } = context;
  const token = cursor.peek();
  if (token.kind === 'variable') {
    cursor.next();
    requireName(context, token, names.attributes);
    return { from: 'attribute', name: token.text };
  }
  for (const from of ['shape', 'dtype'] as const) {
    if (cursor.at(from) && cursor.at('(', 1)) return { from, name: takeWord(context) };
  }
  return { from: 'value', value: parseAttribute(cursor) };
}

/** The name in `word(%name)`. */
function takeWord(context: ReplacementContext): string {
  const { cursor } = context;
  cursor.next();
  cursor.expect('(');
  const name = takeExprName(context);
  cursor.expect(')');
  return name;
}

function takeExprName(context: ReplacementContext): string {
  const token = context.cursor.take('variable', 'a name of the pattern, such as %x');
  if (token.text !== ROOT) requireName(context, token, context.names.exprs);
  return token.text;
}

function requireName({ cursor }: RuleContext, token: Token, names: ReadonlySet<string>): void {
  if (names.has(token.text)) return;
  const remedy = nearestName(token.text, [...names], '%');
  const expected = 'a name that every match of the pattern has';
  throw cursor.unexpected(expected, { token, ...(remedy && { remedy }) });
}

/** The names that a pattern gives in every match. */
interface PatternNames {
  /** Names of expressions that every match has. */
  readonly exprs: ReadonlySet<string>;
  readonly attributes: ReadonlySet<string>;
}

/** The names that whatever a pattern fits has. Those of one alternative alone are not among them. */
function namesOf(pattern: ExprPattern): PatternNames {
  switch (pattern.kind) {
    case 'any':
      return { exprs: new Set([pattern.name]), attributes: new Set() };
    case 'constant':
      return { exprs: named(pattern.name), attributes: new Set() };
    case 'either': {
      const [first, ...others] = pattern.patterns.map(namesOf);
      const inAll = (of: (names: PatternNames) => ReadonlySet<string>): Set<string> =>
        new Set(
          [...(first ? of(first) : [])].filter((name) => others.every((o) => of(o).has(name))),
        );
      return { exprs: inAll(({ exprs }) => exprs), attributes: inAll((names) => names.attributes) };
    }
    case 'call': {
      const inner = pattern.args.map(namesOf);
      const own = Object.values(pattern.attributes ?? {});
      const kept = own.flatMap(({ name, isOptional }) =>
        name === undefined || isOptional === true ? [] : [name],
      );
      return {
        exprs: new Set([...named(pattern.name), ...inner.flatMap(({ exprs }) => [...exprs])]),
        attributes: new Set([...kept, ...inner.flatMap(({ attributes }) => [...attributes])]),
      };
    }
    default:
      return pattern satisfies never;
  }
}

function named(name: string | undefined): Set<string> {
  return new Set(name === undefined ? [] : [name]);
}
