import { elementCount, sameShape } from '../../core/shape.ts';
import type { OpKind } from '../../ops/define-op.ts';
import { opDefinition } from '../../ops/registry.ts';
import { callFunction, func, variable } from '../ir/build.ts';
import type { CallExpr, Expr, FunctionExpr, Span, VarExpr } from '../ir/expr.ts';
import { childrenOf, mapFunctions, postOrder, withChildren } from '../ir/visit.ts';
import type { TypeInference } from '../type-inference.ts';
import type { Pass } from './pass.ts';

/**
 * The most tensors that one kernel may touch: WebGPU guarantees eight storage buffers in a shader
 * stage.
 */
const MAX_TENSORS = 8;

/** The most calls in one kernel: its text is planned and compiled while a program loads. */
const MAX_CALLS = 64;

/** Done by the machine as a view of the same storage, so it is no kernel. */
export const VIEW_OPERATOR = 'reshape';

/**
 * Partitions the calls of operators into primitive functions, each of which becomes one kernel
 * call. Greedy, in order of evaluation: a call joins the group of an operand when it is the only
 * reader of that operand, so nothing is computed twice and a group has one result. A group has at
 * most one anchor or reduction; behind that come only elementwise calls of the same shape.
 */
export const fuse: Pass = {
  name: 'fuse',
  run(module, { types }) {
    return mapFunctions(module, (fn) => fuseFunction(fn, types));
  },
};

function fuseFunction(fn: FunctionExpr, types: TypeInference): FunctionExpr {
  const order = postOrder(fn.body, (expr) => expr.kind !== 'function');
  const groups = partition(order, types);
  const results = new Map<Expr, Expr>();
  const resultOf = (expr: Expr): Expr => results.get(expr) ?? expr;
  for (const expr of order) {
    const group = groups.get(expr);
    if (group === undefined) results.set(expr, withChildren(expr, resultOf));
    else if (group.last === expr) results.set(expr, primitiveCall(group, { resultOf, types }));
  }
  const body = resultOf(fn.body);
  return body === fn.body ? fn : { ...fn, body };
}

interface Group {
  /** In order of evaluation. */
  readonly members: CallExpr[];
  /** The member whose value leaves the group. */
  last: CallExpr;
  hasAnchor: boolean;
}

function partition(order: readonly Expr[], types: TypeInference): ReadonlyMap<Expr, Group> {
  const readers = countReaders(order);
  const groups = new Map<Expr, Group>();
  for (const expr of order) {
    const kind = kernelKind(expr);
    if (kind === undefined || expr.kind !== 'call') continue;
    const isAnchor = kind === 'anchor' || kind === 'reduction';
    const group: Group = { members: [expr], last: expr, hasAnchor: isAnchor };
    for (const arg of new Set(expr.args)) {
      const producer = groups.get(arg);
      if (producer === undefined || producer === group || readers.get(arg) !== 1) continue;
      if (canJoin(producer, group, { kind, types })) merge(producer, group);
    }
    for (const member of group.members) groups.set(member, group);
  }
  return groups;
}

/** How many different expressions read an expression; the result of the function is read once. */
function countReaders(order: readonly Expr[]): ReadonlyMap<Expr, number> {
  const readers = new Map<Expr, number>();
  for (const expr of order) {
    for (const child of new Set(childrenOf(expr))) {
      readers.set(child, (readers.get(child) ?? 0) + 1);
    }
  }
  return readers;
}

/** The kind of an operator call that needs a kernel. */
function kernelKind(expr: Expr): OpKind | undefined {
  if (expr.kind !== 'call' || expr.callee.kind !== 'operator') return undefined;
  return expr.callee.name === VIEW_OPERATOR ? undefined : opDefinition(expr.callee.name).kind;
}

function canJoin(
  producer: Group,
  consumer: Group,
  { kind, types }: { kind: OpKind; types: TypeInference },
): boolean {
  if (kind !== 'elementwise' && kind !== 'injective') return false;
  if (producer.members.some((member) => kernelKind(member) === 'opaque')) return false;
  if (producer.hasAnchor && consumer.hasAnchor) return false;
  if ((producer.hasAnchor || consumer.hasAnchor) && (movesData(producer) || movesData(consumer))) {
    return false;
  }
  return !computesAgain(producer, consumer, { kind, types }) && fits(producer, consumer);
}

function movesData(group: Group): boolean {
  return group.members.some((member) => kernelKind(member) === 'injective');
}

/** Whether elements of the producer would be computed once for each of several readers. */
function computesAgain(
  producer: Group,
  consumer: Group,
  { kind, types }: { kind: OpKind; types: TypeInference },
): boolean {
  const from = types.tensor(producer.last).shape;
  const to = types.tensor(consumer.last).shape;
  if (kind === 'elementwise') return !sameShape(from, to);
  let available = 0;
  const reader = consumer.last;
  for (const arg of reader.args) available += elementCount(types.tensor(arg).shape);
  return elementCount(to) > available;
}

function fits(producer: Group, consumer: Group): boolean {
  const callCount = producer.members.length + consumer.members.length;
  return callCount <= MAX_CALLS && countTensors(producer, consumer) <= MAX_TENSORS;
}

function countTensors(a: Group, b: Group): number {
  const members = new Set<Expr>([...a.members, ...b.members]);
  const inputs = new Set<Expr>();
  for (const member of [...a.members, ...b.members]) {
    for (const arg of member.args) if (!members.has(arg)) inputs.add(arg);
  }
  return inputs.size + 1;
}

function merge(producer: Group, consumer: Group): void {
  consumer.members.unshift(...producer.members);
  consumer.hasAnchor ||= producer.hasAnchor;
}

/** A call of a new primitive function with the members of a group as its body. */
function primitiveCall(
  group: Group,
  { resultOf, types }: { resultOf: (expr: Expr) => Expr; types: TypeInference },
): CallExpr {
  const members = new Set<Expr>(group.members);
  const params = new Map<Expr, VarExpr>();
  const bodies = new Map<Expr, Expr>();
  const inner = (arg: Expr): Expr => {
    const known = bodies.get(arg) ?? params.get(arg);
    if (known !== undefined) return known;
    if (members.has(arg)) throw new Error('internal: a group is out of order');
    const { dtype, shape } = types.tensor(arg);
    const param = variable(`p${params.size}`, dtype, shape);
    params.set(arg, param);
    return param;
  };
  for (const member of group.members) {
    bodies.set(member, { ...member, args: member.args.map(inner) });
  }
  const names = group.members.map(({ callee }) => (callee.kind === 'operator' ? callee.name : ''));
  const primitive = func([...params.values()], inner(group.last), { primitive: names.join('_') });
  return callFunction(primitive, [...params.keys()].map(resultOf), groupSpan(group));
}

function groupSpan(group: Group): Span | undefined {
  const sources = new Set(group.members.flatMap(({ span }) => span?.source ?? []));
  return sources.size === 0 ? undefined : { source: [...sources].join(' + ') };
}
