import type { Operator } from '../../ops/operator.ts';
import type { Operators } from '../../ops/operators.ts';
import { nearestName } from '../../core/nearest-name.ts';
import { parseAttribute } from '../ir/text/parse-literal.ts';
import type { Token } from '../ir/text/lexer.ts';
import type { TokenCursor } from '../ir/text/token-cursor.ts';
import {
  any,
  anyOrder,
  type AttributePattern,
  type CallPattern,
  type ConstantPattern,
  either,
  type ExprPattern,
  filled,
  type NumberPattern,
  once,
} from './expr-pattern.ts';

/** The tokens of a rule and the operators that it may name. */
export interface RuleContext {
  readonly cursor: TokenCursor;
  readonly operators: Operators;
}

/** The name of the whole match, in text `%root`. */
export const ROOT = 'root';

/** A pattern of an expression: `%x`, a call, a number, or one of the words for others. */
export function parseRulePattern(context: RuleContext): ExprPattern {
  const { cursor } = context;
  if (cursor.peek().kind === 'variable') {
    const { text } = takeCapture(context);
    return cursor.accept('=') ? withName(parseRulePattern(context), text, context) : any(text);
  }
  if (cursor.peek().kind === 'number' || cursor.at('-'))
    return filled({ equal: takeNumber(context) });
  const word = cursor.take('name', 'a pattern: %x, a number or a call');
  const parse = cursor.at('(') ? WORDS[word.text] : undefined;
  return parse === undefined ? parseCall(context, word) : parse(context);
}

type Parse = (context: RuleContext) => ExprPattern;

const WORDS: Readonly<Record<string, Parse | undefined>> = {
  commutes: (context) => {
    const pattern = inParentheses(context, takeCall);
    const two = pattern.args.length === 2 && pattern.isVariadic !== true;
    if (two) return { ...pattern, isCommutative: true };
    throw context.cursor.unexpected('a call of two operands in commutes(…)', {
      got: `one of ${pattern.args.length}`,
    });
  },
  once: (context) => once(inParentheses(context, takeCall)),
  either: ({ cursor, operators }) =>
    either(...cursor.list('(', ')', () => parseRulePattern({ cursor, operators }))),
  any_order: (context) => {
    const { cursor } = context;
    cursor.expect('(');
    const op = takeOperator(context, cursor.take('name', 'an operator')).name;
    cursor.expect(',');
    const [a, b, c] = [0, 1, 2].map((i) => {
      if (i > 0) cursor.expect(',');
      return parseRulePattern(context);
    });
    cursor.expect(')');
    if (a !== undefined && b !== undefined && c !== undefined) return anyOrder(op, [a, b, c]);
    throw cursor.unexpected('three operands');
  },
  constant: (context) => inParentheses(context, takeConstant),
  single: (context) => ({ ...inParentheses(context, takeConstant), isSingle: true }),
  near: (context) => filled(takePredicate(context, 'near')),
  at_most: (context) => filled(takePredicate(context, 'at_most')),
};

function inParentheses<T>(context: RuleContext, parse: (context: RuleContext) => T): T {
  context.cursor.expect('(');
  const result = parse(context);
  context.cursor.expect(')');
  return result;
}

function takeCall(context: RuleContext): CallPattern {
  const token = context.cursor.peek();
  const pattern = parseRulePattern(context);
  if (pattern.kind === 'call') return pattern;
  throw context.cursor.unexpected('a call', { token });
}

/** `%c`, `2`, `%c = 2`, `near(0.5)`, or nothing. */
function takeConstant(context: RuleContext): ConstantPattern {
  const { cursor } = context;
  if (cursor.at(')')) return filled();
  const token = cursor.peek();
  if (token.kind === 'variable' && cursor.at(')', 1)) {
    return filled(undefined, takeCapture(context).text);
  }
  const pattern = parseRulePattern(context);
  if (pattern.kind === 'constant') return pattern;
  throw cursor.unexpected('a number, near(…), at_most(…), or the name of a constant', { token });
}

function takePredicate(context: RuleContext, kind: 'near' | 'at_most'): NumberPattern {
  const value = inParentheses(context, takeNumber);
  return kind === 'near' ? { near: value } : { atMost: value };
}

