import { sameDim } from '../../core/dim-symbols.ts';
import { applyDimOperator, type Dim } from '../../core/dim.ts';
import { UnsupportedError } from '../../core/errors.ts';
import type { TensorType } from '../../core/primitive-function.ts';
import type { OpKind } from '../../ops/define-op.ts';
import { kernelName, WGSL_KERNEL } from '../../ops/program/wgsl-kernel.ts';
import { KERNEL_DTYPES } from '../../ops/placement.ts';
import { opDefinition } from '../../ops/registry.ts';
import { call, callFunction, func, variable } from '../ir/build.ts';
import {
  type CallExpr,
  type DeviceName,
  type Expr,
  formatSpan,
  type FunctionExpr,
  type Span,
  type VarExpr,
} from '../ir/expr.ts';
import { isAtom } from '../ir/atoms.ts';
import { DEVICE_COPY, SCALAR_OPERATORS } from '../ir/scalar-operators.ts';
import { computeScopes, type Scopes } from '../ir/scopes.ts';
import { childrenOf, mapFunctions, withChildren } from '../ir/visit.ts';
import { formatType } from '../ir/type.ts';
import type { TypeInference } from '../type-inference.ts';
import { VIEW_OPERATOR } from './host-values.ts';
import type { Pass } from './pass.ts';
import { symbolCarriers, variablesAround } from './symbol-carriers.ts';

/** Names of primitive functions list operators up to this many. */
const MAX_NAMED_OPERATORS = 32;

/**
 * The most tensors that one kernel may touch: WebGPU guarantees eight storage buffers in a shader
 * stage.
 */
const MAX_TENSORS = 8;

/** The most calls in one kernel: its text is planned and compiled while a program loads. */
const MAX_CALLS = 64;

/**
 * Partitions the calls of operators into primitive functions, each of which becomes one kernel
 * call. Greedy, in order of evaluation: a call joins the group of an operand when it is the only
 * reader of that operand, so nothing is computed twice and a group has one result. A group has at
 * most one anchor or reduction; behind that come only elementwise calls of the same shape. A group
 * lies in one scope: no work moves into or out of a branch or a closure. All of it runs on one
 * device.
 */
export const fuse: Pass = {
  name: 'fuse',
  run(module, { types }) {
    return mapFunctions(module, (fn) => fuseFunction(fn, types, true));
  },
};

/** The place of {@link fuse} where nothing is fused: each call is a primitive function by itself. */
export const separate: Pass = {
  name: 'separate',
  run(module, { types }) {
    return mapFunctions(module, (fn) => fuseFunction(fn, types, false));
  },
};

