import {
  type Constant,
  type Expression,
  EXTRACTS,
  type LaneOperation,
  type Local,
  REPLACES,
} from './expression.ts';
import type { Statement, WasmFunction } from './statement.ts';
import type { ValueType } from './value-type.ts';

/** First letters of locals that have no name. */
const LETTERS: Readonly<Record<ValueType, string>> = {
  i32: 'i',
  i64: 'l',
  f32: 'f',
  f64: 'd',
  v128: 'v',
};

/** Arithmetic of i32, in which addresses and counts are computed. */
const INFIX: ReadonlyMap<string, string> = new Map([
  ['i32.add', '+'],
  ['i32.sub', '-'],
  ['i32.mul', '*'],
  ['i32.div_u', '/'],
  ['i32.rem_u', '%'],
  ['i32.and', '&'],
  ['i32.or', '|'],
  ['i32.shl', '<<'],
  ['i32.shr_u', '>>>'],
  ['i32.lt_s', '<'],
  ['i32.gt_s', '>'],
  ['i32.le_s', '<='],
  ['i32.ge_s', '>='],
  ['i32.eq', '=='],
  ['i32.ne', '!='],
]);

/**
 * A function as a loop nest to read. Instructions have the names of WebAssembly's text format; loads and stores are
 * `f32[address]`, arithmetic of i32 is written with signs. Parameters may be given names.
 */
export function printFunction(
  fn: WasmFunction,
  names: ReadonlyMap<Local, string> = new Map(),
): string {
  return new FunctionPrinter(names).print(fn);
}

class FunctionPrinter {
  readonly #names: Map<symbol, string>;
  readonly #counts = new Map<ValueType, number>();
  readonly #lines: string[] = [];

  constructor(names: ReadonlyMap<Local, string>) {
    this.#names = new Map([...names].map(([{ id }, name]) => [id, name]));
  }

  print({ name, params, body }: WasmFunction): string {
    const listed = params.map((param) => `${this.#local(param)}: ${param.type}`);
    this.#lines.push(`function ${name}(${listed.join(', ')}) {`);
    this.#block(body, '  ');
    this.#lines.push('}');
    return `${this.#lines.join('\n')}\n`;
  }

  #block(statements: readonly Statement[], indent: string): void {
    for (const statement of statements) this.#statement(statement, indent);
  }

  #statement(statement: Statement, indent: string): void {
    const add = (line: string): void => void this.#lines.push(indent + line);
    switch (statement.kind) {
      case 'set':
        return add(this.#assignment(statement.target, statement.value));
      case 'store': {
        const { width, address, offset, value } = statement;
        return add(`${this.#memory(width, address, offset)} = ${this.#text(value)}`);
      }
      case 'call':
        return add(`${statement.name}(${this.#list(statement.args)})`);
      case 'loop': {
        const { index, begin, end, step, body } = statement;
        const by = step === 1 ? '' : ` step ${step}`;
        add(`for ${this.#local(index)} = ${this.#text(begin)} to ${this.#text(end)}${by} {`);
        this.#block(body, `${indent}  `);
        return add('}');
      }
      case 'if': {
        const { condition, whenTrue, whenFalse } = statement;
        add(`if ${this.#text(condition)} {`);
        this.#block(whenTrue, `${indent}  `);
        if (whenFalse.length > 0) add('} else {');
        this.#block(whenFalse, `${indent}  `);
        return add('}');
      }
      default:
        return statement satisfies never;
    }
  }

  #assignment(target: Local, value: Expression): string {
    const name = this.#local(target);
    if (value.kind === 'operation' && value.name === 'i32.add') {
      const [first, added] = value.operands;
      const isIncrement = first?.kind === 'local' && first.id === target.id;
      if (isIncrement && added !== undefined) return `${name} += ${this.#text(added)}`;
    }
    return `${name} = ${this.#text(value)}`;
  }

  #local({ id, type }: Local): string {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const count = this.#counts.get(type) ?? 0;
    this.#counts.set(type, count + 1);
    const name = `${LETTERS[type]}${count}`;
    this.#names.set(id, name);
    return name;
  }

  #list(expressions: readonly Expression[]): string {
    return expressions.map((each) => this.#text(each)).join(', ');
  }

  #memory(width: string, address: Expression, offset: number): string {
    return `${width}[${this.#text(address)}${offset === 0 ? '' : ` + ${offset}`}]`;
  }

  #text(expression: Expression): string {
    switch (expression.kind) {
      case 'local':
        return this.#local(expression);
      case 'constant':
        return printConstant(expression);
      case 'operation': {
        const { name, operands } = expression;
        const sign = INFIX.get(name);
        if (sign === undefined) return `${name}(${this.#list(operands)})`;
        return operands.map((operand) => this.#operand(operand)).join(` ${sign} `);
      }
      case 'lane':
        return `${laneName(expression)} ${expression.lane} (${this.#list(expression.operands)})`;
      case 'load':
        return this.#memory(expression.width, expression.address, expression.offset);
      case 'select': {
        const { condition, whenTrue, whenFalse } = expression;
        return `select(${this.#list([condition, whenTrue, whenFalse])})`;
      }
      case 'shuffle': {
        const { left, right, bytes } = expression;
        return `shuffle(${this.#list([left, right])}, ${bytes.join(' ')})`;
      }
      case 'madd':
        return `madd(${this.#list([expression.a, expression.b, expression.c])})`;
      default:
        return expression satisfies never;
    }
  }

  /** In parentheses where it has a sign of its own. */
  #operand(expression: Expression): string {
    const text = this.#text(expression);
    return expression.kind === 'operation' && INFIX.has(expression.name) ? `(${text})` : text;
  }
}

function printConstant({ type, value }: Constant): string {
  if (!(value instanceof Uint8Array))
    return type.startsWith('f') ? `${type}(${value})` : `${value}`;
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  const words = [0, 4, 8, 12].map((at) => `0x${view.getUint32(at, true).toString(16)}`);
  const isSplat = words.every((word) => word === words[0]);
  return isSplat ? `i32x4.splat(${words[0]})` : `i32x4(${words.join(', ')})`;
}

function laneName({ opcode, operands }: LaneOperation): string {
  const [table, verb] =
    operands.length === 1
      ? ([EXTRACTS, 'extract_lane'] as const)
      : ([REPLACES, 'replace_lane'] as const);
  const [lanes = ''] = Object.entries(table).find(([, code]) => code === opcode) ?? [];
  const [shape, sign] = lanes.split('_');
  return `${shape}.${verb}${sign === undefined ? '' : `_${sign}`}`;
}
