import { parseAttribute, parseTensorLiteral, startsLiteral } from '../ir/parse-literal.ts';
import type { Token } from '../ir/lexer.ts';
import { nearestName } from '../../core/nearest-name.ts';
import {
  requireOperandCount,
  ROOT,
  type RuleContext,
  startsAttribute,
  takeAttributeName,
  takeOperator,
} from './parse-rule-pattern.ts';
import type { AttributeSource, CallReplacement, Replacement } from './replacement.ts';
import type { PatternNames } from './rule-names.ts';

/** As {@link RuleContext}, with the names that the pattern of the rule has. */
export interface ReplacementContext extends RuleContext {
  readonly names: PatternNames;
}

/** Reads the replacement of a match: `%x`, a number or literal, or a call. */
export function parseReplacement(context: ReplacementContext): Replacement {
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
export function takeWord(context: ReplacementContext): string {
  const { cursor } = context;
  cursor.next();
  cursor.expect('(');
  const name = takeExprName(context);
  cursor.expect(')');
  return name;
}

/** The name of an expression that the match has. */
export function takeExprName(context: ReplacementContext): string {
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
