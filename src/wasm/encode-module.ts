import { internalError } from '../core/errors.ts';
import {
  type Constant,
  type Expression,
  type Local,
  LOADS,
  type MultiplyAdd,
  STORES,
} from './expression.ts';
import { ByteWriter } from './byte-writer.ts';
import { findInstruction } from './instructions.ts';
import type { Statement, WasmFunction } from './statement.ts';
import { TYPE_CODES, type ValueType } from './value-type.ts';

/** Functions that call each other by name; of other groups they know nothing. */
export type FunctionGroup = readonly WasmFunction[];

interface ModuleOptions extends CodeOptions {
  readonly groups: readonly FunctionGroup[];
  /** The imported memory `env.memory`, in pages of 64 KiB; `shared` needs a maximum. */
  readonly memory?: MemoryLimits;
}

interface MemoryLimits {
  readonly minimum: number;
  readonly maximum?: number;
  readonly shared?: boolean;
}

interface CodeOptions {
  /** Adds products with one rounding, which needs relaxed SIMD. */
  readonly isRelaxed?: boolean;
  /**
   * Calls the import `env.check` before each load and store, with the address, the constant offset
   * and the number of bytes: it returns the address, or throws.
   */
  readonly isChecked?: boolean;
}

/** `\0asm`, version 1. */
const MAGIC = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const FUNCTION = 0x60;
const VOID = 0x40;
const END = 0x0b;
const IF = [0x04, VOID];
const ELSE = 0x05;
const LOOP = [0x03, VOID];
const BRANCH_IF = 0x0d;
const CALL = 0x10;
const SELECT = 0x1b;
const GET = 0x20;
const SET = 0x21;
const I32_CONST = 0x41;
const I32_ADD = 0x6a;
const SIMD = 0xfd;
const V128_CONST = [SIMD, 12];
const SHUFFLE = [SIMD, 13];

/**
 * A module in WebAssembly's binary format, which imports its memory and exports the last function of each
 * group, by the group's index.
 */
export function encodeModule({
  groups,
  memory = { minimum: 1 },
  ...options
}: ModuleOptions): Uint8Array<ArrayBuffer> {
  const types = new FunctionTypes();
  const { isChecked = false } = options;
  const check = isChecked ? types.add(['i32', 'i32', 'i32'], ['i32']) : undefined;
  const importCount = isChecked ? 1 : 0;
  const typeOf = groups.flat().map(({ params }) => types.add(params.map(({ type }) => type)));
  const [bodies, exports, module] = [new ByteWriter(), new ByteWriter(), new ByteWriter()];
  let count = 0;
  exports.unsigned(groups.length);
  for (const [g, group] of groups.entries()) {
    const first = importCount + count;
    const indices = new Map(group.map(({ name }, i) => [name, first + i]));
    if (indices.size !== group.length) throw internalError('two functions of one name');
    for (const fn of group) bodies.sized(new FunctionEmitter(fn, indices, options).emit());
    count += group.length;
    exports.text(String(g));
    exports.byte(0);
    exports.unsigned(importCount + count - 1);
  }
  module.bytes(MAGIC);
  section(module, 1, (to) => types.write(to));
  section(module, 2, (to) => writeImports(to, memory, check));
  section(module, 3, (to) => {
    to.unsigned(count);
    for (const type of typeOf) to.unsigned(type);
  });
  section(module, 7, (to) => to.bytes(exports.written()));
  section(module, 10, (to) => {
    to.unsigned(count);
    to.bytes(bodies.written());
  });
  return module.written().slice();
}

class FunctionTypes {
  readonly #indices = new Map<string, number>();
  readonly #types: (readonly (readonly ValueType[])[])[] = [];

  add(params: readonly ValueType[], results: readonly ValueType[] = []): number {
    const key = `${params.join()} ${results.join()}`;
    const known = this.#indices.get(key);
    if (known !== undefined) return known;
    this.#indices.set(key, this.#types.length);
    return this.#types.push([params, results]) - 1;
  }

