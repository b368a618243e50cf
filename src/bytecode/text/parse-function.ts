import type { SourcePlace } from '../../core/contracts/source-place.ts';
import type { DraftFunction, DraftInstruction } from '../build/draft.ts';
import type { FunctionSignature, ValueType } from '../executable.ts';
import type { InstructionSpec, OperandSpec } from '../isa.ts';
import * as isa from '../isa.ts';
import { parseResults, parseValueType } from './parse-types.ts';
import type { TextLexer, Token } from './text-lexer.ts';

/** The tables that a function body refers to. */
interface FunctionScope {
  /** Number of a function in the table, which it may extend. */
  functionIndex(name: string): number;
}

/** `func name(params) -> (results) { instructions }`, after the word `func`. */
export function parseFunction(lexer: TextLexer, scope: FunctionScope): DraftFunction {
  const name = lexer.name('the name of a function');
  const params = lexer.list('(', ')', () => ({
    name: lexer.name('the name of a parameter'),
    type: lexer.accept(':') ? parseValueType(lexer) : undefined,
  }));
  const signature = parseSignature(
    lexer,
    params.map(({ type }) => type),
  );
  const body = new FunctionBody(lexer, scope);
  lexer.expect('{');
  while (!lexer.accept('}')) body.line();
  const paramNames = params.map(({ name }) => name);
  return { name, paramNames, signature, instructions: body.instructions, labels: body.labels() };
}

function parseSignature(
  lexer: TextLexer,
  types: readonly (ValueType | undefined)[],
): FunctionSignature | undefined {
  const known = types.filter((type) => type !== undefined);
  const isComplete = known.length === types.length;
  if (known.length === 0 && lexer.peek().text !== '->') return undefined;
  if (!isComplete) throw lexer.unexpected('a type for every parameter before it, or for none');
  lexer.expect('->');
  return { params: known, results: parseResults(lexer) };
}

/** A part of the syntax after an instruction's name: an operand, or a sign as it is. */
type SyntaxPiece = { readonly operand: OperandSpec } | { readonly sign: string };

function syntaxPieces(spec: InstructionSpec): SyntaxPiece[] {
  const operands = [...spec.operands, ...(spec.variadic === undefined ? [] : [spec.variadic])];
  const pieces = spec.syntax.match(/\{\w+\}|\w+|[^\s\w{}]/g) ?? [];
  return pieces.map((piece) => {
    const operand = operands.find(({ name }) => piece === `{${name}}`);
    return operand === undefined ? { sign: piece } : { operand };
  });
}

const SYNTAX = new Map(isa.ISA.map((spec) => [spec, syntaxPieces(spec)]));

class FunctionBody {
  readonly instructions: DraftInstruction[] = [];
  readonly #lexer: TextLexer;
  readonly #scope: FunctionScope;
  readonly #labelNumbers = new Map<string, number>();
  readonly #targets: (number | undefined)[] = [];
  readonly #firstUse: Token[] = [];
  #places: readonly SourcePlace[] = [];

  constructor(lexer: TextLexer, scope: FunctionScope) {
    this.#lexer = lexer;
    this.#scope = scope;
  }

  /** One instruction and the labels before it; a label is a number or a name. */
  line(): void {
    const lexer = this.#lexer;
    while (lexer.peek(1).text === ':' && lexer.peek(1).kind === 'sign') {
      const token = lexer.peek();
      const label = this.#labelNumber();
      if (this.#targets[label] !== undefined) {
        throw lexer.unexpected('a label that is not placed before', token);
      }
      this.#targets[label] = this.instructions.length;
      lexer.expect(':');
    }
    this.#instruction();
  }

