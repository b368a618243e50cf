import { DIM_OPERATORS, type Dim, type DimOperator } from '../../../core/dims/dim.ts';
import { isTooLong, MAX_DIM_OPERATIONS } from '../../../core/dims/dim-length.ts';
import { type DType, isDType } from '../../../core/tensor/dtype.ts';
import type { Bindings } from '../walk/bindings.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { Token } from './lexer.ts';
import { sub, type Task } from '../task.ts';
import type { TokenCursor } from './token-cursor.ts';
import {
  ANY_TYPE,
  depthOfType,
  type FunctionTypeNode,
  MAX_TYPE_DEPTH,
  FLOAT_TYPE,
  INT_TYPE,
  opaqueType,
  SHAPE_TYPE,
  SHAPE_HEAP_TYPE,
  STORAGE_TYPE,
  type Type,
} from '../type.ts';

export interface TypeContext {
  readonly cursor: TokenCursor;
  readonly diagnostics: Diagnostics;
  readonly typeParams: Bindings<true>;
  /** Called for each algebraic data type that is named, which may be defined later. */
  refer(reference: { readonly token: Token; readonly argumentCount: number }): void;
}

export function* parseType(context: TypeContext): Task<Type> {
  const { cursor } = context;
  const token = cursor.peek();
  const type = yield* sub(parsePart(context));
  if (depthOfType(type) <= MAX_TYPE_DEPTH) return type;
  const got = `a type more than ${MAX_TYPE_DEPTH} levels deep`;
  throw cursor.unexpected('one of fewer levels', { token, got });
}

function* parsePart(context: TypeContext): Task<Type> {
  const { cursor } = context;
  const token = cursor.peek();
  if (cursor.at('(')) return yield* sub(parseTupleType(context));
  if (token.kind !== 'name' && token.kind !== 'string') throw cursor.unexpected('a type');
  if (token.kind === 'name') {
    if (token.text === 'Tensor') return yield* sub(parseTensorType(context));
    if (token.text === 'fn') return yield* sub(parseFunctionType(context));
    if (cursor.accept('int')) return INT_TYPE;
    if (cursor.accept('float')) return FLOAT_TYPE;
    if (cursor.accept('any')) return ANY_TYPE;
    if (cursor.accept('shape')) return SHAPE_TYPE;
    if (cursor.accept('storage')) return STORAGE_TYPE;
    if (cursor.accept('shape_heap')) return SHAPE_HEAP_TYPE;
    if (token.text === 'Opaque' && cursor.at('[', 1)) return parseOpaqueType(cursor);
  }
  return yield* sub(parseNamedType(context));
}

/** `Opaque[database]` */
function parseOpaqueType(cursor: TokenCursor): Type {
  cursor.expect('Opaque');
  cursor.expect('[');
  const { text } = cursor.take('name', 'the name of an opaque type, such as database');
  cursor.expect(']');
  return opaqueType(text);
}

/** `<A, B>`, or nothing. The names are put into the current scope. */
export function parseTypeParams(context: TypeContext, [open, close] = ['<', '>']): string[] {
  const { cursor } = context;
  if (!cursor.at(open)) return [];
  return cursor.list(open, close, () => {
    const token = cursor.takeName('the name of a type parameter');
    if (!context.typeParams.define(token.text, true)) {
      context.diagnostics.report(token, {
        got: `a second type parameter ${token.text}`,
        expected: 'each name once',
      });
    }
    return token.text;
  });
}

function* parseNamedType(context: TypeContext): Task<Type> {
  const { cursor } = context;
  const token = cursor.next();
  const isParam = context.typeParams.lookup(token.text) !== undefined;
  if (isParam) return { kind: 'type-var', name: token.text };
  const args = cursor.at('[')
    ? yield* sub(cursor.listTask('[', ']', () => parsePart(context)))
    : [];
  context.refer({ token, argumentCount: args.length });
  return { kind: 'adt', name: token.text, args };
}

/** `()`, `(A,)`, `(A, B)`; `(A)` is A. */
function* parseTupleType(context: TypeContext): Task<Type> {
  const { cursor } = context;
  const fields: Type[] = [];
  let isTuple = false;
  cursor.expect('(');
  while (!cursor.accept(')')) {
    fields.push(yield* sub(parsePart(context)));
    if (cursor.accept(',')) isTuple = true;
    else if (!cursor.at(')')) throw cursor.unexpected('"," or ")"');
  }
  const [only] = fields;
  return only !== undefined && !isTuple ? only : { kind: 'tuple', fields };
}

