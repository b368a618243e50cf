import { checkOptions, oneOf, type OptionKinds } from '../../../core/check-options.ts';
import type { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { checkNesting, checkPatternsIn, checkTypesIn } from './check-nesting.ts';
import { tensorType } from '../type.ts';
import {
  type CallExpr,
  type Expr,
  type FunctionExpr,
  type IfExpr,
  type LetExpr,
  type MatchExpr,
  type Module,
  ON_DEVICE,
  type Pattern,
  type SymbolBounds,
  type VarExpr,
} from '../expr.ts';
import { printAttribute, printData, printFloat, printSmallTensor } from './print-literal.ts';
import { type Block, type Plan, planBlocks } from './print-plan.ts';
import { requireExpr } from '../require-module.ts';
import { list, printName, printType, printTypeParams } from './print-type.ts';
import { FLOAT } from '../operators/scalar-operators.ts';
import { runTask, sub, type Task } from '../task.ts';

/** How much of a program is written. */
interface PrintOptions {
  /**
   * `full` writes what `parseModule` needs to give the same module back: the data of large
   * constants and the facts about the program. Default `elided`, for people.
   */
  readonly data?: 'full' | 'elided';
  /** Called with the expression that a line, counted from 0, ends with. */
  readonly onLine?: ((line: number, expr: Expr) => void) | undefined;
}

const PRINT_OPTIONS: OptionKinds<PrintOptions> = {
  data: oneOf('full', 'elided'),
  onLine: 'function',
};

/**
 * A module as text in Relay's style: graph form, one numbered temporary per shared or compound
 * expression, large constants as `meta[i]` with an entry each at the end.
 */
export function printModule(module: Module, options: PrintOptions = {}): string {
  checkOptions<PrintOptions>('printModule', options, PRINT_OPTIONS);
  const { data = 'elided', onLine } = options;
  checkNesting(module, 'printModule');
  const printer = new Printer(onLine);
  for (const definition of module.types.values()) {
    const constructors = definition.constructors.map(
      ({ name, fields, tag }) =>
        `${name}${fields.length > 0 ? `(${fields.map(printType).join(', ')})` : ''}${tag === undefined ? '' : ` = ${tag}`}`,
    );
    const params = definition.params.map(printName).join(', ');
    const head = `${printName(definition.name)}${params === '' ? '' : `[${params}]`}`;
    printer.item([`type ${head} { ${constructors.join(', ')} }`]);
  }
  for (const [name, fn] of module.functions) printer.global(name, fn);
  printer.metadata(module.metadata, data);
  return printer.finish();
}

/** A single expression as text, its temporaries first. */
export function printExpr(expr: Expr, options: PrintOptions = {}): string {
  checkOptions<PrintOptions>('printExpr', options, PRINT_OPTIONS);
  requireExpr('printExpr', expr);
  const { data = 'elided' } = options;
  checkTypesIn(expr, 'expression');
  checkPatternsIn(expr, 'expression');
  const printer = new Printer();
  printer.expression(expr);
  printer.metadata({}, data);
  return printer.finish();
}

/** Deeper lines are not indented further, so that the text stays linear in the program. */
const MAX_INDENT = 40;

class Printer {
  readonly #lines: string[] = [];
  readonly #onLine: PrintOptions['onLine'];
  readonly #constants = new Map<HostTensor, number>();
  #names = new Map<Expr, string>();
  #taken = new Set<string>();
  /** The last suffix that made a name unique. */
  #suffixes = new Map<string, number>();
  #temporaries = 0;
  #depth = 0;
  #plan: Plan | undefined;

  constructor(onLine?: PrintOptions['onLine']) {
    this.#onLine = onLine;
  }

  /** Lines of their own, after an empty one. */
  item(lines: readonly string[]): void {
    if (this.#lines.length > 0 && lines.length > 0) this.#lines.push('');
    for (const line of lines) this.#lines.push(line);
  }

  global(name: string, fn: FunctionExpr): void {
    if (this.#lines.length > 0) this.#lines.push('');
    this.#names = new Map();
    this.#taken = new Set();
    this.#suffixes = new Map();
    this.#temporaries = 0;
    this.#plan = planBlocks(fn.body);
    const mark = fn.attributes.private === true ? 'private ' : '';
    this.#line(`${mark}def @${printName(name)}${this.#head(fn)} {`);
    runTask(this.#block(this.#plan.top));
    this.#line('}');
  }

  expression(expr: Expr): void {
    this.#plan = planBlocks(expr);
    this.#depth = -1;
    runTask(this.#block(this.#plan.top));
  }

  metadata(facts: Readonly<Record<string, string>>, data: 'full' | 'elided'): void {
    const constants = [...this.#constants].map(
      ([tensor, index]) =>
        `meta[${index}]: ${printType(tensorType(tensor))}${printData(tensor, data)}`,
    );
    this.item(constants);
    const entries = Object.entries(facts).map(
      ([key, value]) => `  ${printName(key)} = ${JSON.stringify(value)},`,
    );
    if (data === 'full' && entries.length > 0) this.item(['metadata {', ...entries, '}']);
  }

  finish(): string {
    return `${this.#lines.join('\n')}\n`;
  }

  #line(text: string, expr?: Expr): void {
    if (expr !== undefined) this.#onLine?.(this.#lines.length, expr);
    this.#lines.push('  '.repeat(Math.min(this.#depth, MAX_INDENT)) + text);
  }

  *#block({ statements, result }: Block): Task<void> {
    this.#depth++;
    for (const { kind, expr } of statements) {
      if (kind === 'let') yield* sub(this.#let(expr as LetExpr));
      else yield* sub(this.#name(expr));
    }
    yield* sub(this.#write(result, { prefix: '', suffix: '' }));
    this.#depth--;
  }

  *#name(expr: Expr): Task<void> {
    // `%"0"` and `%0` are one name.
    while (this.#taken.has(String(this.#temporaries))) this.#temporaries++;
    const number = String(this.#temporaries++);
    this.#taken.add(number);
    const name = `%${number}`;
    yield* sub(this.#write(expr, { prefix: `${name} = `, suffix: ';' }));
    this.#names.set(expr, name);
  }

  *#let({ variable, value }: LetExpr): Task<void> {
    const prefix = `let ${this.#binder(variable)} = `;
    yield* sub(this.#write(value, { prefix, suffix: ';' }));
  }

  /** An expression, written out unless it has a name, over one or more lines. */
  *#write(expr: Expr, around: Around): Task<void> {
    const { prefix, suffix } = around;
    if (this.#names.has(expr)) {
      this.#line(`${prefix}${this.#reference(expr)}${suffix}`);
    } else if (expr.kind === 'if') {
      yield* sub(this.#if(expr, around));
    } else if (expr.kind === 'match') {
      yield* sub(this.#match(expr, around));
    } else if (expr.kind === 'function' || expr.kind === 'let') {
      const head = expr.kind === 'let' ? '' : this.#functionHead(expr);
      this.#line(`${prefix}${head}{`);
      for (const block of this.#blocks(expr)) yield* sub(this.#block(block));
      this.#line(`}${suffix}`);
    } else {
      this.#line(`${prefix}${this.#text(expr)}${suffix}`, expr);
    }
  }

  #functionHead(fn: FunctionExpr): string {
    const head = this.#head(fn);
    return `fn${head.startsWith('<') ? '' : ' '}${head} `;
  }

  *#if(expr: IfExpr, { prefix, suffix }: Around): Task<void> {
    let head = `${prefix}if`;
    for (let chain = expr; ; ) {
      const [then, otherwise] = this.#blocks(chain);
      if (then === undefined || otherwise === undefined) break;
      this.#line(`${head} (${this.#reference(chain.condition)}) {`);
      yield* sub(this.#block(then));
      const { statements, result } = otherwise;
      const isChain =
        statements.length === 0 && result.kind === 'if' && this.#names.get(result) === undefined;
      if (isChain) {
        chain = result;
        head = '} else if';
        continue;
      }
      this.#line('} else {');
      yield* sub(this.#block(otherwise));
      break;
    }
    this.#line(`}${suffix}`);
  }

  *#match(expr: MatchExpr, { prefix, suffix }: Around): Task<void> {
    const keyword = expr.complete ? 'match' : 'match?';
    this.#line(`${prefix}${keyword} (${this.#reference(expr.value)}) {`);
    this.#depth++;
    const blocks = this.#blocks(expr);
    for (const [i, { pattern }] of expr.clauses.entries()) {
      const block = blocks[i];
      if (block === undefined) continue;
      const head = `${this.#pattern(pattern)} => `;
      if (block.statements.length === 0) {
        yield* sub(this.#write(block.result, { prefix: head, suffix: ',' }));
      } else {
        this.#line(`${head}{`);
        yield* sub(this.#block(block));
        this.#line('},');
      }
    }
    this.#depth--;
    this.#line(`}${suffix}`);
  }

  #blocks(expr: Expr): readonly Block[] {
    return this.#plan?.inside(expr) ?? [];
  }

  #head(fn: FunctionExpr): string {
    const params = fn.params.map((param) => this.#binder(param));
    const { primitive, device, inPlace, resultNames, bounds, captured } = fn.attributes;
    if (primitive !== undefined) params.push(`primitive=${JSON.stringify(primitive)}`);
    if (device !== undefined) params.push(`device=${JSON.stringify(device)}`);
    if (inPlace !== undefined) params.push(`in_place=${inPlace}`);
    if (resultNames !== undefined) params.push(`results=${JSON.stringify(resultNames)}`);
    if (bounds !== undefined) params.push(`bounds=${printBounds(bounds)}`);
    if (captured !== undefined) params.push(`captured=${captured}`);
    const result = fn.resultType === undefined ? '' : ` -> ${printType(fn.resultType)}`;
    return `${printTypeParams(fn.typeParams)}(${params.join(', ')})${result}`;
  }

  #binder(variable: VarExpr): string {
    const name = this.#reference(variable);
    return variable.type === undefined ? name : `${name}: ${printType(variable.type)}`;
  }

  #pattern(pattern: Pattern): string {
    switch (pattern.kind) {
      case 'wildcard':
        return '_';
      case 'var-pattern':
        return this.#binder(pattern.variable);
      case 'tuple-pattern':
        return list(pattern.fields.map((field) => this.#pattern(field)));
      case 'constructor-pattern': {
        const fields = pattern.fields.map((field) => this.#pattern(field)).join(', ');
        return fields === '' ? pattern.constructor : `${pattern.constructor}(${fields})`;
      }
      case 'int-pattern':
        return `#${pattern.value}`;
      case 'float-pattern':
        return printFloat(pattern.value);
      default:
        return pattern satisfies never;
    }
  }

  /** An expression in operand position. */
  #reference(expr: Expr): string {
    const known = this.#names.get(expr);
    if (known !== undefined) return known;
    if (expr.kind !== 'var') return this.#text(expr);
    const name = `%${printName(this.#unique(expr.name))}`;
    this.#names.set(expr, name);
    return name;
  }

  #unique(name: string): string {
    let count = this.#suffixes.get(name) ?? 0;
    let candidate = count === 0 ? name : `${name}_${count}`;
    while (this.#taken.has(candidate)) candidate = `${name}_${++count}`;
    this.#suffixes.set(name, count);
    this.#taken.add(candidate);
    return candidate;
  }

  #text(expr: Expr): string {
    switch (expr.kind) {
      case 'var':
        return this.#reference(expr);
      case 'constant':
        return printSmallTensor(expr.value) ?? this.#constant(expr.value);
      case 'int':
        return `#${expr.value}`;
      case 'operator':
      case 'constructor':
        return expr.name;
      case 'global':
        return `@${printName(expr.name)}`;
      case 'call':
        return this.#call(expr);
      case 'tuple':
        return list(expr.fields.map((field) => this.#reference(field)));
      case 'projection': {
        const { kind } = expr.tuple;
        const tuple = this.#reference(expr.tuple);
        // `1.0` is a number.
        return `${kind === 'constant' ? `(${tuple})` : tuple}.${expr.index}`;
      }
      case 'function':
      case 'let':
      case 'if':
      case 'match':
        throw new Error(`internal: a ${expr.kind} has no name where it is an operand`);
      default:
        return expr satisfies never;
    }
  }

  #call({ callee, args, attributes, typeArguments, onDevice }: CallExpr): string {
    if (callee.kind === 'operator' && callee.name === FLOAT) {
      return printFloat(Number(attributes['value']));
    }
    const items = args.map((arg) => this.#reference(arg));
    for (const [name, value] of Object.entries(attributes)) {
      items.push(`${printName(name)}=${printAttribute(value)}`);
    }
    if (onDevice !== undefined) items.push(`${ON_DEVICE}=${JSON.stringify(onDevice)}`);
    const head = this.#reference(callee);
    if (typeArguments !== undefined) {
      return `${head}<${typeArguments.map(printType).join(', ')}>(${items.join(', ')})`;
    }
    return items.length === 0 && callee.kind === 'constructor'
      ? head
      : `${head}(${items.join(', ')})`;
  }

  #constant(tensor: HostTensor): string {
    const index = this.#constants.get(tensor) ?? this.#constants.size;
    this.#constants.set(tensor, index);
    return `meta[${index}]`;
  }
}

/** The text around an expression on its first and last line. */
interface Around {
  readonly prefix: string;
  readonly suffix: string;
}

/** `{n: (1, 8), m: (2, 2)}` */
function printBounds(bounds: SymbolBounds): string {
  const items = Object.entries(bounds).map(
    ([symbol, [min, max]]) => `${printName(symbol)}: (${min}, ${max})`,
  );
  return `{${items.join(', ')}}`;
}
