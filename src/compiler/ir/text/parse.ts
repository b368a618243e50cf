import { checkOptions, having } from '../../../core/check-options.ts';
import { forEachSymbol } from '../../../core/dims/dim-symbols.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import type { Operators } from '../../../ops/operators.ts';
import { Bindings } from '../walk/bindings.ts';
import { extern, func, tuple } from '../build.ts';
import { Diagnostics } from '../diagnostics.ts';
import type { Expr, FunctionExpr, Module, VarExpr } from '../expr.ts';
import { type Token, tokenize } from './lexer.ts';
import { type ExprContext, parseBinder, spanAt } from './parse-binder.ts';
import { parseConstant } from './parse-constant.ts';
import { parseBody, parseFunctionAfter } from './parse-expr.ts';
import { parseKernel } from './parse-kernel.ts';
import { parseInteger, parseType, parseTypeParams } from './parse-type.ts';
import { PRELUDE } from '../prelude.ts';
import { type Library, type Reference, resolveReferences } from '../walk/resolve-references.ts';
import { runTask, sub, type Task } from '../task.ts';
import { describeToken, SyntaxFault, TokenCursor } from './token-cursor.ts';
import {
  type ConstructorDefinition,
  partsOfType,
  type Type,
  type TypeDefinition,
} from '../type.ts';

/** How a text is read. */
export interface ParseOptions {
  /** The name of the file, for messages and spans. Default `ir`. */
  readonly file?: string;
  /**
   * Looks up names that the text does not define in the prelude, and adds those definitions to the
   * module. Default: true.
   */
  readonly prelude?: boolean;
  /** The operators that the text may call. Default: the core operators. */
  readonly operators?: Operators | undefined;
}

/** Reads a module; the inverse of `printModule`. Throws one ParseError for all errors of the text. */
export function parseModule(text: string, options: ParseOptions = {}): Module {
  checkOptions<ParseOptions>('parseModule', options, {
    file: 'text',
    prelude: 'boolean',
    operators: 'operators',
  });
  const { file = 'ir', prelude = true, operators = CORE_OPERATORS } = options;
  const library = prelude ? preludeLibrary() : undefined;
  const parser = new ModuleParser(text, { file, library, operators });
  return parser.parse().module;
}

/**
 * Reads statements and an expression; the inverse of `printExpr` for one without free variables. The scope
 * of the text gives what free variables stand for. Throws ParseError.
 */
export function parseExpr(
  text: string,
  options: Omit<ParseOptions, 'prelude'> & { scope?: ReadonlyMap<string, Expr> } = {},
): Expr {
  checkOptions<typeof options>('parseExpr', options, {
    file: 'text',
    scope: having('a Map of expressions', 'get'),
    operators: 'operators',
  });
  const { file = 'ir', scope = new Map(), operators = CORE_OPERATORS } = options;
  return new ModuleParser(text, { file, library: preludeLibrary(), operators }).expr(scope);
}

/** Of a text that never changes, read when it is first needed. */
let library: Library | undefined;

function preludeLibrary(): Library {
  const options = { file: 'prelude', library: undefined, operators: CORE_OPERATORS };
  library ??= new ModuleParser(PRELUDE, options).parse();
  return library;
}

/** A definition of the text: its tokens from `start` to before `end`. */
interface Item {
  readonly keyword: string;
  readonly start: number;
  readonly end: number;
}

interface ParserOptions {
  readonly file: string;
  readonly library: Library | undefined;
  readonly operators: Operators;
}

function isFunction({ keyword }: Item): boolean {
  return isFunctionKeyword(keyword);
}

function isFunctionKeyword(keyword: string): keyword is keyof typeof PARSERS {
  return Object.hasOwn(PARSERS, keyword);
}

/** Words that may stand before `def`. */
const MARKS: ReadonlySet<string> = new Set(['extern', 'private']);

const PARSERS = {
  def: parseFunctionAfter,
  private: parsePrivate,
  extern: parseExtern,
  kernel: parseKernel,
};

function* parsePrivate(context: ExprContext, name: Token): Task<FunctionExpr> {
  const fn = yield* sub(parseFunctionAfter(context, name));
  return { ...fn, attributes: { ...fn.attributes, private: true } };
}

/** A name of a size in a type; the types of functions have names of their own. */
function symbolIn(type: Type): string | undefined {
  if (type.kind === 'function') return undefined;
  let found: string | undefined;
  if (type.kind === 'tensor') {
    for (const dim of type.shape) forEachSymbol(dim, (symbol) => (found ??= symbol));
  }
  for (const part of partsOfType(type)) found ??= symbolIn(part);
  return found;
}

class ModuleParser {
  readonly #file: string;
  readonly #operators: Operators;
  readonly #library: Library | undefined;
  readonly #diagnostics: Diagnostics;
  readonly #tokens: readonly Token[];
  readonly #functions = new Map<string, FunctionExpr>();
  readonly #types = new Map<string, TypeDefinition>();
  readonly #constructors = new Map<string, ConstructorDefinition>();
  readonly #metadata = new Map<string, string>();
  readonly #constants = new Map<number, HostTensor>();
  readonly #references = new Map<string, Reference[]>();

