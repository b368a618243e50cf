import { internalError } from '../core/errors.ts';
import type { FunctionGroup } from './encode-module.ts';
import { apply, type Expression, i64, integerOf, type Local, local, select } from './expression.ts';
import { type Addresses, findAddresses, isAddress } from './find-addresses.ts';
import { mapChildren } from './map-expression.ts';
import { set, type Statement, type WasmFunction } from './statement.ts';

/** Instructions of two i32 that compare addresses too. */
const COMPARISON = /^i32\.(eq|ne|[lg][te]_[su])$/;

/**
 * The same functions with addresses of 64 bits. `params` are the parameters of the last function that are
 * addresses: these become float64, which JavaScript has without BigInt. Numbers that are added to addresses
 * stay i32 and count as signed, so what an address comes from must be of less than 2 GiB. Throws an internal
 * error where an address is used as a number, or memory is accessed at what is none.
 */
export function widenAddresses(group: FunctionGroup, params: readonly Local[]): FunctionGroup {
  const functions = new Map(group.map((fn) => [fn.name, fn]));
  const entry = group.at(-1);
  if (entry === undefined) return [];
  const called = calledFrom(entry, functions);
  const kept = group.filter((fn) => called.has(fn));
  const addresses = findAddresses(kept, params);
  const locals = new Map([...addresses].map((id) => [id, local('i64')]));
  return kept.map((fn) => {
    const widened = new Widener(fn.name, { addresses, locals, functions }).widen(fn);
    return fn === entry ? withFloats(widened) : widened;
  });
}

/** Nobody can tell what others are given. */
function calledFrom(
  entry: WasmFunction,
  functions: ReadonlyMap<string, WasmFunction>,
): ReadonlySet<WasmFunction> {
  const called = new Set([entry]);
  const visit = (statements: readonly Statement[]): void => {
    for (const statement of statements) {
      if (statement.kind === 'loop') visit(statement.body);
      if (statement.kind === 'if') visit([...statement.whenTrue, ...statement.whenFalse]);
      const fn = statement.kind === 'call' ? functions.get(statement.name) : undefined;
      if (fn !== undefined) called.add(fn);
    }
  };
  // Functions that are added meanwhile come too.
  for (const { body } of called) visit(body);
  return called;
}

interface WidenedGroup {
  readonly addresses: Addresses;
  /** Of each address the local that holds it now. */
  readonly locals: ReadonlyMap<symbol, Local>;
  readonly functions: ReadonlyMap<string, WasmFunction>;
}

/** A function whose parameters of i64 are given as float64, which holds integers up to 2^53. */
function withFloats({ name, params, body }: WasmFunction): WasmFunction {
  const converted: Statement[] = [];
  const given = params.map((param) => {
    if (param.type !== 'i64') return param;
    const float = local('f64');
    converted.push(set(param, apply('i64.trunc_sat_f64_u', float)));
    return float;
  });
  return { name, params: given, body: [...converted, ...body] };
}

class Widener {
  readonly #name: string;
  readonly #group: WidenedGroup;

  constructor(name: string, group: WidenedGroup) {
    this.#name = name;
    this.#group = group;
  }

  widen({ name, params, body }: WasmFunction): WasmFunction {
    return {
      name,
      params: params.map((param) => this.#group.locals.get(param.id) ?? param),
      body: this.#block(body),
    };
  }

  #block(statements: readonly Statement[]): Statement[] {
    return statements.map((statement) => this.#statement(statement));
  }

  #statement(statement: Statement): Statement {
    switch (statement.kind) {
      case 'set':
        return this.#assignment(statement.target, statement.value);
      case 'store': {
        const { address, value } = statement;
        return { ...statement, address: this.#address(address), value: this.#number(value) };
      }
      case 'if': {
        const { condition, whenTrue, whenFalse } = statement;
        return {
          ...statement,
          condition: this.#condition(condition),
          whenTrue: this.#block(whenTrue),
          whenFalse: this.#block(whenFalse),
        };
      }
      case 'loop': {
        const { index, begin, end, body } = statement;
        this.#number(index);
        const range = { begin: this.#number(begin), end: this.#number(end) };
        return { ...statement, ...range, body: this.#block(body) };
      }
      case 'call': {
        const { params = [] } = this.#group.functions.get(statement.name) ?? {};
        const args = statement.args.map((arg, i) => {
          const param = params[i];
          const isWide = param !== undefined && this.#group.locals.has(param.id);
          return isWide ? this.#address(arg) : this.#number(arg);
        });
        return { ...statement, args };
      }
      default:
        return statement satisfies never;
    }
  }

  #assignment(target: Local, value: Expression): Statement {
    const wide = this.#group.locals.get(target.id);
    return wide === undefined ? set(target, this.#number(value)) : set(wide, this.#address(value));
  }

  /** An address as an i64. A constant is one too, where a function is given none. */
  #address(expression: Expression): Expression {
    const known = integerOf(expression);
    if (known !== undefined) return i64(BigInt(known));
    if (expression.kind === 'local') {
      const wide = this.#group.locals.get(expression.id);
      if (wide !== undefined) return wide;
    }
    if (expression.kind === 'select') {
      const { condition, whenTrue, whenFalse } = expression;
      const choices = [this.#address(whenTrue), this.#address(whenFalse)] as const;
      return select(this.#condition(condition), ...choices);
    }
    if (expression.kind === 'operation' && this.#isAddress(expression)) {
      const [a, b] = expression.operands;
      if (a !== undefined && b !== undefined) return this.#moved(expression.name, a, b);
    }
    throw internalError(`${this.#name} takes ${describe(expression)} for an address`);
  }

  /** `a + b`, of which one is an address, or `a - b`, of which the first one is. */
  #moved(name: string, a: Expression, b: Expression): Expression {
    const [base, number] = this.#isAddress(a) ? [a, b] : [b, a];
    return apply(name.replace('i32', 'i64'), this.#address(base), this.#extended(number));
  }

  /** An address is true where it is not 0. */
  #condition(condition: Expression): Expression {
    if (!this.#isAddress(condition)) return this.#number(condition);
    return apply('i64.ne', this.#address(condition), i64(0n));
  }

  #extended(number: Expression): Expression {
    const known = integerOf(number);
    if (known !== undefined) return i64(BigInt(known));
    return apply('i64.extend_i32_s', this.#number(number));
  }

  /** Widens addresses inside of an expression that is none itself, and so keeps its type. */
  #number(expression: Expression): Expression {
    if (expression.kind === 'local' && this.#group.addresses.has(expression.id)) {
      throw internalError(`${this.#name} uses an address as a number`);
    }
    if (expression.kind === 'load') {
      return { ...expression, address: this.#address(expression.address) };
    }
    if (expression.kind === 'operation') {
      const { name, operands } = expression;
      const isOfAddresses = operands.some((operand) => this.#isAddress(operand));
      const wide = (): Expression =>
        apply(name.replace('i32', 'i64'), ...operands.map((operand) => this.#address(operand)));
      if (isOfAddresses && COMPARISON.test(name)) return wide();
      if (name === 'i32.sub' && isOfAddresses && !this.#isAddress(expression)) {
        return apply('i32.wrap_i64', wide());
      }
    }
    return mapChildren(expression, (child) => this.#number(child));
  }

  #isAddress(expression: Expression): boolean {
    return isAddress(expression, this.#group.addresses);
  }
}

const describe = (expression: Expression): string =>
  expression.kind === 'operation' ? expression.name : `a ${expression.kind} ${expression.type}`;
