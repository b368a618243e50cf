import { partition } from './partition.ts';
import { isAtom } from '../../ir/walk/atoms.ts';
import type { Expr, FunctionExpr, CallExpr, DeviceName, Span, VarExpr } from '../../ir/expr.ts';
import { computeScopes } from '../../ir/walk/scopes.ts';
import { mapFunctions, withChildren } from '../../ir/walk/visit.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import type { Pass } from '../pass.ts';
import { variablesAround, symbolCarriers } from './symbol-carriers.ts';
import { KERNEL_DTYPES } from '../../../ops/lowering/placement.ts';
import { kernelName, WGSL_KERNEL } from '../../../ops/program/wgsl-kernel.ts';
import { callFunction, func, variable } from '../../ir/build.ts';
import { operatorName } from '../../ir/operators/operator-name.ts';
import { kernelOperand } from './dataflow.ts';

/** Names of primitive functions list operators up to this many. */
const MAX_NAMED_OPERATORS = 32;

interface PrimitiveContext {
  /** The calls in order of evaluation. */
  readonly calls: readonly CallExpr[];
  readonly device: DeviceName | undefined;
  readonly resultOf: (expr: Expr) => Expr;
  readonly types: TypeInference;
  /** Variables that the group may read. */
  readonly variables: () => Iterable<VarExpr>;
  /** Those of the function, which lie on the session's device whatever their dtype. */
  readonly parameters: readonly VarExpr[];
}

/** A call of a new primitive function with calls of operators as its body, whose last gives its result. */
function primitiveCall(last: CallExpr, context: PrimitiveContext): CallExpr {
  const { calls, device, resultOf, types, variables, parameters } = context;
  const members = new Set<Expr>(calls);
  const params = new Map<Expr, VarExpr>();
  const bodies = new Map<Expr, Expr>();
  const inner = (arg: Expr): Expr => {
    const known = bodies.get(arg) ?? params.get(arg);
    if (known !== undefined) return known;
    if (members.has(arg)) throw new Error('internal: a group is out of order');
    const { dtype, shape } = kernelOperand(arg, types);
    const param = variable(`p${params.size}`, dtype, shape);
    params.set(arg, param);
    return param;
  };
  for (const member of calls) {
    bodies.set(member, { ...withoutDevice(member), args: member.args.map(inner) });
  }
  const known = [...params.keys(), last].map((expr) => kernelOperand(expr, types));
  const isOnHost = device === 'host';
  const carriers = symbolCarriers(calls, { known, operators: types.operators }, () =>
    isOnHost ? variables() : readable(variables(), parameters),
  );
  for (const carrier of carriers) inner(carrier);
  const span = placeOf(calls);
  // Nobody reads elements of a carrier, so that it may lie on another device.
  const operands = [...params.keys()].map(resultOf);
  const names = kernelNames(calls);
  const primitive = func([...params.values()], inner(last), {
    primitive: primitiveName(names),
    ...(isOnHost ? { device: 'host' } : {}),
  });
  return callFunction(primitive, operands, span);
}

/**
 * The variables that a kernel can be given; all of them lie on the session's device. Nobody reads
 * elements of a parameter that is given for its sizes only: it may be of any dtype.
 */
function* readable(
  variables: Iterable<VarExpr>,
  parameters: readonly VarExpr[],
): Iterable<VarExpr> {
  for (const variable of variables) {
    const { type } = variable;
    if (type?.kind === 'tensor' && KERNEL_DTYPES.has(type.dtype)) yield variable;
  }
  yield* parameters;
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

/** The place of the last call, which gives the result. The body has those of all. */
function placeOf(calls: readonly CallExpr[]): Span | undefined {
  return calls.findLast(({ span }) => span !== undefined)?.span;
}

/**
 * Puts the calls of operators into primitive functions, each of which becomes one kernel call. A
 * primitive function lies in one scope: no work moves into or out of a branch or a closure.
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
    const group = groups.of(expr);
    if (group === undefined) results.set(expr, withChildren(expr, resultOf));
    else if (group.last === expr) {
      const { last, device } = group;
      const calls = groups.callsOf(group);
      const variables = () => variablesAround(expr, scopes, fn);
      const parameters = fn.params;
      const context = { calls, device, resultOf, types, variables, parameters };
      results.set(expr, primitiveCall(last, context));
    }
  }
  const body = resultOf(fn.body);
  return body === fn.body ? fn : { ...fn, body };
}