  constructor(text: string, { file, library, operators }: ParserOptions) {
    this.#file = file;
    this.#operators = operators;
    this.#library = library;
    this.#diagnostics = new Diagnostics(text, file);
    this.#tokens = tokenize(text, this.#diagnostics);
    for (const type of library?.module.types.values() ?? []) this.#addConstructors(type);
  }

  /** Types and constants come first, since functions may stand before those they use. */
  parse(): Library {
    const items = this.#items();
    for (const item of items) if (!isFunction(item)) this.#definition(item);
    for (const type of this.#types.values()) this.#addConstructors(type);
    for (const item of items) {
      if (isFunction(item)) this.#item(item, (context) => runTask(this.#function(context, item)));
    }
    const own = {
      functions: this.#functions,
      types: this.#types,
      metadata: Object.fromEntries(this.#metadata),
    };
    const module = resolveReferences(own, {
      references: [...this.#references.values()].flat(),
      library: this.#library,
      diagnostics: this.#diagnostics,
    });
    this.#diagnostics.throwIfAny();
    return { module, references: this.#references };
  }

  expr(scope: ReadonlyMap<string, Expr>): Expr {
    const context = this.#context({ keyword: '', start: -1, end: this.#tokens.length - 1 });
    for (const [name, expr] of scope) context.variables.define(name, expr);
    let result: Expr | undefined;
    try {
      result = runTask(parseBody(context));
      if (context.cursor.peek().kind !== 'end') throw context.cursor.unexpected('the end');
    } catch (fault) {
      this.#report(fault);
    }
    this.#diagnostics.throwIfAny();
    if (result === undefined) throw new Error('internal: no expression and no error');
    return result;
  }

  /** Cuts the text where definitions begin, whatever braces are open there. */
  #items(): Item[] {
    const starts = this.#tokens.flatMap((_, index) => (this.#startsItem(index) ? [index] : []));
    const end = this.#tokens.length - 1;
    const first = starts[0] ?? end;
    const token = this.#tokens[0];
    if (first > 0 && token !== undefined) {
      const expected = 'def, private def, extern def, kernel, type, meta or metadata';
      this.#diagnostics.report(token, { got: describeToken(token), expected });
    }
    return starts.map((start, i) => ({
      keyword: this.#tokens[start]?.text ?? '',
      start,
      end: starts[i + 1] ?? end,
    }));
  }

  #startsItem(index: number): boolean {
    const token = this.#tokens[index];
    if (token?.kind !== 'name') return false;
    const follows = (distance: number, text: string): boolean => {
      const next = this.#tokens[index + distance];
      return next?.kind === 'sign' && next.text === text;
    };
    switch (token.text) {
      case 'def':
        return !MARKS.has(this.#tokens[index - 1]?.text ?? '');
      case 'extern':
      case 'private':
        return this.#tokens[index + 1]?.text === 'def';
      case 'kernel':
        return this.#tokens[index + 1]?.kind === 'global';
      case 'type':
        return ['name', 'string'].includes(this.#tokens[index + 1]?.kind ?? '');
      case 'meta':
        return follows(1, '[') && follows(3, ']') && follows(4, ':');
      case 'metadata':
        return follows(1, '{');
      default:
        return false;
    }
  }

  #item(item: Item, parse: (context: ExprContext) => void): void {
    const context = this.#context(item);
    try {
      parse(context);
      if (context.cursor.peek().kind !== 'end') {
        throw context.cursor.unexpected(
          'def, private def, extern def, kernel, type, meta, metadata or the end of the text',
        );
      }
    } catch (fault) {
      this.#report(fault);
    }
  }

  #report(fault: unknown): void {
    if (!(fault instanceof SyntaxFault)) throw fault;
    this.#diagnostics.report(fault.token, fault.complaint);
  }

  #definition(item: Item): void {
    this.#item(item, (context) => {
      if (item.keyword === 'type') runTask(this.#type(context));
      else if (item.keyword === 'meta') runTask(this.#constant(context));
      else this.#facts(context);
    });
  }

  *#function(context: ExprContext, { keyword }: Item): Task<void> {
    const { cursor } = context;
    if (MARKS.has(keyword)) cursor.expect('def');
    const name = cursor.take('global', 'the name of a function such as @main');
    if (this.#functions.has(name.text)) this.#duplicate(name);
    // Known even if it cannot be read, so that those who call it are not reported too.
    let fn = func([], tuple([]));
    try {
      fn = yield* sub(PARSERS[isFunctionKeyword(keyword) ? keyword : 'def'](context, name));
    } finally {
      if (!this.#functions.has(name.text)) this.#functions.set(name.text, fn);
    }
  }

  /** `List[A] { Cons(A, List[A]), Nil }` */
  *#type(context: ExprContext): Task<void> {
    const { cursor } = context;
    const name = cursor.takeName('the name of a type');
    if (this.#types.has(name.text)) this.#duplicate(name);
    const params = parseTypeParams(context, ['[', ']']);
    const definition = { name: name.text, params, constructors: [] as ConstructorDefinition[] };
    // Known from here on, so that an error in a constructor is reported once.
    if (!this.#types.has(name.text)) this.#types.set(name.text, definition);
    yield* sub(
      cursor.listTask('{', '}', () => this.#constructorOf(context, definition.constructors)),
    );
  }

  *#constructorOf(context: ExprContext, constructors: ConstructorDefinition[]): Task<void> {
    const { cursor } = context;
    const name = cursor.take('name', 'a constructor such as Cons');
    if (!/^[A-Z]/.test(name.text)) {
      throw cursor.unexpected('a constructor, whose name begins with a capital', { token: name });
    }
    const taken = [...this.#types.values()].some((type) =>
      type.constructors.some((other) => other.name === name.text),
    );
    if (taken) this.#duplicate(name);
    const fields = cursor.at('(')
      ? yield* sub(cursor.listTask('(', ')', () => this.#field(context)))
      : [];
    const tag = cursor.accept('=') ? { tag: parseInteger(cursor, 'a tag') } : {};
    constructors.push({ name: name.text, fields, ...tag });
  }

  /** The type of a field, which stands for itself: no parameter tells its sizes. */
  *#field(context: ExprContext): Task<Type> {
    const token = context.cursor.peek();
    const type = yield* sub(parseType(context));
    const symbol = symbolIn(type);
    if (symbol !== undefined) {
      this.#diagnostics.report(token, {
        got: `the dimension ${symbol} in a field`,
        expected: 'a number or ?',
        remedy: 'Data do not name sizes: a let or a function that takes the field does.',
      });
    }
    return type;
  }

  /** `[0]: Tensor[(2,), float32] = base64 "…"` */
  *#constant(context: ExprContext): Task<void> {
    const { cursor } = context;
    cursor.expect('[');
    const number = cursor.take('number', 'the number of a tensor');
    cursor.expect(']');
    cursor.expect(':');
    const index = Number(number.text);
    if (this.#constants.has(index)) this.#duplicate(number, `meta[${number.text}]`);
    // Stands in when the data are broken, so that they are reported once.
    this.#constants.set(index, HostTensor.zeros('float32', []));
    this.#constants.set(index, yield* sub(parseConstant(context)));
  }

  /** `{ producer = "text" }` */
  #facts({ cursor }: ExprContext): void {
    cursor.list('{', '}', () => {
      const key = cursor.takeName('a key');
      if (this.#metadata.has(key.text)) this.#duplicate(key);
      cursor.expect('=');
      this.#metadata.set(key.text, cursor.take('string', 'a string').text);
    });
  }

  #duplicate(token: Token, what = describeToken(token)): void {
    const got = `a second definition of ${what}`;
    this.#diagnostics.report(token, { got, expected: 'each name once' });
  }

  #addConstructors({ constructors }: TypeDefinition): void {
    for (const constructor of constructors) this.#constructors.set(constructor.name, constructor);
  }

