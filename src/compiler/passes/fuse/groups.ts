import type { OpDefinition } from '../../../ops/define-op.ts';
import type { CallExpr, DeviceName, Expr } from '../../ir/expr.ts';
import { type Dataflow, isView } from './dataflow.ts';
import { callsWideFunctions } from './element-cost.ts';
import { appendAxis, changedAxis, isInnerAxis } from '../../ir/append-axis.ts';
import { isOperatorCall, operatorName } from '../../ir/operators/operator-name.ts';

/**
 * The most tensors that one kernel may touch: WebGPU guarantees eight storage buffers in a shader
 * stage.
 */
const MAX_TENSORS = 8;

/** The most calls in one kernel: its text is planned and compiled while a program loads. */
const MAX_CALLS = 64;

/**
 * Calls that one with functions for 64-bit integers counts as. A division goes round 64 times: 8 take a
 * software adapter 0.5 s to compile, 16 take 1.5 s, and 32 among others never came to an end.
 */
const WIDE_WEIGHT = 8;

/** Calls that become one kernel. Only the value of the last one leaves it. */
export interface Group {
  readonly members: Set<CallExpr>;
  /** How many calls the members count as. */
  weight: number;
  /** Values that the members read from elsewhere. */
  readonly inputs: Set<Expr>;
  last: CallExpr;
  /** The one member that has a kernel of its own. */
  anchor: CallExpr | undefined;
  /** True if elements of a member are found by an index map. */
  movesData: boolean;
  /** True if a member is an operator that is never fused. */
  isClosed: boolean;
  /** The device of the group's kernel, if it is not the session's. */
  readonly device: DeviceName | undefined;
}

/** The groups that calls belong to; each call is one by itself at first. */
export class Groups {
  readonly #dataflow: Dataflow;
  readonly #states: ReadonlySet<Expr>;
  readonly #groups = new Map<Expr, Group>();

  constructor(dataflow: Dataflow) {
    this.#dataflow = dataflow;
    this.#states = findGrowingStates(dataflow);
    for (const expr of dataflow.scopes.order) {
      if (expr.kind !== 'call' || dataflow.operatorOf(expr) === undefined) continue;
      this.#groups.set(expr, this.#groupOf(expr));
    }
  }

  /** The group of a call; undefined for what is no kernel, and for views outside of all groups. */
  of(expr: Expr): Group | undefined {
    return this.#groups.get(expr);
  }

