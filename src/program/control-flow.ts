import { checkOptions, fits, type OptionKind, requireKind } from '../core/check-options.ts';
import { type Dim, formatDim } from '../core/dims/dim.ts';
import { ShapeError, UsageError } from '../core/errors.ts';
import { call, ifElse, int, variableOf } from '../compiler/ir/build.ts';
import type { Expr, VarExpr } from '../compiler/ir/expr.ts';
import { formatType, INT_TYPE, tensorType, type Type } from '../compiler/ir/type.ts';
import { apply } from './apply.ts';
import { ArrayState, exprIn, hasState } from './array-state.ts';
import { callSite, callUser, placeOf, siteOr, within } from './call-site.ts';
import { type NdArray, wrap } from './nd-array.ts';
import { type Operand, stateOf } from './operand.ts';
import { callLoop } from './recursive-function.ts';
import { bundle, Frame, inFrame, requireFrame } from './trace.ts';
import type { Like, ResultOf } from './data/value-types.ts';
import {
  exprsOf,
  requireSameLeaves,
  unbundle,
  type WrittenLeaf,
  writtenLeaves,
  writtenLike,
} from './values.ts';

/**
 * One of two values: only the branch that is chosen runs. The condition is a bool of rank 0. Both branches give the
 * same objects and arrays, of the same dtypes.
 *
 * ```ts
 * If(x.sum().greater(0), () => x.sqrt(), () => x.mul(0))
 * ```
 */
export function If<const T>(
  condition: Operand,
  then: () => T,
  otherwise: () => unknown,
): ResultOf<T> {
  return within(If, () => {
    requireKind(placeOf('If'), 'function', ['the first branch', then]);
    requireKind(placeOf('If'), 'function', ['the second branch', otherwise]);
    const frame = requireFrame('If');
    const test = exprIn(frame, stateOf(condition, 'bool'));
    const chosen = callUser(then);
    const first = writtenLeaves(frame, chosen);
    const second = writtenLike(frame, callUser(otherwise), first);
    // A number in the first branch is what the array in the second is.
    const again = writtenLike(frame, chosen, second);
    requireSameLeaves(second, again, 'If, the second branch', 'kinds');
    const span = callSite();
    const plain = ifElse(test, bundle(exprsOf(again)), bundle(exprsOf(second)));
    const expr = span === undefined ? plain : { ...plain, span };
    const type = frame.trace.inference.of(expr);
    return unbundle(frame, expr, { tree: chosen, leaves: retyped(again, type) }) as ResultOf<T>;
  }, ['If', arguments, 3]);
}

/**
 * While a condition holds, the body makes the next state of the one before: objects and arrays of the same types. The
 * condition is read from the device at each step; `repeat` counts without that.
 *
 * ```ts
 * loop({ x, steps: 0 }, ({ x }) => x.less(100), ({ x, steps }) => ({ x: x.mul(2), steps: steps.add(1) }))
 * ```
 */
export function loop<const S>(
  initial: S,
  condition: (state: ResultOf<S>) => Operand,
  body: (state: ResultOf<S>) => Like<NoInfer<S>>,
): ResultOf<NoInfer<S>> {
  return within(loop, () => {
    requireKind(placeOf('loop'), 'function', ['the condition', condition]);
    requireKind(placeOf('loop'), 'function', ['the body', body]);
    const frame = requireFrame('loop');
    const first = writtenLeaves(frame, initial);
    const carried = first.map(
      ({ path, expr, type }) => [variableOf(path || 'x', type), expr] as const,
    );
    const result = callLoop({
      construct: 'loop',
      frame,
      carried,
      counters: 0,
      step: (inner) =>
        inFrame(inner, () => {
          const state = stateFrom(inner, carried, { tree: initial, leaves: first }) as ResultOf<S>;
          const test = exprIn(
            inner,
            stateOf(
              callUser(() => condition(state)),
              'bool',
            ),
          );
          const next = writtenLike(
            inner,
            callUser(() => body(state)),
            first,
          );
          requireSameLeaves(next, first, 'the next state of loop');
          return { condition: test, next: exprsOf(next) };
        }),
    });
    return unbundle(frame, result, { tree: initial, leaves: first }) as ResultOf<S>;
  }, ['loop', arguments, 3]);
}

