import { DIM_OPERATORS } from '../../core/dims/dim.ts';
import type {
  AttributeValue,
  OperatorCall,
  PrimitiveFunction,
  TensorType,
} from '../../core/contracts/primitive-function.ts';
import {
  assemble,
  type Assembled,
  type Draft,
  type DraftConstant,
  type DraftFunction,
  mapArguments,
  registersOf,
} from '../build/draft.ts';
import type {
  DataConstructor,
  DataType,
  FullType,
  FunctionEntry,
  NamedFunctionType,
  ProgramTypes,
  ShapeProgram,
  ShapeStep,
} from '../executable.ts';
import { FORMAT_MAJOR, FORMAT_MINOR, MAX_TYPE_DEPTH } from '../file/file-format.ts';
import { formalize } from '../build/formalize.ts';
import { parseConstant } from './parse-constant.ts';
import { parseFunction } from './parse-function.ts';
import { parseAttribute, parseTensorType } from './parse-types.ts';
import { resolveEntry } from '../build/resolve-entry.ts';
import { TextLexer, type Token } from './text-lexer.ts';
import { verifyExecutable } from '../verify/verify.ts';

/** `{ data …  func …  packed … }` after `types`. */
function parseProgramTypes(lexer: TextLexer): ProgramTypes {
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

/**
 * Reads a listing; the inverse of `printExecutable`. The section `references` may be left out:
 * functions are then numbered as they are used. When register numbers have gaps, as in `%10000`,
 * the program is formalized as a builder does it. Throws ParseError or VerifyError.
 */
export function parseExecutable(text: string): Assembled {
  const draft = new ListingParser(text).parse();
  const assembled = assemble(draft.functions.every(hasDenseRegisters) ? draft : formalize(draft));
  verifyExecutable(assembled.program);
  return assembled;
}

function hasDenseRegisters(fn: DraftFunction): boolean {
  const registers = new Set([...fn.paramNames.keys(), ...registersOf(fn)]);
  for (const register of registers) if (register >= registers.size) return false;
  return true;
}

const FUNCTION_KINDS = ['bytecode', 'primitive', 'packed'] as const;

class ListingParser {
  readonly #lexer: TextLexer;
  readonly #functions: DraftFunction[] = [];
  readonly #names: string[] = [];
  readonly #indices = new Map<string, number>();
  readonly #declared = new Map<string, FunctionEntry>();
  readonly #constants: DraftConstant[] = [];
  readonly #primitives: PrimitiveFunction[] = [];
  readonly #shapePrograms: ShapeProgram[] = [];
  #types: ProgramTypes | undefined;
  readonly #metadata = new Map<string, string>();

  constructor(text: string) {
    this.#lexer = new TextLexer(text);
  }

  parse(): Draft {
    this.#header();
    const items: Readonly<Record<string, () => void>> = {
      func: () => this.#functions.push(this.#function()),
      references: () => this.#section('f', () => this.#reference()),
      constants: () => this.#section('c', () => this.#constants.push(parseConstant(this.#lexer))),
      primitive: () => this.#primitives.push(this.#primitive()),
      shape_programs: () => this.#section('p', () => this.#shapePrograms.push(this.#program())),
      types: () => {
        this.#types = parseProgramTypes(this.#lexer);
      },
      metadata: () => this.#metadataEntries(),
    };
    for (let token = this.#lexer.peek(); token.kind !== 'end'; token = this.#lexer.peek()) {
      const read = Object.hasOwn(items, token.text) ? items[token.text] : undefined;
      if (read === undefined) throw this.#lexer.unexpected(Object.keys(items).join(', '));
      this.#lexer.next();
      read();
    }
    return this.#draft();
  }

  #header(): void {
    this.#lexer.expect('weft');
    const token = this.#lexer.peek();
    const [major, minor] = this.#lexer.numberText('the version of the format').split('.');
    if (Number(major) === FORMAT_MAJOR && Number(minor) <= FORMAT_MINOR) return;
    throw this.#lexer.unexpected(
      `version ${FORMAT_MAJOR}.0 to ${FORMAT_MAJOR}.${FORMAT_MINOR}`,
      token,
    );
  }

  #function(): DraftFunction {
    return parseFunction(this.#lexer, { functionIndex: (name) => this.#functionIndex(name) });
  }

  #functionIndex(name: string): number {
    const known = this.#indices.get(name);
    if (known !== undefined) return known;
    const index = this.#names.push(name) - 1;
    this.#indices.set(name, index);
    return index;
  }

  /** `{ x[0] = ... x[1] = ... }`, numbered in order. */
  #section(letter: string, item: () => void): void {
    this.#lexer.expect('{');
    for (let index = 0; !this.#lexer.accept('}'); index++) {
      this.#lexer.expect(letter);
      this.#lexer.expect('[');
      const token = this.#lexer.peek();
      if (this.#lexer.integer('a number') !== index)
        throw this.#lexer.unexpected(`${index}`, token);
      this.#lexer.expect(']');
      this.#lexer.expect('=');
      item();
    }
  }

  /** `kind name`; the order of the section is that of the table. */
  #reference(): void {
    const token = this.#lexer.peek();
    const kind = FUNCTION_KINDS.find((name) => this.#lexer.accept(name));
    if (kind === undefined) throw this.#lexer.unexpected(FUNCTION_KINDS.join(', '));
    const name = this.#lexer.name('the name of a function');
    if (this.#declared.has(name)) throw this.#lexer.unexpected('each name once', token);
    this.#declared.set(name, { kind, name });
  }

  #primitive(): PrimitiveFunction {
    const lexer = this.#lexer;
    const name = lexer.name('the name of a primitive');
    const params = lexer.list('(', ')', () => this.#typedValue());
    for (const [index, { value, token }] of params.entries()) {
      if (value !== index) throw lexer.unexpected(`%${index}`, token);
    }
    lexer.expect('->');
    const results = lexer.list('(', ')', () => this.#typedValue());
    const isOnHost = lexer.accept('on');
    if (isOnHost) lexer.expect('host');
    const inPlace = lexer.accept('over') ? this.#value() : undefined;
    lexer.expect('{');
    const body: OperatorCall[] = [];
    while (!lexer.accept('}')) {
      const token = lexer.peek();
      const expected = params.length + body.length;
      if (this.#value() !== expected) throw lexer.unexpected(`%${expected}`, token);
      lexer.expect('=');
      body.push(this.#operatorCall());
    }
    return {
      name,
      params: params.map(({ type }) => type),
      body,
      results: results.map(({ value, type }) => ({ value, type })),
      ...(isOnHost ? { device: 'host' } : {}),
      ...(inPlace === undefined ? {} : { inPlace }),
    };
  }

  #typedValue(): { value: number; type: TensorType; token: Token } {
    const token = this.#lexer.peek();
    const value = this.#value();
    this.#lexer.expect(':');
    return { value, type: parseTensorType(this.#lexer), token };
  }

  #value(): number {
    this.#lexer.expect('%');
    return this.#lexer.integer('the number of a value');
  }

  #operatorCall(): OperatorCall {
    const lexer = this.#lexer;
    const op = lexer.name('an operator');
    const inputs = lexer.list('(', ')', () => (lexer.accept('_') ? -1 : this.#value()));
    const attributes = new Map<string, AttributeValue>();
    if (lexer.peek().text === '{' && lexer.peek().kind === 'sign') {
      lexer.list('{', '}', () => {
        const token = lexer.peek();
        const name = lexer.name('an attribute');
        if (attributes.has(name)) throw lexer.unexpected('each attribute once', token);
        lexer.expect(':');
        attributes.set(name, parseAttribute(lexer));
      });
    }
    return { op, inputs, attributes: Object.fromEntries(attributes) };
  }

  #program(): ShapeProgram {
    return { steps: this.#lexer.list('{', '}', () => this.#step()) };
  }

  #step(): ShapeStep {
    const lexer = this.#lexer;
    if (lexer.accept('const')) return { op: 'const', value: lexer.integer('an integer') };
    const slotOp = (['load', 'store'] as const).find((name) => lexer.accept(name));
    if (slotOp !== undefined) return { op: slotOp, slot: lexer.integer('a slot') };
    const op = DIM_OPERATORS.find((name) => lexer.accept(name));
    if (op === undefined) {
      throw lexer.unexpected(`const, load, store, ${DIM_OPERATORS.join(', ')}`);
    }
    return { op };
  }

  #metadataEntries(): void {
    const lexer = this.#lexer;
    lexer.expect('{');
    while (!lexer.accept('}')) {
      const token = lexer.peek();
      const key = lexer.name('a key');
      if (this.#metadata.has(key)) throw lexer.unexpected('each key once', token);
      lexer.expect('=');
      this.#metadata.set(key, lexer.string('a string'));
    }
  }

  /** The table is as declared; what the code uses beyond that follows in order of use. */
  #draft(): Draft {
    const functionNames = new Set(this.#functions.map(({ name }) => name));
    const primitiveNames = new Set(this.#primitives.map(({ name }) => name));
    const table = new Map(this.#declared);
    for (const name of this.#names) {
      if (!table.has(name)) table.set(name, resolveEntry(name, functionNames, primitiveNames));
    }
    const numbers = new Map([...table.keys()].map((name, index) => [name, index]));
    const renumber = (index: number): number => numbers.get(this.#names[index] ?? '') ?? index;
    return {
      functions: this.#functions.map((fn) => mapArguments(fn, { function: renumber })),
      functionTable: [...table.values()],
      constants: this.#constants,
      primitives: this.#primitives,
      shapePrograms: this.#shapePrograms,
      ...(this.#types !== undefined && { types: this.#types }),
      metadata: Object.fromEntries(this.#metadata),
    };
  }
}