  /** The instruction before which each label stands. Throws ParseError for one without place. */
  labels(): number[] {
    return this.#targets.map((target, label) => {
      if (target !== undefined) return target;
      throw this.#lexer.unexpected('a label of this function', this.#firstUse[label]);
    });
  }

  #instruction(): void {
    const lexer = this.#lexer;
    const destination = lexer.peek().text === '%' ? this.#register() : undefined;
    if (destination !== undefined) lexer.expect('=');
    const token = lexer.peek();
    const spec = token.kind === 'name' ? isa.instructionSpec(token.text) : undefined;
    const writes = spec?.operands.some(({ kind }) => kind === 'destination') === true;
    if (spec === undefined || (destination !== undefined && !writes)) {
      const known = isa.ISA.map(({ name }) => name).join(', ');
      throw lexer.unexpected(destination === undefined ? `one of ${known}` : 'a call');
    }
    lexer.next();
    const words = new Map<string, number[]>();
    for (const piece of SYNTAX.get(spec) ?? []) {
      if ('sign' in piece) lexer.expect(piece.sign);
      else words.set(piece.operand.name, this.#operand(piece.operand, spec));
    }
    const order = [...spec.operands, ...(spec.variadic === undefined ? [] : [spec.variadic])];
    const operands = order.flatMap(({ name, kind }) =>
      kind === 'destination' ? [destination ?? isa.VOID_REGISTER] : (words.get(name) ?? []),
    );
    if (lexer.peek(1).text !== ':' && lexer.accept('from')) this.#places = this.#sourcePlaces();
    this.instructions.push({ spec, operands, places: this.#places });
  }

  /** `"conv1", "model.ir":3:7`, or `nowhere`. */
  #sourcePlaces(): SourcePlace[] {
    const lexer = this.#lexer;
    if (lexer.accept('nowhere')) return [];
    const places: SourcePlace[] = [];
    do {
      const source = lexer.string('a place: the name of a node, or of a file with line and column');
      if (lexer.accept(':')) {
        const line = this.#from1('a line');
        lexer.expect(':');
        places.push({ source, line, column: this.#from1('a column') });
      } else places.push({ source });
    } while (lexer.accept(','));
    return places;
  }

  #from1(what: string): number {
    const token = this.#lexer.peek();
    const value = this.#lexer.integer(what);
    if (value > 0 && value < 2 ** 31) return value;
    throw this.#lexer.unexpected(`${what} from 1`, token);
  }

  #operand(operand: OperandSpec, spec: InstructionSpec): number[] {
    if (operand === spec.variadic) return this.#variadic();
    const { kind } = operand;
    if (kind === 'offset') return [this.#labelNumber()];
    if (kind === 'callee') return [this.#functionWord()];
    return [kind === 'condition' ? this.#register() : this.#argument()];
  }

  /** Arguments up to the closing parenthesis, which the syntax takes itself. */
  #variadic(): number[] {
    const lexer = this.#lexer;
    const words: number[] = [];
    while (lexer.peek().text !== ')' || lexer.peek().kind !== 'sign') {
      words.push(this.#argument());
      if (!lexer.accept(',')) break;
    }
    return words;
  }

  #argument(): number {
    const lexer = this.#lexer;
    const token = lexer.peek();
    if (token.kind === 'sign' && token.text === '%') return this.#register();
    if (lexer.accept('@')) return this.#functionWord();
    if (token.kind === 'name' && token.text === 'c') {
      return isa.encodeArgument('constant', this.#constantIndex());
    }
    const value = lexer.integer('an argument: %0, 1, c[0] or @name');
    if (value >= isa.MIN_IMMEDIATE && value <= isa.MAX_IMMEDIATE)
      return isa.encodeArgument('immediate', value);
    const expected = `an immediate from ${isa.MIN_IMMEDIATE} to ${isa.MAX_IMMEDIATE}, or an int constant`;
    throw lexer.unexpected(expected, token);
  }

  #constantIndex(): number {
    const lexer = this.#lexer;
    lexer.expect('c');
    lexer.expect('[');
    const index = this.#index('the number of a constant');
    lexer.expect(']');
    return index;
  }

  #functionWord(): number {
    return isa.encodeArgument(
      'function',
      this.#scope.functionIndex(this.#lexer.name('a function')),
    );
  }

  #register(): number {
    const lexer = this.#lexer;
    lexer.expect('%');
    if (lexer.accept('void')) return isa.VOID_REGISTER;
    if (lexer.accept('vm')) return isa.VM_REGISTER;
    return this.#index('a register: a number, void or vm');
  }

  #index(what: string): number {
    const token = this.#lexer.peek();
    const index = this.#lexer.integer(what);
    if (index >= 0 && index < isa.VM_REGISTER) return index;
    throw this.#lexer.unexpected(`${what} from 0 to ${isa.VM_REGISTER - 1}`, token);
  }

  #labelNumber(): number {
    const token = this.#lexer.peek();
    if (token.kind !== 'number' && token.kind !== 'name') {
      throw this.#lexer.unexpected('a label: a name or the number of an instruction');
    }
    this.#lexer.next();
    const known = this.#labelNumbers.get(token.text);
    if (known !== undefined) return known;
    const label = this.#targets.push(undefined) - 1;
    this.#labelNumbers.set(token.text, label);
    this.#firstUse[label] = token;
    return label;
  }
}