/**
 * The body makes the next state of the one before, a fixed number of times: `count` is a number or the name of a
 * size. It gets the number of the step, an int32 from 0, too.
 */
export function repeatTimes<const S>(
  count: Dim,
  initial: S,
  body: (state: ResultOf<S>, step: NdArray) => Like<NoInfer<S>>,
): ResultOf<NoInfer<S>> {
  return within(repeatTimes, () => {
    requireKind(placeOf('repeatTimes'), COUNT, ['the count', count]);
    requireKind(placeOf('repeatTimes'), 'function', ['the body', body]);
    const frame = requireFrame('repeatTimes');
    const first = writtenLeaves(frame, initial);
    const result = counted(frame, {
      construct: 'repeat',
      count,
      carried: first.map(({ path, expr, type }) => [variableOf(path || 'x', type), expr] as const),
      step: (inner, params, step) => {
        const state = stateFrom(inner, params, { tree: initial, leaves: first }) as ResultOf<S>;
        const next = writtenLike(
          inner,
          callUser(() => body(state, step)),
          first,
        );
        requireSameLeaves(next, first, 'the next state of repeatTimes');
        return exprsOf(next);
      },
    });
    return unbundle(frame, result, { tree: initial, leaves: first }) as ResultOf<S>;
  }, ['repeatTimes', arguments, 3]);
}

const COUNT: OptionKind = [
  'an integer from 0 up, or a size of a program',
  (value) => (typeof value === 'number' ? fits('count from 0', value) : !hasState(value)),
];

/** Throws UsageError for what a body of `scan` gives that is no pair. */
function pairOf<Pair extends readonly [unknown, unknown]>(given: Pair): Pair {
  const isPair = Array.isArray(given) && given.length === 2;
  requireKind(
    placeOf('scan'),
    ['[state, y]', () => isPair],
    ['a result of the body that is', given],
  );
  return given;
}

/** How a scan goes through its arrays. */
export interface ScanOptions {
  /** From the last place to the first. Default false. */
  readonly reverse?: boolean;
}

/**
 * Carries a state along the first axis of arrays. The body gets it with the places of the arrays, and gives the next
 * state and what is collected: `[state, y]`. The result is the last state, and everything collected along a new
 * first axis.
 *
 * ```ts
 * const [last, hidden] = scan(h, xs, (h, x) => { const next = tanh(h.matmul(w).add(x)); return [next, next]; });
 * ```
 */
export function scan<const S, const X, const Y>(
  initial: S,
  xs: X,
  body: (state: ResultOf<S>, x: ResultOf<X>) => readonly [Like<NoInfer<S>>, Y],
  options: ScanOptions = {},
): [ResultOf<NoInfer<S>>, ResultOf<NoInfer<Y>>] {
  return within(scan, () => {
    requireKind(placeOf('scan'), 'function', ['the body', body]);
    checkOptions<ScanOptions>(placeOf('scan'), options, { reverse: 'boolean' });
    const { reverse = false } = options;
    const frame = requireFrame('scan');
    const first = writtenLeaves(frame, initial);
    const sequences = writtenLeaves(frame, xs);
    const length = lengthOf(sequences);
    // The types of what is collected are known when the body has run once.
    const probe = collectedTypes(frame, { first, sequences, initial, xs, body });
    const buffers = probe.leaves.map(({ path, type }) => bufferOf(length, path, type));
    const state = first.map(
      ({ path, expr, type }) => [variableOf(path || 'state', type), expr] as const,
    );
    const result = counted(frame, {
      construct: 'scan',
      count: length,
      carried: [...state, ...buffers],
      step: (inner, params, index) => {
        const at = reverse ? wrap(apply('sub', [minusOne(length), index])) : index;
        const x = slicesAt(inner, { sequences, xs, at, frame });
        const carriedState = stateFrom(inner, params.slice(0, first.length), {
          tree: initial,
          leaves: first,
        });
        const [nextState, y] = pairOf(
          callUser(() => body(carriedState as ResultOf<S>, x as ResultOf<X>)),
        );
        const next = writtenLike(inner, nextState, first);
        requireSameLeaves(next, first, 'the next state of scan');
        const collected = writtenLike(inner, y, probe.leaves);
        const stored = params.slice(first.length).map(([buffer], i) => {
          const leaf = collected[i];
          return leaf === undefined ? buffer : store(inner, buffer, { leaf, at });
        });
        return [...exprsOf(next), ...stored];
      },
    });
    const leaves = [
      ...first,
      ...probe.leaves.map((leaf, i) => ({ ...leaf, type: buffers[i]?.[0].type ?? leaf.type })),
    ];
    return unbundle(frame, result, { tree: [initial, probe.tree], leaves }) as [
      ResultOf<S>,
      ResultOf<Y>,
    ];
  }, ['scan', arguments, 4]);
}