function fuseFunction(fn: FunctionExpr, types: TypeInference, isFused: boolean): FunctionExpr {
  const scopes = computeScopes(fn, { enter: (expr) => !isAtom(expr) });
  const groups = partition(scopes, types, isFused);
  const results = new Map<Expr, Expr>();
  const resultOf = (expr: Expr): Expr => results.get(expr) ?? expr;
  for (const expr of scopes.order) {
    const group = groups.get(expr);
    if (group === undefined) results.set(expr, withChildren(expr, resultOf));
    else if (group.last === expr) {
      const variables = () => variablesAround(expr, scopes, fn);
      results.set(expr, primitiveCall(group, { resultOf, types, variables }));
    }
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
  /** Where its kernel runs, if not on the session's device. */
  readonly device: DeviceName | undefined;
}

function partition(
  scopes: Scopes,
  types: TypeInference,
  isFused: boolean,
): ReadonlyMap<Expr, Group> {
  const readers = countReaders(scopes.order);
  const groups = new Map<Expr, Group>();
  for (const expr of scopes.order) {
    const kind = kernelKind(expr);
    if (kind === undefined || expr.kind !== 'call') continue;
    const isAnchor = kind === 'anchor' || kind === 'reduction';
    const { onDevice: device } = expr;
    const group: Group = { members: [expr], last: expr, hasAnchor: isAnchor, device };
    if (isFused) storePermuted(expr, group, { groups, readers, scopes });
    takeAlternative(expr, group, { groups, readers, scopes });
    for (const arg of isFused ? new Set(expr.args) : []) {
      const producer = groups.get(arg);
      if (producer === undefined || producer === group || readers.get(arg) !== 1) continue;
      if (scopes.of(arg) !== scopes.of(expr)) continue;
      if (canJoin(producer, group, { kind, types })) merge(producer, group);
    }
    for (const member of group.members) groups.set(member, group);
  }
  return groups;
}

/** Operators whose kernels write each element once, in any place. */
const PERMUTED_ANCHORS: ReadonlySet<string> = new Set(['matmul', 'gemm']);

/**
 * Lets a product store its elements where a transpose of it, or of a view of it, wants them: heads
 * of attention are made so.
 */
function storePermuted(expr: CallExpr, group: Group, { groups, readers, scopes }: Partition): void {
  if (operatorName(expr) !== 'transpose') return;
  const isOnlyRead = (arg: Expr) => readers.get(arg) === 1 && scopes.of(arg) === scopes.of(expr);
  const [source] = expr.args;
  if (source === undefined || !isOnlyRead(source)) return;
  const isView = source.kind === 'call' && operatorName(source) === VIEW_OPERATOR;
  const product = isView ? source.args[0] : source;
  const producer = product === undefined ? undefined : groups.get(product);
  if (product === undefined || producer?.last !== product || !isOnlyRead(product)) return;
  const isProduct = producer.members.some((member) => PERMUTED_ANCHORS.has(operatorName(member)));
  if (!isProduct || movesData(producer) || !fits(producer, group)) return;
  if (producer.device !== group.device) return;
  if (isView) group.members.unshift(source);
  merge(producer, group);
}

/**
 * The alternative of a kernel that the program brings along joins its group, with all that only the
 * alternative reads: WebGPU leaves it out, and the host runs nothing else.
 */
function takeAlternative(expr: CallExpr, group: Group, context: Partition): void {
  const { groups, readers, scopes } = context;
  if (operatorName(expr) !== WGSL_KERNEL || expr.attributes['alternative'] !== true) return;
  const wanted = (arg: Expr) =>
    arg.kind === 'call' &&
    (groups.has(arg) || operatorName(arg) === VIEW_OPERATOR) &&
    scopes.of(arg) === scopes.of(expr) &&
    arg.onDevice === expr.onDevice;
  const members = new Set<Expr>();
  const counts = new Map<Expr, number>();
  const work = expr.args.slice(-1);
  for (let arg = work.pop(); arg !== undefined; arg = work.pop()) {
    const count = (counts.get(arg) ?? 0) + 1;
    counts.set(arg, count);
    if (count !== readers.get(arg) || !wanted(arg) || members.has(arg)) continue;
    members.add(arg);
    work.push(...new Set(childrenOf(arg)));
  }
  const last = expr.args.at(-1);
  // What something else reads too is computed anyway.
  if (last === undefined || (!members.has(last) && !isAtom(last) && !isOperatorCall(last))) {
    throw noAlternative(expr);
  }
  const inside = scopes.order.filter((member) => members.has(member) && member.kind === 'call');
  for (const member of inside) if (member.kind === 'call') group.members.push(member);
  group.members.splice(group.members.indexOf(expr), 1);
  group.members.push(expr);
}

function isOperatorCall(expr: Expr): boolean {
  return expr.kind === 'call' && expr.callee.kind === 'operator';
}

function noAlternative({ span, attributes }: CallExpr): UnsupportedError {
  return new UnsupportedError({
    where: formatSpan(span, `kernel ${kernelName(attributes)}`),
    got: 'an alternative for the host that calls functions or branches',
    expected: 'operators on tensors, or small functions of such',
  });
}

interface Partition {
  readonly groups: ReadonlyMap<Expr, Group>;
  readonly readers: ReadonlyMap<Expr, number>;
  readonly scopes: Scopes;
}

function operatorName({ callee }: CallExpr): string {
  return callee.kind === 'operator' ? callee.name : '';
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
  const { name } = expr.callee;
  return name === VIEW_OPERATOR || SCALAR_OPERATORS.has(name) ? undefined : opDefinition(name).kind;
}

function canJoin(
  producer: Group,
  consumer: Group,
  { kind, types }: { kind: OpKind; types: TypeInference },
): boolean {
  if (kind !== 'elementwise' && kind !== 'injective') return false;
  if (producer.device !== consumer.device) return false;
  if (producer.members.some(isUnfusable)) return false;
  if (producer.hasAnchor && consumer.hasAnchor) return false;
  if ((producer.hasAnchor || consumer.hasAnchor) && (movesData(producer) || movesData(consumer))) {
    return false;
  }
  return !computesAgain(producer, consumer, { kind, types }) && fits(producer, consumer);
}

function isUnfusable(member: CallExpr): boolean {
  const kind = kernelKind(member);
  return kind === 'opaque' || kind === 'dynamic';
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
  const from = tensorTypeOf(producer.last, types).shape;
  const to = tensorTypeOf(consumer.last, types).shape;
  if (kind === 'elementwise') return !sameDims(from, to);
  let available = 0;
  const reader = consumer.last;
  for (const arg of reader.args) available += typicalCount(tensorTypeOf(arg, types).shape);
  return typicalCount(to) > available;
}

function tensorTypeOf(expr: Expr, types: TypeInference): TensorType {
  const type = types.of(expr);
  if (type.kind === 'tensor') return type;
  throw new Error(`internal: an operator reads ${formatType(type)}`);
}

/** Whether two shapes are certainly equal. */
function sameDims(a: readonly Dim[], b: readonly Dim[]): boolean {
  return (
    a.length === b.length && a.every((dim, axis) => dim !== '?' && sameDim(dim, b[axis] ?? '?'))
  );
}

/** A size for symbols where only the cost depends on it. */
const TYPICAL_SIZE = 64;

function typicalCount(shape: readonly Dim[]): number {
  return shape.reduce<number>((count, dim) => count * typicalSize(dim), 1);
}

function typicalSize(dim: Dim): number {
  if (typeof dim === 'number') return dim;
  if (typeof dim === 'string') return TYPICAL_SIZE;
  const size = applyDimOperator(dim.op, typicalSize(dim.left), typicalSize(dim.right));
  return size ?? TYPICAL_SIZE;
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

interface PrimitiveContext {
  readonly resultOf: (expr: Expr) => Expr;
  readonly types: TypeInference;
  /** Variables that the group may read. */
  readonly variables: () => Iterable<VarExpr>;
}

/** A call of a new primitive function with the members of a group as its body. */
function primitiveCall(group: Group, { resultOf, types, variables }: PrimitiveContext): CallExpr {
  const members = new Set<Expr>(group.members);
  const params = new Map<Expr, VarExpr>();
  const bodies = new Map<Expr, Expr>();
  const inner = (arg: Expr): Expr => {
    const known = bodies.get(arg) ?? params.get(arg);
    if (known !== undefined) return known;
    if (members.has(arg)) throw new Error('internal: a group is out of order');
    const { dtype, shape } = tensorTypeOf(arg, types);
    const param = variable(`p${params.size}`, dtype, shape);
    params.set(arg, param);
    return param;
  };
  for (const member of group.members) {
    bodies.set(member, { ...withoutDevice(member), args: member.args.map(inner) });
  }
  const known = [...params.keys(), group.last].map((expr) => tensorTypeOf(expr, types));
  const isOnHost = group.device === 'host';
  const carriers = symbolCarriers(group.members, known, () => readable(variables(), isOnHost));
  for (const carrier of carriers) inner(carrier);
  const operands = [...params.keys()].map((arg) => {
    const isCopied = isOnHost && carriers.some((carrier) => carrier === arg);
    return isCopied ? call(DEVICE_COPY, [resultOf(arg)], { device: 'host' }) : resultOf(arg);
  });
  const names = kernelNames(group.members);
  const primitive = func([...params.values()], inner(group.last), {
    primitive: primitiveName(names),
    ...(isOnHost ? { device: 'host' } : {}),
  });
  return callFunction(primitive, operands, groupSpan(group));
}

/** The variables that a kernel can be given; all of them lie on the session's device. */
function* readable(variables: Iterable<VarExpr>, isOnHost: boolean): Iterable<VarExpr> {
  for (const variable of variables) {
    const { type } = variable;
    if (isOnHost || (type?.kind === 'tensor' && KERNEL_DTYPES.has(type.dtype))) yield variable;
  }
}

/** Its kernel has the device, for all of its calls. */
function withoutDevice(member: CallExpr): CallExpr {
  const { onDevice: _, ...plain } = member;
  return plain;
}

/** The operators, or the kernel of the program with what stands behind it. */
function kernelNames(members: readonly CallExpr[]): string[] {
  const own = members.findIndex((member) => operatorName(member) === WGSL_KERNEL);
  return members
    .slice(Math.max(own, 0))
    .map((member, i) =>
      own >= 0 && i === 0 ? kernelName(member.attributes) : operatorName(member),
    );
}

/** The operators in order; of many the first, and how many more there are. */
function primitiveName(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED_OPERATORS).join('_');
  const left = names.length - MAX_NAMED_OPERATORS;
  return left > 0 ? `${shown}_and_${left}_more` : shown;
}

function groupSpan(group: Group): Span | undefined {
  const sources = new Set(group.members.flatMap(({ span }) => span?.source ?? []));
  return sources.size === 0 ? undefined : { source: [...sources].join(' + ') };
}
