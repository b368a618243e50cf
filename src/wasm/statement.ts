import { internalError } from '../core/errors.ts';
import type { Expression, Local, StoreWidth } from './expression.ts';
import * as w from './expression.ts';

/** A step of a function, as plain immutable data. */
export type Statement = Assignment | Store | Loop | Condition | Call;

export interface Assignment {
  readonly kind: 'set';
  readonly target: Local;
  readonly value: Expression;
}

interface Store {
  readonly kind: 'store';
  readonly width: StoreWidth;
  readonly address: Expression;
  readonly offset: number;
  readonly value: Expression;
}

/** Counts `index`, an i32, from `begin` while it is less than `end`, both signed. */
interface Loop {
  readonly kind: 'loop';
  readonly index: Local;
  readonly begin: Expression;
  readonly end: Expression;
  readonly step: number;
  readonly body: readonly Statement[];
}

interface Condition {
  readonly kind: 'if';
  readonly condition: Expression;
  readonly whenTrue: readonly Statement[];
  readonly whenFalse: readonly Statement[];
}

/** A call of a function of the module, which gives nothing. */
interface Call {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly Expression[];
}

export interface WasmFunction {
  readonly name: string;
  readonly params: readonly Local[];
  readonly body: readonly Statement[];
}

export function set(target: Local, value: Expression): Assignment {
  if (target.type === value.type) return { kind: 'set', target, value };
  throw internalError(`${value.type} set to a local ${target.type}`);
}

/** Gives a value that may be used more than once. */
export type Bind = (value: Expression) => Expression;

/** Puts values into locals, by statements that are added to a list. */
export const binder =
  (statements: Statement[]): Bind =>
  (value) => {
    if (value.kind === 'local' || value.kind === 'constant') return value;
    const target = w.local(value.type);
    statements.push(set(target, value));
    return target;
  };

/** Adds to an i32. */
export function increment(target: Local, amount: Expression | number): Assignment {
  return set(
    target,
    w.apply('i32.add', target, typeof amount === 'number' ? w.i32(amount) : amount),
  );
}

/** Writes memory at `address + offset`. */
export function store(
  width: StoreWidth,
  { address, offset = 0 }: { readonly address: Expression; readonly offset?: number },
  value: Expression,
): Store {
  const { type } = w.STORES[width];
  if (value.type !== type) throw internalError(`a store of ${width} was given ${value.type}`);
  return { kind: 'store', width, value, ...w.withOffset(address, offset) };
}

/** A loop; none for a range that is known to be empty, the body alone for one round. */
export function loop(
  { index, begin = w.i32(0), end, step = 1 }: Partial<Loop> & Pick<Loop, 'index' | 'end'>,
  body: readonly Statement[],
): Statement[] {
  const [first, last] = [w.integerOf(begin), w.integerOf(end)];
  if (first !== undefined && last !== undefined) {
    if (first >= last) return [];
    if (first + step >= last) return [set(index, begin), ...body];
  }
  return [{ kind: 'loop', index, begin, end, step, body }];
}

/** Does one or the other. */
export function when(
  condition: Expression,
  whenTrue: readonly Statement[],
  whenFalse: readonly Statement[] = [],
): Statement[] {
  const known = w.integerOf(condition);
  if (known !== undefined) return [...(known === 0 ? whenFalse : whenTrue)];
  return [{ kind: 'if', condition, whenTrue, whenFalse }];
}

/** Calls another function of the module. */
export const call = (name: string, args: readonly Expression[]): Call => ({
  kind: 'call',
  name,
  args,
});