interface Counted {
  readonly construct: string;
  readonly count: Dim;
  readonly carried: readonly (readonly [VarExpr, Expr])[];
  readonly step: (
    inner: Frame,
    params: readonly (readonly [VarExpr, Expr])[],
    index: NdArray,
  ) => readonly Expr[];
}

/** A loop that counts on the host, so that no step waits for a device. */
function counted(frame: Frame, { construct, count, carried, step }: Counted): Expr {
  const counter = variableOf('step', INT_TYPE);
  const limit = variableOf('count', INT_TYPE);
  return callLoop({
    construct,
    frame,
    carried: [[counter, int(0)], [limit, intOf(count)], ...carried],
    counters: 2,
    step: (inner) =>
      inFrame(inner, () => {
        const next = step(inner, carried, scalarOf(inner, counter));
        return {
          condition: call('int_lt', [counter, limit]),
          next: [call('int_add', [counter, int(1)]), limit, ...next],
        };
      }),
  });
}

function intOf(size: Dim): Expr {
  if (typeof size === 'number') return int(size);
  if (size === '?') {
    throw new UsageError({
      where: siteOr('scan'),
      got: 'a size that only the run tells',
      expected: 'a number or a named size',
    });
  }
  // It has no elements.
  const empty = call('full', [], { shape: [size, 0], value: 0, dtype: 'int32' });
  return call('dim', [empty], { axis: 0 });
}

/** An int of the host as an array of rank 0. */
function scalarOf(frame: Frame, number: Expr): NdArray {
  const list = call('tensor_of', [number], { dtype: 'int32' });
  const expr = call('reshape', [list], { shape: [] });
  return wrap(new ArrayState({ expr, type: tensorType({ dtype: 'int32', shape: [] }), frame }));
}

function minusOne(length: Dim): Operand {
  const frame = requireFrame('scan');
  return wrap(apply('sub', [scalarOf(frame, intOf(length)), 1]));
}

function lengthOf(sequences: readonly WrittenLeaf[]): Dim {
  const lengths = sequences.map(({ type, path }) => {
    const length = type.kind === 'tensor' ? type.shape[0] : undefined;
    if (length !== undefined) return length;
    throw new ShapeError({
      where: siteOr('scan'),
      got: `${formatType(type)}${path === '' ? '' : ` as ${path}`}`,
      expected: 'arrays with a first axis',
    });
  });
  const [length = 0, ...others] = lengths;
  const other = others.find((dim) => formatDim(dim) !== formatDim(length));
  if (other === undefined) return length;
  throw new ShapeError({
    where: siteOr('scan'),
    got: `arrays of length ${formatDim(length)} and ${formatDim(other)}`,
    expected: 'one length',
  });
}

interface ScanBody {
  readonly first: readonly WrittenLeaf[];
  readonly sequences: readonly WrittenLeaf[];
  readonly initial: unknown;
  readonly xs: unknown;
  readonly body: (state: never, x: never) => readonly [unknown, unknown];
}