  write(to: ByteWriter): void {
    to.unsigned(this.#types.length);
    for (const type of this.#types) {
      to.byte(FUNCTION);
      for (const values of type) to.sized(values.map((value) => TYPE_CODES[value]));
    }
  }
}

/** The memory, then the function of type `check` where there is one. */
function writeImports(
  to: ByteWriter,
  { minimum, maximum, shared = false }: MemoryLimits,
  check: number | undefined,
): void {
  to.byte(check === undefined ? 1 : 2);
  to.text('env');
  to.text('memory');
  to.byte(2);
  to.byte((maximum === undefined ? 0 : 1) | (shared ? 2 : 0));
  to.unsigned(minimum);
  if (maximum !== undefined) to.unsigned(maximum);
  if (check === undefined) return;
  to.text('env');
  to.text('check');
  to.byte(0);
  to.unsigned(check);
}

function section(to: ByteWriter, id: number, write: (content: ByteWriter) => void): void {
  const content = new ByteWriter();
  write(content);
  to.byte(id);
  to.sized(content.written());
}

class FunctionEmitter {
  readonly #fn: WasmFunction;
  readonly #functions: ReadonlyMap<string, number>;
  readonly #locals = new Map<symbol, number>();
  readonly #declared: ValueType[] = [];
  readonly #code = new ByteWriter();

  readonly #options: CodeOptions;

  constructor(fn: WasmFunction, functions: ReadonlyMap<string, number>, options: CodeOptions) {
    this.#fn = fn;
    this.#functions = functions;
    this.#options = options;
    for (const { id } of fn.params) this.#locals.set(id, this.#locals.size);
  }

  emit(): Uint8Array {
    this.#block(this.#fn.body);
    // Locals come in runs of one type; they are numbered as they are met.
    const runs: { type: ValueType; count: number }[] = [];
    for (const type of this.#declared) {
      const last = runs.at(-1);
      if (last?.type === type) last.count++;
      else runs.push({ type, count: 1 });
    }
    const body = new ByteWriter();
    body.unsigned(runs.length);
    for (const { type, count } of runs) {
      body.unsigned(count);
      body.byte(TYPE_CODES[type]);
    }
    body.bytes(this.#code.written());
    body.byte(END);
    return body.written();
  }

  /** An instruction with a local, which has a number from its first use on. */
  #withLocal(opcode: number, { id, type }: Local): void {
    let index = this.#locals.get(id);
    if (index === undefined) {
      index = this.#locals.size;
      this.#locals.set(id, index);
      this.#declared.push(type);
    }
    this.#code.byte(opcode);
    this.#code.unsigned(index);
  }

  /** An instruction that moves elements at multiples of their size, vectors at those of their lanes. */
  #withMemory(code: readonly number[], byteLength: number, offset: number): void {
    this.#code.bytes(code);
    this.#code.byte(Math.min(Math.log2(byteLength), 2));
    this.#code.unsigned(offset);
  }