function* parseFunctionType(context: TypeContext): Task<FunctionTypeNode> {
  const { cursor } = context;
  cursor.expect('fn');
  context.typeParams.enter();
  try {
    const typeParams = parseTypeParams(context);
    const params = yield* sub(cursor.listTask('(', ')', () => parsePart(context)));
    cursor.expect('->');
    const result = yield* sub(parsePart(context));
    return { kind: 'function', ...(typeParams.length > 0 ? { typeParams } : {}), params, result };
  } finally {
    context.typeParams.exit();
  }
}

/** `Tensor[(n, 3), float32]` */
function* parseTensorType({ cursor }: TypeContext): Task<Type> {
  cursor.expect('Tensor');
  cursor.expect('[');
  if (cursor.at('?')) {
    const remedy =
      'A type says the rank, such as (?, ?). A function for tensors of any rank is polymorphic: fn<A>.';
    throw cursor.unexpected('dimensions in parentheses', { remedy });
  }
  const token = cursor.peek();
  const shape = yield* sub(cursor.listTask('(', ')', () => parseDim(cursor)));
  if (shape.some((dim) => isTooLong(dim))) {
    const got = `a dimension of more than ${MAX_DIM_OPERATIONS} operations`;
    throw cursor.unexpected('a shorter one', { token, got });
  }
  cursor.expect(',');
  const dtype = parseDType(cursor);
  cursor.expect(']');
  return { kind: 'tensor', dtype, shape };
}

function parseDType(cursor: TokenCursor): DType {
  const token = cursor.takeName('a dtype such as float32');
  if (isDType(token.text)) return token.text;
  throw cursor.unexpected('a dtype such as float32', { token });
}

/** Operators that stand between operands, the loosest first. */
const PRECEDENCE: readonly Readonly<Record<string, DimOperator>>[] = [
  { '+': 'add', '-': 'sub' },
  { '*': 'mul', '//': 'floordiv', '%': 'mod' },
];

/** `n`, `n + 1`, `max(n, 2)`, `?` */
export function* parseDim(cursor: TokenCursor, level = 0): Task<Dim> {
  const operators = PRECEDENCE[level];
  if (operators === undefined) return yield* sub(parseDimTerm(cursor));
  let left = yield* sub(parseDim(cursor, level + 1));
  for (;;) {
    const { kind, text } = cursor.peek();
    if (kind === 'variable') throw cursor.unexpected('a space after the % of a remainder');
    const op = kind === 'sign' && Object.hasOwn(operators, text) ? operators[text] : undefined;
    if (op === undefined) return left;
    cursor.next();
    const token = cursor.peek();
    left = dividable(cursor, { op, left, right: yield* sub(parseDim(cursor, level + 1)) }, token);
  }
}

/** Throws for a division by the number 0. */
function dividable(
  cursor: TokenCursor,
  dim: Extract<Dim, { readonly op: DimOperator }>,
  token: Token,
): Dim {
  const isDivision = dim.op === 'floordiv' || dim.op === 'mod';
  if (!isDivision || dim.right !== 0) return dim;
  throw cursor.unexpected('a divisor other than 0', { token, got: 'a division by 0' });
}

function* parseDimTerm(cursor: TokenCursor): Task<Dim> {
  const { kind, text } = cursor.peek();
  if (cursor.accept('?')) return '?';
  if (cursor.at('//')) {
    const remedy = 'Among dimensions // divides; a comment there is /* … */.';
    throw cursor.unexpected('a dimension', { remedy });
  }
  if (cursor.accept('(')) {
    const dim = yield* sub(parseDim(cursor));
    cursor.expect(')');
    return dim;
  }
  if (kind === 'number' || cursor.at('-')) return parseInteger(cursor, 'a dimension');
  const op = DIM_OPERATORS.find((name) => name === text);
  if (kind === 'name' && op !== undefined && cursor.at('(', 1)) {
    cursor.next();
    return yield* sub(parseDimCall(cursor, op));
  }
  return cursor.takeName('a dimension').text;
}

/** `max(n, 2)` after its name. */
function* parseDimCall(cursor: TokenCursor, op: DimOperator): Task<Dim> {
  cursor.expect('(');
  const left = yield* sub(parseDim(cursor));
  cursor.expect(',');
  const token = cursor.peek();
  const right = yield* sub(parseDim(cursor));
  cursor.expect(')');
  return dividable(cursor, { op, left, right }, token);
}

/** A safe integer, perhaps with a minus sign. */
export function parseInteger(cursor: TokenCursor, what: string): number {
  const sign = cursor.accept('-') ? '-' : '';
  const token = cursor.take('number', what);
  const value = /^[0-9]+$/.test(token.text) ? Number(sign + token.text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw cursor.unexpected(`${what}: a safe integer`, { token });
  return value + 0;
}
