import type { Pattern } from '../expr.ts';
import { type ExprContext, parseBinder } from './parse-binder.ts';
import { readHostNumber } from './parse-literal.ts';
import { sub, type Task } from '../task.ts';

/** `_`, `%x`, `Cons(%head, _)`, `Nil`, `#3`, `#0.5`, `(a, b)`; `(a)` is a. */
export function* parsePattern(context: ExprContext): Task<Pattern> {
  const { cursor } = context;
  const token = cursor.peek();
  if (token.kind === 'variable') {
    return { kind: 'var-pattern', variable: yield* sub(parseBinder(context)) };
  }
  if (cursor.accept('_')) return { kind: 'wildcard' };
  if (token.kind === 'int') return parseNumberPattern(context);
  if (cursor.at('(')) return yield* sub(parseTuplePattern(context));
  if (token.kind !== 'name' || !/^[A-Z]/.test(token.text)) {
    throw cursor.unexpected('a pattern such as Cons(%head, _)');
  }
  context.referTo('constructor', cursor.next());
  const fields = cursor.at('(')
    ? yield* sub(cursor.listTask('(', ')', () => parsePattern(context)))
    : [];
  return { kind: 'constructor-pattern', constructor: token.text, fields };
}

function parseNumberPattern({ cursor }: ExprContext): Pattern {
  const token = cursor.next();
  const { value, isInt } = readHostNumber(cursor, token);
  if (isInt) return { kind: 'int-pattern', value };
  if (Number.isNaN(value)) throw cursor.unexpected('a number: NaN equals nothing', { token });
  return { kind: 'float-pattern', value };
}

function* parseTuplePattern(context: ExprContext): Task<Pattern> {
  const { cursor } = context;
  const fields: Pattern[] = [];
  let isTuple = false;
  cursor.expect('(');
  while (!cursor.accept(')')) {
    fields.push(yield* sub(parsePattern(context)));
    if (cursor.accept(',')) isTuple = true;
    else if (!cursor.at(')')) throw cursor.unexpected('"," or ")"');
  }
  const [only] = fields;
  return only !== undefined && !isTuple ? only : { kind: 'tuple-pattern', fields };
}
