import type {
  DataConstructor,
  DataType,
  FullType,
  NamedFunctionType,
  ProgramTypes,
} from './executable.ts';
import { MAX_TYPE_DEPTH } from './file-format.ts';
import { parseTensorType } from './parse-types.ts';
import type { TextLexer } from './text-lexer.ts';

/** `{ data …  func …  packed … }` after `types`. */
export function parseProgramTypes(lexer: TextLexer): ProgramTypes {
  const types = {
    dataTypes: [] as DataType[],
    functions: [] as NamedFunctionType[],
    packed: [] as NamedFunctionType[],
  };
  lexer.expect('{');
  while (!lexer.accept('}')) {
    if (lexer.accept('data')) types.dataTypes.push(parseDataType(lexer));
    else if (lexer.accept('func')) types.functions.push(parseFunctionType(lexer));
    else if (lexer.accept('packed')) types.packed.push(parseFunctionType(lexer));
    else throw lexer.unexpected('data, func or packed');
  }
  return types;
}

/** `List['A] { Cons('A, data List['A]) = 0, Nil = 1 }` */
function parseDataType(lexer: TextLexer): DataType {
  const name = lexer.name('the name of a data type');
  const isPolymorphic = lexer.peek().kind === 'sign' && lexer.peek().text === '[';
  const params = isPolymorphic ? lexer.list('[', ']', () => parseTypeParam(lexer)) : [];
  const constructors = lexer.list('{', '}', (): DataConstructor => {
    const constructor = lexer.name('a constructor');
    const hasFields = lexer.peek().kind === 'sign' && lexer.peek().text === '(';
    const fields = hasFields ? lexer.list('(', ')', () => parseFullType(lexer, 0)) : [];
    lexer.expect('=');
    return { name: constructor, tag: lexer.integer('a tag'), fields };
  });
  return { name, params, constructors };
}

/** `main(int) -> data List[int]` */
function parseFunctionType(lexer: TextLexer): NamedFunctionType {
  const name = lexer.name('the name of a function');
  const params = lexer.list('(', ')', () => parseFullType(lexer, 0));
  lexer.expect('->');
  return { name, params, result: parseFullType(lexer, 0) };
}

function parseTypeParam(lexer: TextLexer): string {
  lexer.expect("'");
  return lexer.name('a type parameter');
}

const PLAIN = ['int', 'float', 'any', 'shape'] as const;

function parseFullType(lexer: TextLexer, depth: number): FullType {
  if (depth > MAX_TYPE_DEPTH) throw lexer.unexpected(`at most ${MAX_TYPE_DEPTH} levels of types`);
  const inner = (): FullType => parseFullType(lexer, depth + 1);
  const plain = PLAIN.find((name) => lexer.accept(name));
  if (plain !== undefined) return { kind: plain };
  const { kind, text } = lexer.peek();
  if (kind === 'sign' && text === '(')
    return { kind: 'tuple', fields: lexer.list('(', ')', inner) };
  if (kind === 'sign' && text === "'") return { kind: 'type-param', name: parseTypeParam(lexer) };
  if (lexer.accept('data')) {
    const name = lexer.name('the name of a data type');
    const hasArgs = lexer.peek().kind === 'sign' && lexer.peek().text === '[';
    return { kind: 'adt', name, args: hasArgs ? lexer.list('[', ']', inner) : [] };
  }
  if (lexer.accept('opaque')) {
    return { kind: 'opaque', name: lexer.name('the name of an opaque type') };
  }
  if (lexer.accept('fn')) {
    const params = lexer.list('(', ')', inner);
    lexer.expect('->');
    return { kind: 'function', params, result: inner() };
  }
  return { kind: 'tensor', ...parseTensorType(lexer) };
}
