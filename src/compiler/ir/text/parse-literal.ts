import { MAX_RANK } from '../../../bytecode/verify/verify-types.ts';
import { parseElements, parseNumber } from '../../../bytecode/text/tensor-text.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { DType } from '../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { AttributeValue } from '../../../core/contracts/primitive-function.ts';
import type { Token } from './lexer.ts';
import { parseDim } from './parse-type.ts';
import { runTask } from '../task.ts';
import type { TokenCursor } from './token-cursor.ts';

/**
 * Suffixes tell dtypes apart: `1f`, `1i64`. bool is `true` and `false`; floats smaller than float16,
 * and bfloat16, stand as the integer that their bits are.
 */
export const DTYPE_SUFFIXES = {
  float32: 'f',
  float64: 'f64',
  float16: 'f16',
  int8: 'i8',
  uint8: 'u8',
  int16: 'i16',
  uint16: 'u16',
  int32: '',
  uint32: 'u',
  int64: 'i64',
  uint64: 'u64',
  bool: '',
  bfloat16: 'bf16',
  float8e4m3fn: 'f8e4m3fn',
  float8e4m3fnuz: 'f8e4m3fnuz',
  float8e5m2: 'f8e5m2',
  float8e5m2fnuz: 'f8e5m2fnuz',
  float8e8m0: 'f8e8m0',
  float4e2m1: 'f4e2m1',
  int4: 'i4',
  uint4: 'u4',
  int2: 'i2',
  uint2: 'u2',
} as const satisfies Readonly<Record<DType, string>>;

const DTYPE_OF_SUFFIX = new Map<string, DType>(
  Object.entries(DTYPE_SUFFIXES).flatMap(([dtype, suffix]) =>
    dtype === 'bool' ? [] : [[suffix, dtype as DType]],
  ),
);

