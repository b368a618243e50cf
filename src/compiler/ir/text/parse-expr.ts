import type { Attributes, AttributeValue } from '../../../core/contracts/primitive-function.ts';
import { call } from '../build.ts';
import {
  type CallExpr,
  type Clause,
  type Expr,
  type FunctionAttributes,
  type FunctionExpr,
  type LetExpr,
  ON_DEVICE,
  type Span,
  type VarExpr,
} from '../expr.ts';
import type { Token } from './lexer.ts';
import { nearestName } from '../../../core/nearest-name.ts';
import {
  define,
  defineUnknown,
  type ExprContext,
  parseBinder,
  parseVariable,
  spanAt,
} from './parse-binder.ts';
import {
  parseAttribute,
  parseTensorLiteral,
  readHostNumber,
  startsLiteral,
} from './parse-literal.ts';
import { parseFunctionAttribute } from './parse-function-attribute.ts';
import { parsePattern } from './parse-pattern.ts';
import { parseType, parseTypeParams } from './parse-type.ts';
import { FLOAT, SCALAR_OPERATORS, STOP } from '../operators/scalar-operators.ts';
import { sub, type Task } from '../task.ts';
import { describeToken, SyntaxFault } from './token-cursor.ts';

const KEYWORDS = new Set(['def', 'let', 'else', 'type', 'metadata', '_']);

/** Reads an expression: what it begins with, then calls and projections of it. */
function* parseExpr(context: ExprContext): Task<Expr> {
  const { cursor } = context;
  const start = cursor.peek();
  let expr = yield* sub(parsePrimary(context));
  for (;;) {
    if (cursor.at('(') || cursor.at('<')) {
      expr = yield* sub(parseCall(context, expr, start));
    } else if (cursor.peek().kind === 'projection') {
      const index = Number(cursor.next().text);
      expr = { kind: 'projection', tuple: expr, index, span: spanAt(context, start) };
    } else {
      return asValue(context, expr);
    }
  }
}

/** `Nil` is short for `Nil()`. */
function asValue(context: ExprContext, expr: Expr): Expr {
  if (expr.kind !== 'constructor' || !context.isNullary(expr.name)) return expr;
  return { kind: 'call', callee: expr, args: [], attributes: {}, ...spanOfNode(expr.span) };
}

function spanOfNode(span: Span | undefined): { span?: Span } {
  return span === undefined ? {} : { span };
}

function* parsePrimary(context: ExprContext): Task<Expr> {
  const { cursor } = context;
  const token = cursor.peek();
  const span = spanAt(context, token);
  if (token.kind === 'variable') return variableAt(context);
  if (token.kind === 'global') {
    context.referTo('global', cursor.next());
    return { kind: 'global', name: token.text, span };
  }
  if (token.kind === 'int') {
    cursor.next();
    return hostNumber(context, token);
  }
  if (cursor.at('(')) return yield* sub(parseParentheses(context));
  if (cursor.at('{')) return yield* sub(parseBlock(context));
  if (startsLiteral(cursor)) return { kind: 'constant', value: parseTensorLiteral(cursor), span };
  if (token.kind !== 'name' || KEYWORDS.has(token.text)) throw cursor.unexpected('an expression');
  if (token.text === 'if') return yield* sub(parseIf(context));
  if (token.text === 'match') return yield* sub(parseMatch(context));
  if (token.text === 'fn') return yield* sub(parseFunction(context));
  if (token.text === 'meta' && cursor.at('[', 1)) return metaAt(context);
  return nameAt(context);
}

/** `#3`, an int, or `#0.5`, a float. */
function hostNumber(context: ExprContext, token: Token): Expr {
  const span = spanAt(context, token);
  const { value, isInt } = readHostNumber(context.cursor, token);
  return isInt ? { kind: 'int', value, span } : call(FLOAT, [], { value }, span);
}

