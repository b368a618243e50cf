import { dtypeInfo, type DType } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import type { DraftConstant } from '../build/draft.ts';
import { parseDType, parseFloatNumber, parseShape } from './parse-types.ts';
import { parseBase64, parseElements } from './tensor-text.ts';
import type { TextLexer, Token } from './text-lexer.ts';

/** The constant that stands after `c[0] =`. */
export function parseConstant(lexer: TextLexer): DraftConstant {
  const token = lexer.peek();
  const kind = lexer.name('a kind of constant');
  switch (kind) {
    case 'host': {
      const word = lexer.name('tensor or splat');
      if (word !== 'tensor' && word !== 'splat') throw lexer.unexpected('tensor or splat', token);
      return { kind: 'tensor', tensor: parseTensor(lexer, word === 'splat'), device: 'host' };
    }
    case 'tensor':
    case 'splat':
      return { kind: 'tensor', tensor: parseTensor(lexer, kind === 'splat') };
    case 'shape':
      return { kind, value: parseShape(lexer) };
    case 'string':
      return { kind, value: lexer.string('a string') };
    case 'int':
      return { kind, value: lexer.integer('an integer') };
    case 'float':
      return { kind, value: parseFloatNumber(lexer) };
    case 'dtype':
      return { kind, value: parseDType(lexer) };
    default:
      throw lexer.unexpected('tensor, splat, shape, string, int, float, dtype or host', token);
  }
}

interface TensorHead {
  readonly dtype: DType;
  readonly shape: Shape;
  /** Elements that must follow. */
  readonly count: number;
  readonly isSplat: boolean;
  readonly start: Token;
}

function parseTensor(lexer: TextLexer, isSplat: boolean): HostTensor {
  const start = lexer.peek();
  const dtype = parseDType(lexer);
  const shape = parseShape(lexer);
  const head = { dtype, shape, isSplat, start, count: isSplat ? 1 : elementCount(shape) };
  if (shape.some((dim) => dim < 0)) throw lexer.unexpected('dimensions from 0 up', start);
  if (lexer.peek().text === 'elided') {
    throw lexer.unexpected('the elements, which this listing was printed without');
  }
  return lexer.accept('base64') ? parseBytes(lexer, head) : parseList(lexer, head);
}

function parseList(lexer: TextLexer, head: TensorHead): HostTensor {
  const tokens: Token[] = [];
  const texts = lexer.list('[', ']', () => {
    tokens.push(lexer.peek());
    return lexer.numberText('an element');
  });
  checkCount(lexer, head, texts.length);
  const parsed = parseElements(head.dtype, texts);
  if ('badIndex' in parsed) {
    throw lexer.unexpected(`an element of ${head.dtype}`, tokens[parsed.badIndex]);
  }
  return new HostTensor(head.dtype, head.shape, parsed.elements, head.isSplat);
}

function parseBytes(lexer: TextLexer, head: TensorHead): HostTensor {
  const pieces: Uint8Array[] = [];
  let byteLength = 0;
  while (lexer.peek().kind === 'string') {
    const token = lexer.peek();
    const piece = parseBase64(lexer.string('base64'));
    if (piece === undefined) throw lexer.unexpected('base64', token);
    pieces.push(piece);
    byteLength += piece.length;
  }
  checkCount(lexer, head, byteLength / dtypeInfo(head.dtype).byteLength);
  const bytes = new Uint8Array(byteLength);
  let position = 0;
  for (const piece of pieces) {
    bytes.set(piece, position);
    position += piece.length;
  }
  const { elements } = HostTensor.fromBytes(head.dtype, [head.count], bytes);
  return new HostTensor(head.dtype, head.shape, elements, head.isSplat);
}

function checkCount(lexer: TextLexer, { count, start }: TensorHead, got: number): void {
  if (got === count) return;
  throw lexer.error({ got: `${got} elements`, expected: `${count} for the shape` }, start.start);
}