  /** The members of a group in order of evaluation. */
  callsOf({ members }: Group): CallExpr[] {
    return [...members].sort((a, b) => this.#dataflow.position(a) - this.#dataflow.position(b));
  }

  /** Makes the calls, however many, one group. */
  gather(calls: readonly CallExpr[]): void {
    const [first, ...others] = calls.map((call) => this.#groupOf(call));
    if (first === undefined) return;
    for (const member of first.members) this.#groups.set(member, first);
    for (const other of others) this.#include(first, other);
  }

  /**
   * Makes one group of those that the calls are in, and of views among them that are in none.
   * Does nothing and returns false where that would be too much for one kernel.
   */
  unite(calls: readonly CallExpr[]): boolean {
    const parts = new Set(calls.map((call) => this.#groups.get(call) ?? this.#groupOf(call)));
    if (!fits([...parts])) return false;
    const [first, ...others] = [...parts].sort((a, b) => b.members.size - a.members.size);
    for (const other of others) if (first !== undefined) this.#include(first, other);
    return true;
  }

  #include(group: Group, other: Group): void {
    for (const input of other.inputs) if (!isMember(group, input)) group.inputs.add(input);
    for (const member of other.members) {
      group.inputs.delete(member);
      group.members.add(member);
      this.#groups.set(member, group);
    }
    group.weight += other.weight;
    const isLater = this.#dataflow.position(other.last) > this.#dataflow.position(group.last);
    if (isLater) group.last = other.last;
    group.anchor ??= other.anchor;
    group.movesData ||= other.movesData;
  }

  #groupOf(call: CallExpr): Group {
    const op = this.#dataflow.operatorOf(call);
    return {
      members: new Set([call]),
      weight: callsWideFunctions(this.#dataflow, call) ? WIDE_WEIGHT : 1,
      inputs: new Set(call.args),
      last: call,
      anchor: this.#dataflow.isAnchor(call) ? call : undefined,
      movesData: op?.kind === 'injective',
      isClosed: op === undefined || !isFused(op) || this.#states.has(call),
      device: call.onDevice,
    };
  }
}

/** Only a kernel of its own can change its input in place. */
function isFused({ kind, storage }: OpDefinition): boolean {
  return kind !== 'opaque' && kind !== 'dynamic' && storage?.overwrites === undefined;
}

function isMember({ members }: Group, expr: Expr): boolean {
  return expr.kind === 'call' && members.has(expr);
}

function fits(parts: readonly Group[]): boolean {
  const inputs = new Set<Expr>();
  let weightSum = 0;
  for (const { weight } of parts) weightSum += weight;
  if (weightSum > MAX_CALLS) return false;
  for (const part of parts) {
    for (const input of part.inputs) {
      if (!parts.some((other) => isMember(other, input))) inputs.add(input);
    }
  }
  return inputs.size < MAX_TENSORS;
}

/**
 * Calls that extend a tensor from outside the kernels of the function, and whose result goes on beyond these: a state
 * that grows. By itself such a call writes only what is new (`plan-memory`); in a kernel with others it would write
 * everything.
 */
function findGrowingStates(dataflow: Dataflow): ReadonlySet<Expr> {
  const extensions = findExtensions(dataflow);
  if (extensions.size === 0) return extensions;
  /** Values that something gets that is no kernel, as they are, under another shape, or extended. */
  const leaving = new Set<Expr>();
  for (const expr of dataflow.scopes.order.toReversed()) {
    const readers = dataflow.readers(expr);
    const leaves = (reader: Expr): boolean => {
      if (reader.kind === 'if' || reader.kind === 'match')
        return joinsInPlace(dataflow, expr, reader);
      if (!isOperatorCall(reader)) return true;
      const isExtended = extensions.has(reader) && reader.args[0] === expr;
      const goesOn = isView(reader) || isExtended || isChanged(dataflow, expr, reader);
      return goesOn && leaving.has(reader);
    };
    if (readers.length === 0 || readers.some(leaves)) leaving.add(expr);
  }
  return new Set([...extensions].filter((expr) => leaving.has(expr)));
}

/**
 * Returns true if the value of a branch may grow in place. Kernels that read it after the branches
 * do not support room between its slices, and would get a copy.
 */
function joinsInPlace(dataflow: Dataflow, expr: Expr, branches: Expr): boolean {
  const axis = extendedAxis(dataflow, expr);
  if (axis === undefined || !isInnerAxis(dataflow.tensorType(expr), axis)) return true;
  return dataflow.readers(branches).every((reader) => operatorName(reader) === '');
}

/** Returns true if a call changes an extended tensor in place, along the axis of the extension. */
function isChanged(dataflow: Dataflow, expr: Expr, call: CallExpr): boolean {
  const op = dataflow.operatorOf(call);
  const input = op?.storage?.overwrites;
  if (op === undefined || input === undefined || call.args[input] !== expr) return false;
  const axis = extendedAxis(dataflow, expr);
  const result = dataflow.tensorType(call);
  return axis !== undefined && axis === changedAxis({ op, attributes: call.attributes, result });
}

/** Calls that put more behind a tensor that is no result of a kernel, but of another such call perhaps. */
function findExtensions(dataflow: Dataflow): ReadonlySet<Expr> {
  const extensions = new Set<Expr>();
  for (const expr of dataflow.scopes.order) {
    if (expr.kind !== 'call' || extendedAxis(dataflow, expr) === undefined) continue;
    let source = expr.args[0] ?? expr.callee;
    while (source.kind === 'call' && isView(source)) source = source.args[0] ?? source.callee;
    const isGiven = source.kind !== 'constant' && dataflow.operatorOf(source) === undefined;
    if (isGiven || extensions.has(source)) extensions.add(expr);
  }
  return extensions;
}

/** The axis along which a value is its first operand and more behind it. */
function extendedAxis(dataflow: Dataflow, expr: Expr): number | undefined {
  const op = dataflow.operatorOf(expr);
  if (op?.indexMap?.joinedAxis === undefined || expr.kind !== 'call') return undefined;
  const { args, attributes } = expr;
  const [first] = args;
  if (first === undefined || args.length < 2) return undefined;
  const result = dataflow.tensorType(expr);
  return appendAxis({ op, attributes, result }, dataflow.tensorType(first));
}