  #context({ keyword, start, end }: Item): ExprContext {
    const nameAt = MARKS.has(keyword) ? start + 2 : start + 1;
    const owner = `${keyword === 'private' ? 'def' : keyword} ${this.#tokens[nameAt]?.text ?? ''}`;
    const references = this.#references.get(owner) ?? [];
    this.#references.set(owner, references);
    return {
      cursor: new TokenCursor(this.#tokens, start + 1, end),
      diagnostics: this.#diagnostics,
      file: this.#file,
      operators: this.#operators,
      typeParams: new Bindings(),
      variables: new Bindings(),
      refer: ({ token, argumentCount }) => references.push({ kind: 'type', token, argumentCount }),
      referTo: (kind, token) => references.push({ kind, token }),
      metaTensor: (index) => this.#constants.get(index),
      isNullary: (constructor) => this.#constructors.get(constructor)?.fields.length === 0,
    };
  }
}

/** `@"my.fn"(%x: T) -> R` after `extern def`: a function that calls JavaScript by its name. */
function* parseExtern(context: ExprContext, start: Token): Task<FunctionExpr> {
  const { cursor } = context;
  context.typeParams.enter();
  try {
    const typeParams = parseTypeParams(context);
    const params: VarExpr[] = [];
    yield* sub(
      cursor.listTask('(', ')', function* () {
        const token = cursor.peek();
        const param = yield* sub(parseBinder(context));
        if (param.type === undefined) {
          throw cursor.unexpected('a parameter with its type, such as %x: int', { token });
        }
        params.push(param);
      }),
    );
    cursor.expect('->');
    const resultType = yield* sub(parseType(context));
    cursor.accept(';');
    const fn = extern(start.text, params, resultType);
    const span = spanAt(context, start);
    const body = { ...fn.body, span };
    return { ...fn, body, ...(typeParams.length > 0 && { typeParams }), span };
  } finally {
    context.typeParams.exit();
  }
}