function takeNumber({ cursor }: RuleContext): number {
  const token = cursor.peek();
  const value = parseAttribute(cursor);
  if (typeof value === 'number') return value;
  throw cursor.unexpected('a number', { token });
}

/** A variable that names a capture; the whole match has its name already. */
function takeCapture({ cursor }: RuleContext) {
  const token = cursor.take('variable', 'a name such as %x');
  if (token.text !== ROOT) return token;
  throw cursor.unexpected('another name: %root is the whole match', { token });
}

function withName(pattern: ExprPattern, name: string, { cursor }: RuleContext): ExprPattern {
  if (pattern.kind === 'call' || pattern.kind === 'constant') return { ...pattern, name };
  throw cursor.unexpected('a call or a constant to name');
}

/** Throws a fault that names the nearest one for what is no operator. */
export function takeOperator({ cursor, operators }: RuleContext, token: Token): Operator {
  const name = token.text;
  const op = operators.get(name);
  if (op !== undefined) return op;
  const remedy = nearestName(name, operators.names());
  throw cursor.unexpected('an operator', { token, ...(remedy && { remedy }) });
}

function parseCall(context: RuleContext, token: Token): CallPattern {
  const { cursor } = context;
  const op = takeOperator(context, token);
  const args: ExprPattern[] = [];
  const attributes: Record<string, AttributePattern> = {};
  let isVariadic = false as boolean;
  cursor.list('(', ')', () => {
    if (cursor.accept('*')) isVariadic = true;
    else if (startsAttribute(cursor)) {
      const attribute = takeAttributeName(context, op);
      attributes[attribute] = parseAttributePattern(context);
    } else args.push(parseRulePattern(context));
  });
  requireOperandCount(context, op, args.length);
  const hasAttributes = Object.keys(attributes).length > 0;
  return {
    kind: 'call',
    op: op.name,
    args,
    ...(hasAttributes ? { attributes } : {}),
    ...(isVariadic && { isVariadic: true as const }),
  };
}

/** `name =` or `name ? =` */
export function startsAttribute(cursor: TokenCursor): boolean {
  const isName = cursor.peek().kind === 'name';
  return isName && (cursor.at('=', 1) || (cursor.at('?', 1) && cursor.at('=', 2)));
}

export function takeAttributeName({ cursor }: RuleContext, op: Operator): string {
  const token = cursor.take('name', 'an attribute');
  const names = Object.keys(op.attributes);
  if (names.includes(token.text)) return token.text;
  const remedy = nearestName(token.text, names);
  const expected = `an attribute of ${op.name}: ${names.join(', ') || 'it has none'}`;
  throw cursor.unexpected(expected, { token, ...(remedy && { remedy }) });
}

export function requireOperandCount(
  { cursor }: RuleContext,
  { name, inputs }: Operator,
  count: number,
): void {
  const isVariadic = inputs.at(-1)?.variadic === true;
  if (isVariadic || count <= inputs.length) return;
  const got = `${count} operands of ${name}`;
  throw cursor.unexpected(`at most ${inputs.length}`, { got });
}

/** `= %p`, `= 3`, `= every(0)`, `= one_of("a", "b")`; `?` before it: the attribute may be left out. */
function parseAttributePattern({ cursor }: RuleContext): AttributePattern {
  const optional = cursor.accept('?') ? { isOptional: true as const } : {};
  cursor.expect('=');
  if (cursor.peek().kind === 'variable') return { name: cursor.next().text, ...optional };
  if (cursor.at('every') && cursor.at('(', 1)) {
    cursor.next();
    const [every, ...others] = cursor.list('(', ')', () => Number(parseAttribute(cursor)));
    if (every === undefined || others.length > 0) throw cursor.unexpected('one number in every(…)');
    return { every, ...optional };
  }
  if (cursor.at('one_of') && cursor.at('(', 1)) {
    cursor.next();
    return { oneOf: cursor.list('(', ')', () => parseAttribute(cursor)), ...optional };
  }
  return { oneOf: [parseAttribute(cursor)], ...optional };
}