  #block(statements: readonly Statement[]): void {
    for (const statement of statements) this.#statement(statement);
  }

  #statement(statement: Statement): void {
    switch (statement.kind) {
      case 'set':
        this.#expression(statement.value);
        this.#withLocal(SET, statement.target);
        return;
      case 'store': {
        const { code, byteLength } = STORES[statement.width];
        this.#address(statement, byteLength);
        this.#expression(statement.value);
        this.#withMemory(code, byteLength, statement.offset);
        return;
      }
      case 'if':
        this.#expression(statement.condition);
        this.#code.bytes(IF);
        this.#block(statement.whenTrue);
        if (statement.whenFalse.length > 0) {
          this.#code.byte(ELSE);
          this.#block(statement.whenFalse);
        }
        this.#code.byte(END);
        return;
      case 'call': {
        const index = this.#functions.get(statement.name);
        if (index === undefined) throw internalError(`no function ${statement.name}`);
        for (const arg of statement.args) this.#expression(arg);
        this.#code.byte(CALL);
        this.#code.unsigned(index);
        return;
      }
      case 'loop':
        return this.#loop(statement);
      default:
        statement satisfies never;
    }
  }

  /** Tested before the first round, then at its end. */
  #loop({ index, begin, end, step, body }: Extract<Statement, { kind: 'loop' }>): void {
    const isLess = (): void => {
      this.#withLocal(GET, index);
      this.#expression(end);
      this.#code.byte(LESS_SIGNED);
    };
    this.#expression(begin);
    this.#withLocal(SET, index);
    isLess();
    this.#code.bytes(IF);
    this.#code.bytes(LOOP);
    this.#block(body);
    this.#withLocal(GET, index);
    this.#code.byte(I32_CONST);
    this.#code.signed(step);
    this.#code.byte(I32_ADD);
    this.#withLocal(SET, index);
    isLess();
    this.#code.bytes([BRANCH_IF, 0, END, END]);
  }

  #address(access: { readonly address: Expression; readonly offset: number }, bytes: number): void {
    this.#expression(access.address);
    if (this.#options.isChecked !== true) return;
    for (const value of [access.offset, bytes]) {
      writeConstant(this.#code, { kind: 'constant', type: 'i32', value });
    }
    // The import is the first function.
    this.#code.byte(CALL);
    this.#code.byte(0);
  }

  #multiplyAdd({ a, b, c }: MultiplyAdd): void {
    const { isRelaxed = false } = this.#options;
    if (isRelaxed) {
      for (const operand of [a, b, c]) this.#expression(operand);
      this.#code.bytes(MULTIPLY_ADD);
      return;
    }
    for (const operand of [c, a, b]) this.#expression(operand);
    this.#code.bytes(MULTIPLY);
    this.#code.bytes(ADD);
  }

  #expression(expression: Expression): void {
    switch (expression.kind) {
      case 'local':
        this.#withLocal(GET, expression);
        return;
      case 'constant':
        writeConstant(this.#code, expression);
        return;
      case 'operation':
        for (const operand of expression.operands) this.#expression(operand);
        this.#code.bytes(expression.code);
        return;
      case 'lane':
        for (const operand of expression.operands) this.#expression(operand);
        this.#code.byte(SIMD);
        this.#code.byte(expression.opcode);
        this.#code.byte(expression.lane);
        return;
      case 'load': {
        const { code, byteLength } = LOADS[expression.width];
        this.#address(expression, byteLength);
        this.#withMemory(code, byteLength, expression.offset);
        return;
      }
      case 'select':
        this.#expression(expression.whenTrue);
        this.#expression(expression.whenFalse);
        this.#expression(expression.condition);
        this.#code.byte(SELECT);
        return;
      case 'shuffle':
        this.#expression(expression.left);
        this.#expression(expression.right);
        this.#code.bytes(SHUFFLE);
        this.#code.bytes(expression.bytes);
        return;
      case 'madd':
        this.#multiplyAdd(expression);
        return;
      default:
        expression satisfies never;
    }
  }
}

const LESS_SIGNED = 0x48;
const MULTIPLY_ADD = codeOf('f32x4.relaxed_madd');
const MULTIPLY = codeOf('f32x4.mul');
const ADD = codeOf('f32x4.add');

function codeOf(name: string): readonly number[] {
  return findInstruction(name)?.code ?? [];
}

function writeConstant(to: ByteWriter, { type, value }: Constant): void {
  switch (type) {
    case 'i32':
      to.byte(I32_CONST);
      return to.signed(Number(value));
    case 'i64':
      to.byte(0x42);
      return to.signedWide(value as bigint);
    case 'f32':
      to.byte(0x43);
      return to.bytes(new Uint8Array(Float32Array.of(Number(value)).buffer));
    case 'f64':
      to.byte(0x44);
      return to.bytes(new Uint8Array(Float64Array.of(Number(value)).buffer));
    case 'v128':
      to.bytes(V128_CONST);
      return to.bytes(value as Uint8Array);
    default:
      return type satisfies never;
  }
}