function variableAt(context: ExprContext): Expr {
  const token = context.cursor.next();
  const known = context.variables.lookup(token.text);
  if (known !== undefined) return known;
  const names = context.variables.names();
  context.diagnostics.report(token, {
    got: describeToken(token),
    expected: 'a variable that is in scope',
    remedy: nearestName(token.text, names, '%'),
  });
  return defineUnknown(context, token);
}

/** `meta[0]` */
function metaAt(context: ExprContext): Expr {
  const { cursor } = context;
  const token = cursor.next();
  cursor.expect('[');
  const number = cursor.take('number', 'the number of a tensor of the metadata section');
  cursor.expect(']');
  const value = context.metaTensor(Number(number.text));
  if (value !== undefined) return { kind: 'constant', value, span: spanAt(context, token) };
  context.diagnostics.report(token, {
    got: `meta[${number.text}]`,
    expected: 'a tensor that the metadata section has',
  });
  return { kind: 'var', name: token.text };
}

/** An operator, or a constructor, whose names begin with a capital. */
function nameAt(context: ExprContext): Expr {
  const token = context.cursor.next();
  if (/^[A-Z]/.test(token.text)) {
    context.referTo('constructor', token);
    return { kind: 'constructor', name: token.text, span: spanAt(context, token) };
  }
  if (token.text === 'fatal' && !context.operators.has('fatal')) {
    return { kind: 'operator', name: STOP };
  }
  if (!context.operators.has(token.text) && !SCALAR_OPERATORS.has(token.text)) {
    context.diagnostics.report(token, {
      got: describeToken(token),
      expected: 'an operator',
      remedy: nearestName(token.text, [...context.operators.names(), ...SCALAR_OPERATORS.keys()]),
    });
  }
  return { kind: 'operator', name: token.text };
}

/** `()`, `(a,)`, `(a, b)`; `(a)` is a. */
function* parseParentheses(context: ExprContext): Task<Expr> {
  const { cursor } = context;
  const start = cursor.peek();
  const fields: Expr[] = [];
  let isTuple = false;
  cursor.expect('(');
  while (!cursor.accept(')')) {
    fields.push(yield* sub(parseExpr(context)));
    if (cursor.accept(',')) isTuple = true;
    else if (!cursor.at(')')) throw cursor.unexpected('"," or ")"');
  }
  const [only] = fields;
  if (only !== undefined && !isTuple) return only;
  return { kind: 'tuple', fields, span: spanAt(context, start) };
}

/** `<A, B>(a, b, axis=1)` after the callee. */
function* parseCall(context: ExprContext, callee: Expr, start: Token): Task<CallExpr> {
  const { cursor } = context;
  const typeArguments = cursor.at('<')
    ? yield* sub(cursor.listTask('<', '>', () => parseType(context)))
    : undefined;
  const args: Expr[] = [];
  const attributes = new Map<string, AttributeValue>();
  yield* sub(
    cursor.listTask('(', ')', function* () {
      if (!cursor.at('=', 1)) args.push(yield* sub(parseExpr(context)));
      else parseAttributeOf(context, callee, attributes);
    }),
  );
  return {
    kind: 'call',
    callee,
    args,
    ...withoutDevice(context, Object.fromEntries(attributes), { callee, start }),
    ...(typeArguments === undefined ? {} : { typeArguments }),
    span: spanAt(context, start),
  };
}

/** Takes the annotation with a device, which every kernel may have, out of the attributes. */
function withoutDevice(
  { diagnostics }: ExprContext,
  { [ON_DEVICE]: device, ...attributes }: Attributes,
  { callee, start }: { readonly callee: Expr; readonly start: Token },
): Pick<CallExpr, 'attributes' | 'onDevice'> {
  if (device === undefined) return { attributes };
  if (callee.kind === 'operator' && SCALAR_OPERATORS.has(callee.name)) {
    const got = `${ON_DEVICE} for ${callee.name}`;
    diagnostics.report(start, { got, expected: 'it only for operators on tensors' });
  } else if (device === 'host' || device === 'session') {
    return { attributes, onDevice: device };
  } else {
    const got = `${ON_DEVICE}=${JSON.stringify(device)}`;
    diagnostics.report(start, { got, expected: '"host" or "session"' });
  }
  return { attributes };
}

