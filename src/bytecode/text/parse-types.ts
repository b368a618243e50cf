import { type Dim, DIM_OPERATORS, DIM_SIGNS, type DimOperator } from '../../core/dims/dim.ts';
import { type DType, isDType } from '../../core/tensor/dtype.ts';
import type { AttributeValue, TensorType } from '../../core/contracts/primitive-function.ts';
import type { NamedResult, ValueType } from '../executable.ts';
import { attributeKind, MAX_DIM_DEPTH } from '../file/file-format.ts';
import { parseNumber } from './tensor-text.ts';
import type { TextLexer } from './text-lexer.ts';

export function parseDType(lexer: TextLexer): DType {
  const token = lexer.peek();
  const name = lexer.name('a dtype');
  if (isDType(name)) return name;
  throw lexer.unexpected('a dtype such as float32', token);
}

export function parseShape(lexer: TextLexer): number[] {
  return lexer.list('(', ')', () => lexer.integer('a dimension'));
}

/** `Tensor[(n, 3), float32]`. */
export function parseTensorType(lexer: TextLexer): TensorType {
  lexer.expect('Tensor');
  lexer.expect('[');
  const shape = lexer.list('(', ')', () => parseDim(lexer, 0));
  lexer.expect(',');
  const dtype = parseDType(lexer);
  lexer.expect(']');
  return { dtype, shape };
}

const SCALAR_TYPES = ['int', 'float', 'any'] as const;

export function parseValueType(lexer: TextLexer): ValueType {
  const kind = SCALAR_TYPES.find((name) => lexer.accept(name));
  return kind === undefined ? { kind: 'tensor', ...parseTensorType(lexer) } : { kind };
}

/** `(name: type, ...)`. */
export function parseResults(lexer: TextLexer): NamedResult[] {
  return lexer.list('(', ')', () => {
    const name = lexer.name('the name of a result');
    lexer.expect(':');
    return { name, type: parseValueType(lexer) };
  });
}

/** Operators that stand between operands, the loosest first. */
const PRECEDENCE: readonly (readonly DimOperator[])[] = [
  ['add', 'sub'],
  ['mul', 'floordiv', 'mod'],
];

function parseDim(lexer: TextLexer, depth: number, level = 0): Dim {
  if (depth > MAX_DIM_DEPTH + 1) {
    throw lexer.unexpected(`at most ${MAX_DIM_DEPTH} levels of operators`);
  }
  const operators = PRECEDENCE[level];
  if (operators === undefined) return parseDimTerm(lexer, depth);
  let left = parseDim(lexer, depth, level + 1);
  for (;;) {
    const op = operators.find((name) => lexer.accept(DIM_SIGNS[name] ?? ''));
    if (op === undefined) return left;
    left = { op, left, right: parseDim(lexer, depth, level + 1) };
  }
}

function parseDimTerm(lexer: TextLexer, depth: number): Dim {
  const { kind, text } = lexer.peek();
  if (lexer.accept('?')) return '?';
  if (lexer.accept('(')) {
    const dim = parseDim(lexer, depth + 1);
    lexer.expect(')');
    return dim;
  }
  if (kind === 'number' || text === '-') return lexer.integer('a dimension');
  const op = DIM_OPERATORS.find((name) => name === text);
  if (kind === 'name' && op !== undefined && lexer.peek(1).text === '(') {
    lexer.next();
    const [left, right, ...more] = lexer.list('(', ')', () => parseDim(lexer, depth + 1));
    if (left !== undefined && right !== undefined && more.length === 0) return { op, left, right };
    throw lexer.unexpected(`two operands of ${op} before it`);
  }
  return lexer.name('a dimension');
}

/** A number, string, boolean, a list of numbers or strings, or dimensions as a shape. */
export function parseAttribute(lexer: TextLexer): AttributeValue {
  if (lexer.peek().text === '[' && lexer.peek().kind === 'sign') {
    const isStrings = lexer.peek(1).kind === 'string';
    if (isStrings) return lexer.list('[', ']', () => lexer.string('a string'));
    return lexer.list('[', ']', () => parseFloatNumber(lexer));
  }
  const token = lexer.peek();
  if (token.text === '(' && token.kind === 'sign') {
    const dims = lexer.list('(', ')', () => parseDim(lexer, 0));
    if (attributeKind(dims) === 'dims') return dims;
    throw lexer.unexpected('a list in brackets, as no dimension of it is symbolic', token);
  }
  if (token.kind === 'string') return lexer.string('a string');
  if (lexer.accept('true')) return true;
  return lexer.accept('false') ? false : parseFloatNumber(lexer);
}

/** A number, `nan`, `inf` or `-inf`. */
export function parseFloatNumber(lexer: TextLexer): number {
  const token = lexer.peek();
  const value = parseNumber(lexer.numberText('a number'));
  if (value === undefined) throw lexer.unexpected('a number', token);
  return value;
}
