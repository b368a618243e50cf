import { UnsupportedError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes, AttributeValue } from '../../core/primitive-function.ts';
import type { ConstantExpr, Expr, FunctionExpr, Module } from './expr.ts';
import { formatType, tensorType } from './type.ts';
import { postOrder } from './visit.ts';

/** Constants up to this many elements stand in the text; larger ones in the metadata section. */
const INLINE_ELEMENTS = 8;

/**
 * A module as text in Relay's style: graph form, one numbered temporary per shared or compound
 * expression, large constants as `meta[i]` with a line each at the end that gives their type.
 */
export function printModule(module: Module): string {
  const printer = new Printer();
  for (const [name, fn] of module.functions) printer.global(name, fn);
  return printer.finish();
}

/** A single expression as text, its temporaries first. */
export function printExpr(expr: Expr): string {
  const printer = new Printer();
  printer.statement(expr);
  return printer.finish();
}

class Printer {
  readonly #lines: string[] = [];
  readonly #meta = new Map<HostTensor, number>();
  #names = new Map<Expr, string>();
  #taken = new Set<string>();
  #temporaries = 0;
  #indent = '';

  global(name: string, fn: FunctionExpr): void {
    if (this.#lines.length > 0) this.#lines.push('');
    this.#names = new Map();
    this.#taken = new Set();
    this.#temporaries = 0;
    this.#lines.push(`def @${identifier(name)}${this.#head(fn)} {`);
    this.#block(fn.body);
    this.#lines.push('}');
  }

  finish(): string {
    if (this.#meta.size > 0) this.#lines.push('');
    for (const [tensor, index] of this.#meta) {
      const splat = tensor.isSplat ? ` = ${formatElement(tensor, 0)}` : '';
      this.#lines.push(`meta[${index}]: ${formatType(tensorType(tensor))}${splat}`);
    }
    return `${this.#lines.join('\n')}\n`;
  }

  statement(root: Expr): void {
    const order = postOrder(root, (expr) => expr.kind !== 'function');
    for (const expr of order) {
      if (expr !== root && this.#names.has(expr)) continue;
      if (expr.kind === 'function') this.#function(expr);
      else if (expr === root || expr.kind === 'call') this.#compound(expr, expr === root);
    }
  }

  #head(fn: FunctionExpr): string {
    const params = fn.params.map((param) =>
      param.type === undefined
        ? this.#reference(param)
        : `${this.#reference(param)}: ${formatType(param.type)}`,
    );
    const { primitive, resultNames } = fn.attributes;
    if (primitive !== undefined) params.push(`primitive=${JSON.stringify(primitive)}`);
    if (resultNames !== undefined) params.push(`results=${JSON.stringify(resultNames)}`);
    return `(${params.join(', ')})`;
  }

  #block(body: Expr): void {
    const indent = this.#indent;
    this.#indent = `${indent}  `;
    this.statement(body);
    this.#indent = indent;
  }

  #function(fn: FunctionExpr): void {
    const name = this.#temporary();
    this.#lines.push(`${this.#indent}${name} = fn ${this.#head(fn)} {`);
    this.#block(fn.body);
    this.#lines.push(`${this.#indent}};`);
    this.#names.set(fn, name);
  }

  #compound(expr: Expr, isResult: boolean): void {
    const text = this.#text(expr);
    if (isResult) {
      this.#lines.push(`${this.#indent}${text}`);
      return;
    }
    const name = this.#temporary();
    this.#lines.push(`${this.#indent}${name} = ${text};`);
    this.#names.set(expr, name);
  }

  #temporary(): string {
    return `%${this.#temporaries++}`;
  }

  /** An expression in operand position. Tuples and projections are written out there. */
  #reference(expr: Expr): string {
    const known = this.#names.get(expr);
    if (known !== undefined) return known;
    if (expr.kind !== 'var') return this.#text(expr);
    const name = `%${unique(identifier(expr.name), this.#taken)}`;
    this.#names.set(expr, name);
    return name;
  }

  #text(expr: Expr): string {
    switch (expr.kind) {
      case 'var':
        return this.#reference(expr);
      case 'constant':
        return this.#constant(expr);
      case 'operator':
        return expr.name;
      case 'call': {
        const args = expr.args.map((arg) => this.#reference(arg));
        const attributes = formatAttributes(expr.attributes);
        return `${this.#reference(expr.callee)}(${[...args, ...attributes].join(', ')})`;
      }
      case 'tuple': {
        const fields = expr.fields.map((field) => this.#reference(field));
        return fields.length === 1 ? `(${fields[0]},)` : `(${fields.join(', ')})`;
      }
      case 'projection':
        return `${this.#reference(expr.tuple)}.${expr.index}`;
      case 'function':
        return this.#reference(expr);
      case 'int':
        return String(expr.value);
      case 'constructor':
        return expr.name;
      case 'global':
        return `@${identifier(expr.name)}`;
      case 'let':
      case 'if':
      case 'match':
        throw new UnsupportedError({
          where: 'printModule',
          got: `a ${expr.kind} expression`,
          expected: 'operator calls, functions and tuples',
        });
      default:
        return expr satisfies never;
    }
  }

  #constant({ value }: ConstantExpr): string {
    const isInline = value.elementCount <= INLINE_ELEMENTS && value.shape.length <= 1;
    if (isInline) {
      const elements = Array.from({ length: value.elementCount }, (_, i) =>
        formatElement(value, value.isSplat ? 0 : i),
      );
      return value.shape.length === 0 ? (elements[0] ?? '') : `[${elements.join(', ')}]`;
    }
    const index = this.#meta.get(value) ?? this.#meta.size;
    this.#meta.set(value, index);
    return `meta[${index}]`;
  }
}

function identifier(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_.]*$/.test(name) ? name : JSON.stringify(name);
}

function unique(name: string, taken: Set<string>): string {
  let candidate = name;
  for (let i = 1; taken.has(candidate); i++) candidate = `${name}_${i}`;
  taken.add(candidate);
  return candidate;
}

/** Suffixes tell dtypes apart: `1f`, `1i64`, `true`. */
const SUFFIX = {
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
} as const;

function formatElement(tensor: HostTensor, index: number): string {
  const element = tensor.elements[index] ?? 0;
  if (tensor.dtype === 'bool') return element === 0 ? 'false' : 'true';
  return `${formatNumber(element)}${SUFFIX[tensor.dtype]}`;
}

function formatAttributes(attributes: Attributes): string[] {
  return Object.entries(attributes).map(([name, value]) => `${name}=${formatAttribute(value)}`);
}

function formatAttribute(value: AttributeValue): string {
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value);
  return `[${value.map((item) => formatAttribute(item)).join(', ')}]`;
}

function formatNumber(value: number | bigint): string {
  return Object.is(value, -0) ? '-0' : String(value);
}