function parseAttributeOf(
  { cursor, diagnostics }: ExprContext,
  callee: Expr,
  attributes: Map<string, AttributeValue>,
): void {
  const token = cursor.takeName('the name of an attribute');
  cursor.expect('=');
  const isKnown = attributes.has(token.text);
  attributes.set(token.text, parseAttribute(cursor));
  if (isKnown) {
    diagnostics.report(token, { got: `a second ${token.text}`, expected: 'each attribute once' });
  } else if (callee.kind !== 'operator') {
    const remedy = 'Only operators have attributes.';
    diagnostics.report(token, { got: describeToken(token), expected: 'an argument', remedy });
  }
}

/** `if (c) { a } else { b }`, `if (c) { a } else if (d) { b } else { … }` */
function* parseIf(context: ExprContext): Task<Expr> {
  const { cursor } = context;
  const start = cursor.peek();
  cursor.expect('if');
  cursor.expect('(');
  const condition = yield* sub(parseExpr(context));
  cursor.expect(')');
  const thenBranch = yield* sub(parseBlock(context));
  cursor.expect('else');
  const elseBranch = yield* sub(cursor.at('if') ? parseIf(context) : parseBlock(context));
  return { kind: 'if', condition, thenBranch, elseBranch, span: spanAt(context, start) };
}

/** `match (e) { pattern => e, … }`; `match?` need not cover every value. */
function* parseMatch(context: ExprContext): Task<Expr> {
  const { cursor } = context;
  const start = cursor.peek();
  cursor.expect('match');
  const complete = !cursor.accept('?');
  cursor.expect('(');
  const value = yield* sub(parseExpr(context));
  cursor.expect(')');
  const clauses = yield* sub(cursor.listTask('{', '}', () => parseClause(context)));
  return { kind: 'match', value, clauses, complete, span: spanAt(context, start) };
}

function* parseClause(context: ExprContext): Task<Clause> {
  context.variables.enter();
  try {
    const pattern = yield* sub(parsePattern(context));
    context.cursor.expect('=>');
    const body = yield* sub(parseExpr(context));
    const { cursor } = context;
    if (!cursor.at(',') && !cursor.at('}')) throw cursor.unexpected('"," or "}"');
    return { pattern, body };
  } catch (fault) {
    recover(context, fault, { semicolon: false });
    return { pattern: { kind: 'wildcard' }, body: { kind: 'var', name: '' } };
  } finally {
    context.variables.exit();
  }
}

/** `fn<A>(%x: A) -> A { … }` */
function* parseFunction(context: ExprContext): Task<FunctionExpr> {
  const start = context.cursor.next();
  return yield* sub(parseFunctionAfter(context, start));
}

/** A function from its type parameters on. */
export function* parseFunctionAfter(context: ExprContext, start: Token): Task<FunctionExpr> {
  const { cursor } = context;
  context.typeParams.enter();
  context.variables.enter();
  try {
    const typeParams = parseTypeParams(context);
    const params: VarExpr[] = [];
    const attributes: FunctionAttributes = {};
    yield* sub(
      cursor.listTask('(', ')', function* () {
        if (cursor.peek().kind !== 'variable')
          Object.assign(attributes, parseFunctionAttribute(context));
        else params.push(yield* sub(parseBinder(context)));
      }),
    );
    const resultType = cursor.accept('->') ? yield* sub(parseType(context)) : undefined;
    const body = yield* sub(parseBlock(context));
    return {
      kind: 'function',
      ...(typeParams.length > 0 ? { typeParams } : {}),
      params,
      ...(resultType === undefined ? {} : { resultType }),
      body,
      attributes,
      span: spanAt(context, start),
    };
  } finally {
    context.variables.exit();
    context.typeParams.exit();
  }
}