const NUMBER_PARTS = /^([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(.*)$/;
const WORD_PARTS = /^(nan|inf)(f|f16|f64)$/;

interface Element {
  readonly text: string;
  readonly dtype: DType;
  readonly token: Token;
}

/** Returns true if a literal starts here: an element or a list of them. */
export function startsLiteral(cursor: TokenCursor): boolean {
  const { kind, text } = cursor.peek();
  if (kind === 'number' || cursor.at('[') || cursor.at('-')) return true;
  return kind === 'name' && (text === 'true' || text === 'false' || WORD_PARTS.test(text));
}

/** `1f`, `[1f, 2f]`, `[[true], [false]]`. */
export function parseTensorLiteral(cursor: TokenCursor): HostTensor {
  const start = cursor.peek();
  const { shape, elements } = cursor.at('[')
    ? readLists(cursor)
    : { shape: [], elements: [readElement(cursor)] };
  const dtype = elements[0]?.dtype;
  if (dtype === undefined) {
    throw cursor.unexpected('at least one element', {
      token: start,
      remedy: 'Put a tensor without elements into the metadata section.',
    });
  }
  return tensorOf(cursor, { shape, dtype, elements });
}

/** One element of a known dtype, which stands for all of a splat of this shape. */
export function parseSplat(
  cursor: TokenCursor,
  dtype: DType,
  shape: readonly number[],
): HostTensor {
  const { elements } = tensorOf(cursor, { dtype, shape: [], elements: [readElement(cursor)] });
  return new HostTensor(dtype, shape, elements, true);
}

function tensorOf(
  cursor: TokenCursor,
  { dtype, shape, elements }: { dtype: DType; shape: number[]; elements: readonly Element[] },
): HostTensor {
  const odd = elements.find((element) => element.dtype !== dtype);
  if (odd !== undefined) throw cursor.unexpected(`an element of ${dtype}`, { token: odd.token });
  const parsed = parseElements(
    dtype,
    elements.map(({ text }) => text),
  );
  if ('badIndex' in parsed) {
    const { text, token } = elements[parsed.badIndex] ?? { text: '', token: cursor.peek() };
    const got = JSON.stringify(`${text}${DTYPE_SUFFIXES[dtype]}`);
    const remedy = dtype === 'int32' ? 'A float needs its suffix, such as 1.5f.' : undefined;
    throw cursor.unexpected(
      `an element of ${dtype}`,
      remedy ? { token, got, remedy } : { token, got },
    );
  }
  return new HostTensor(dtype, shape, parsed.elements);
}

/** The number of a token `#3`, an int, or `#0.5`, a float. */
export function readHostNumber(
  cursor: TokenCursor,
  token: Token,
): { readonly value: number; readonly isInt: boolean } {
  if (!/^-?[0-9]+$/.test(token.text)) {
    return { value: Number(token.text.replace('inf', 'Infinity')), isInt: false };
  }
  const value = Number(token.text) + 0;
  if (Number.isSafeInteger(value)) return { value, isInt: true };
  throw cursor.unexpected('a safe integer', { token });
}

/** Nested lists of equal lengths, row-major. */
function readLists(cursor: TokenCursor): { shape: number[]; elements: Element[] } {
  const shape: number[] = [];
  const elements: Element[] = [];
  /** Items read so far in each open list. */
  const counts: number[] = [];
  /** The number of dimensions, known once an element was read. */
  let rank: number | undefined;
  do {
    const token = cursor.peek();
    if (cursor.accept('[')) {
      if (counts.length === rank) throw cursor.unexpected(nesting(rank), { token });
      if (counts.length === MAX_RANK) {
        const got = `a list in ${MAX_RANK} others`;
        throw cursor.unexpected(`a tensor of at most rank ${MAX_RANK}`, { token, got });
      }
      counts.push(0);
      continue;
    }
    if (cursor.accept(']')) {
      const length = counts.pop() ?? 0;
      const expected = (shape[counts.length] ??= length);
      if (length !== expected) {
        throw cursor.unexpected(`as many items as in the list before, ${expected}`, { token });
      }
    } else {
      elements.push(readElement(cursor));
      rank ??= counts.length;
      if (counts.length !== rank) throw cursor.unexpected(nesting(rank), { token });
    }
    const outer = counts.pop();
    if (outer === undefined) break;
    counts.push(outer + 1);
    if (!cursor.accept(',') && !cursor.at(']')) throw cursor.unexpected('"," or "]"');
  } while (counts.length > 0);
  return { shape, elements };
}

function nesting(rank: number): string {
  return `elements in lists nested ${rank} deep, as before`;
}

function readElement(cursor: TokenCursor): Element {
  const token = cursor.peek();
  if (cursor.accept('true')) return { text: '1', dtype: 'bool', token };
  if (cursor.accept('false')) return { text: '0', dtype: 'bool', token };
  const sign = cursor.accept('-') ? '-' : '';
  const { kind, text } = cursor.peek();
  const isNumber = kind === 'number' || kind === 'name';
  const parts = isNumber ? (NUMBER_PARTS.exec(text) ?? WORD_PARTS.exec(text)) : null;
  if (parts === null) throw cursor.unexpected('an element of a tensor');
  const dtype = DTYPE_OF_SUFFIX.get(parts[2] ?? '');
  if (dtype === undefined) {
    const suffixes = [...DTYPE_OF_SUFFIX.keys()].filter((suffix) => suffix !== '');
    throw cursor.unexpected(`no suffix (int32), or one of ${suffixes.join(', ')}`);
  }
  cursor.next();
  return { text: sign + (parts[1] ?? ''), dtype, token };
}

/** A number, string, boolean, or a list of strings, numbers or dimensions. */
export function parseAttribute(cursor: TokenCursor): AttributeValue {
  if (cursor.peek().kind === 'string') return cursor.next().text;
  if (cursor.accept('true')) return true;
  if (cursor.accept('false')) return false;
  if (!cursor.at('[')) return parseAttributeNumber(cursor);
  // The items are of one kind, which the operator checks.
  return cursor.list('[', ']', () => parseAttributeItem(cursor)) as AttributeValue;
}

function parseAttributeItem(cursor: TokenCursor): Dim {
  const distance = cursor.at('-') ? 1 : 0;
  const { kind, text } = cursor.peek(distance);
  const isAlone = cursor.at(',', distance + 1) || cursor.at(']', distance + 1);
  const isNumber = kind === 'number' || (kind === 'name' && (text === 'nan' || text === 'inf'));
  if (isAlone && isNumber) return parseAttributeNumber(cursor);
  return runTask(parseDim(cursor));
}

export function parseStrings(cursor: TokenCursor): string[] {
  return cursor.list('[', ']', () => cursor.take('string', 'a string').text);
}

function parseAttributeNumber(cursor: TokenCursor): number {
  const token = cursor.peek();
  const sign = cursor.accept('-') ? '-' : '';
  const { kind, text } = cursor.peek();
  const isNumber = kind === 'number' ? NUMBER_PARTS.exec(text)?.[2] === '' : kind === 'name';
  const value = isNumber ? parseNumber(text) : undefined;
  if (value === undefined)
    throw cursor.unexpected('a number, string, true, false or list', { token });
  cursor.next();
  return sign === '' ? value : -value;
}