/** Runs the body in a function of its own, which is thrown away. */
function collectedTypes(
  frame: Frame,
  { first, sequences, initial, xs, body }: ScanBody,
): { readonly tree: unknown; readonly leaves: readonly WrittenLeaf[] } {
  const probe = new Frame(frame.trace, { frame, isClosure: true });
  return inFrame(probe, () => {
    const params = first.map(({ type, expr }) => [variableOf('state', type), expr] as const);
    const state = stateFrom(probe, params, { tree: initial, leaves: first });
    const at = wrap(new ArrayState({ expr: variableOf('at', SCALAR), type: SCALAR, frame: probe }));
    const x = slicesAt(probe, { sequences, xs, at, frame });
    const [, tree] = pairOf(callUser(() => body(state as never, x as never)));
    return { tree, leaves: writtenLeaves(probe, tree) };
  });
}

const SCALAR = tensorType({ dtype: 'int32', shape: [] });

interface Slices {
  readonly sequences: readonly WrittenLeaf[];
  readonly xs: unknown;
  readonly at: NdArray;
  /** The frame that the sequences belong to. */
  readonly frame: Frame;
}

function slicesAt(inner: Frame, { sequences, xs, at, frame }: Slices): unknown {
  const slices = sequences.map((leaf) => {
    if (leaf.type.kind !== 'tensor') return leaf;
    const sequence = new ArrayState({ expr: leaf.expr, type: leaf.type, frame });
    const slice = apply('gather', [sequence, at], { axis: 0 });
    return { ...leaf, expr: slice.expr, type: slice.type };
  });
  return treeOfLeaves(inner, { tree: xs, leaves: slices });
}

/** Memory for everything that is collected: zeros, which are overwritten in place. */
function bufferOf(length: Dim, path: string, type: Type): readonly [VarExpr, Expr] {
  if (type.kind !== 'tensor') {
    throw new UsageError({
      where: siteOr('scan'),
      got: `a value of type ${formatType(type)} to collect`,
      expected: 'arrays',
      remedy: 'Carry data in the state.',
    });
  }
  const { dtype } = type;
  const whole = tensorType({ dtype, shape: [length, ...type.shape] });
  const zeros = call('full', [], { shape: whole.shape, value: 0, dtype });
  return [variableOf(path || 'ys', whole), zeros];
}

function store(
  frame: Frame,
  buffer: VarExpr,
  { leaf, at }: { readonly leaf: WrittenLeaf; readonly at: NdArray },
): Expr {
  if (buffer.type?.kind !== 'tensor' || leaf.type.kind !== 'tensor') return buffer;
  const place = apply('reshape', [at], { shape: [1, 1] });
  const value = new ArrayState({ expr: leaf.expr, type: leaf.type, frame });
  const row = apply('reshape', [value], { shape: [1, ...leaf.type.shape] });
  const into = new ArrayState({ expr: buffer, type: buffer.type, frame });
  return apply('scatter_nd', [into, place, row]).expr;
}

interface Leaves {
  readonly tree: unknown;
  readonly leaves: readonly WrittenLeaf[];
}

function stateFrom(
  frame: Frame,
  params: readonly (readonly [VarExpr, Expr])[],
  { tree, leaves }: Leaves,
): unknown {
  const inner = leaves.map((leaf, i) => ({ ...leaf, expr: params[i]?.[0] ?? leaf.expr }));
  return treeOfLeaves(frame, { tree, leaves: inner });
}

/** A tree of values whose expressions are those of its leaves. */
function treeOfLeaves(frame: Frame, { tree, leaves }: Leaves): unknown {
  return unbundle(frame, undefined, { tree, leaves });
}

function retyped(leaves: readonly WrittenLeaf[], type: Type): WrittenLeaf[] {
  return leaves.map((leaf, i) => {
    const part = leaves.length === 1 ? type : type.kind === 'tuple' ? type.fields[i] : undefined;
    return part === undefined ? leaf : { ...leaf, type: part };
  });
}