/** `{ statements result }`, a scope of its own. */
function* parseBlock(context: ExprContext): Task<Expr> {
  const { cursor } = context;
  cursor.expect('{');
  context.variables.enter();
  try {
    const result = yield* sub(parseBody(context));
    cursor.expect('}');
    return result;
  } finally {
    context.variables.exit();
  }
}

/** Statements and a result, up to a closing brace or the end. */
export function* parseBody(context: ExprContext): Task<Expr> {
  const { cursor } = context;
  const lets: Omit<LetExpr, 'body'>[] = [];
  let result: Expr | undefined;
  while (!cursor.at('}') && cursor.peek().kind !== 'end') {
    try {
      const parsed = yield* sub(parseStatement(context, lets));
      if (parsed === undefined) continue;
      result = parsed;
      if (!cursor.at('}') && cursor.peek().kind !== 'end') {
        throw cursor.unexpected('the end of the block after its result');
      }
    } catch (fault) {
      recover(context, fault);
      result ??= { kind: 'var', name: '' };
    }
  }
  if (result === undefined) {
    const remedy = 'A block ends with an expression without a semicolon.';
    throw cursor.unexpected('the result of the block', { remedy });
  }
  return lets.reduceRight<Expr>((body, binding) => ({ ...binding, body }), result);
}

/** `%x = e;` names a node, `let %x = e;` computes here; else the result, which is returned. */
function* parseStatement(
  context: ExprContext,
  lets: Omit<LetExpr, 'body'>[],
): Task<Expr | undefined> {
  const { cursor } = context;
  const token = cursor.peek();
  if (token.kind === 'variable' && cursor.at('=', 1)) {
    cursor.next();
    cursor.next();
    try {
      define(context, token, yield* sub(parseExpr(context)));
    } catch (fault) {
      if (fault instanceof SyntaxFault) defineUnknown(context, token);
      throw fault;
    }
  } else if (cursor.accept('let')) {
    const { variable, token: name } = yield* sub(parseVariable(context));
    try {
      cursor.expect('=');
      // A function may call itself by its name.
      const isFunction = cursor.at('fn');
      if (isFunction) define(context, name, variable);
      const value = yield* sub(parseExpr(context));
      lets.push({ kind: 'let', variable, value, span: spanAt(context, token) });
      if (!isFunction) define(context, name, variable);
    } catch (fault) {
      if (fault instanceof SyntaxFault) defineUnknown(context, name);
      throw fault;
    }
  } else {
    return yield* sub(parseExpr(context));
  }
  endStatement(context);
  return undefined;
}

/** A semicolon. Without one, what begins a line is taken for the next statement. */
function endStatement({ cursor, diagnostics }: ExprContext): void {
  if (cursor.accept(';')) return;
  const { token, complaint } = cursor.unexpected('";"');
  const isNewLine = token.line > cursor.lastLine && token.kind !== 'sign';
  if (!isNewLine && !cursor.at('}')) throw new SyntaxFault(token, complaint);
  diagnostics.report(token, complaint);
}

/**
 * Reports a syntax error and skips to the end of the block or match, or to after the next semicolon
 * of the block.
 */
function recover(
  { cursor, diagnostics, variables }: ExprContext,
  fault: unknown,
  { semicolon = true } = {},
): void {
  if (!(fault instanceof SyntaxFault)) throw fault;
  diagnostics.report(fault.token, fault.complaint);
  for (let depth = 0; cursor.peek().kind !== 'end'; ) {
    if (depth === 0 && cursor.at('}')) return;
    const isBinding = depth === 0 && cursor.peek().kind === 'variable' && cursor.at('=', 1);
    const token = cursor.next();
    if (isBinding) variables.assume(token.text, { kind: 'var', name: token.text });
    if (token.kind !== 'sign') continue;
    if (token.text === ';' && depth === 0 && semicolon) return;
    if (token.text === '{') depth++;
    else if (token.text === '}') depth--;
  }
}
