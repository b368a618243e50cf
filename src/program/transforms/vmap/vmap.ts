import {
  checkOptions,
  either,
  fits,
  type OptionKind,
  type OptionKinds,
} from '../../../core/check-options.ts';
import { type Dim, formatDim } from '../../../core/dims/dim.ts';
import { ShapeError, UsageError } from '../../../core/errors.ts';
import { normalizeAxis } from '../../../core/tensor/shape.ts';
import { computeScopes } from '../../../compiler/ir/walk/scopes.ts';
import { formatType, tensorType, type Type } from '../../../compiler/ir/type.ts';
import { apply } from '../../apply.ts';
import { ArrayState } from '../../array-state.ts';
import { callSite, placeOf, siteOr, within } from '../../call-site.ts';
import type { Frame } from '../../trace.ts';
import { mapTree } from '../../data/tree.ts';
import { isLeafSpec, type Spec } from '../../data/value-spec.ts';
import type { ResultOf } from '../../data/value-types.ts';
import { isValueLeaf, valueOf, type WrittenLeaf } from '../../values.ts';
import { writeFunction } from '../write-function.ts';
import { type AnyFunction, isArgumentLeaf } from '../function-arguments.ts';
import type { ArgumentsLike } from '../grad.ts';
import { transformed } from '../transform.ts';
import { MappedFunctions } from './mapped-functions.ts';
import { Mapper } from './mapper.ts';
import { ExprGraph } from './mapped-value.ts';

/**
 * The axis of arguments that is mapped: one number for all, or lists and objects in the form of the arguments, as deep
 * as they differ. `null` for what is the same at each place.
 */
type Axes = number | null | readonly Axes[] | { readonly [name: string]: Axes };

/** Along which axes a function is mapped. */
export interface VmapOptions {
  /** Of the arguments: a list has an entry for each. Default 0. */
  readonly inAxes?: Axes;
  /** The axis of the results that the places lie along. Default 0. */
  readonly outAxes?: number;
}

/** A function over a further axis of its arguments and results. */
type VmapOf<F> = F extends { readonly params: Spec; readonly module: unknown }
  ? F
  : F extends (...args: infer A) => infer R
    ? (...args: ArgumentsLike<A>) => ResultOf<R>
    : never;

/**
 * The function that computes another one at each place along an axis of its arguments, all at once: operators work on
 * whole arrays, `If` chooses between two results. Of a program it is a program, for as many places as a call gives.
 *
 * ```ts
 * const distances = vmap(vmap(distance, { inAxes: [null, 0] }), { inAxes: [0, null] });
 * const perExample = vmap(grad(loss), { inAxes: [null, 0, 0] });
 * ```
 *
 * Throws UnsupportedError, with the line, for what cannot be mapped: loops and recursion that go on as mapped elements
 * say, data of mapped arrays, and results whose size depends on elements.
 */
export function vmap<F extends AnyFunction>(
  fn: F,
  /** Or `inAxes`, as a number or a list, and then `outAxes`. */
  options?: VmapOptions | number | readonly Axes[],
  outAxes?: number,
): VmapOf<F>;
export function vmap(
  fn: AnyFunction,
  options: VmapOptions | number | readonly Axes[] = {},
  axis?: number,
): unknown {
  return within(vmap, () => {
    const given: VmapOptions =
      typeof options === 'number' || Array.isArray(options)
        ? { inAxes: options, ...(axis !== undefined && { outAxes: axis }) }
        : axis === undefined
          ? (options as VmapOptions)
          : { ...(options as VmapOptions), outAxes: axis };
    checkOptions<VmapOptions>(placeOf('vmap'), given, VMAP_OPTIONS);
    const { inAxes = 0, outAxes = 0 } = given;
    return transformed(
      'vmap',
      fn,
      (frame, args) => {
        requireForm(inAxes, args);
        return mapped(frame, fn, { args, inAxes, outAxes });
      },
      (params) => withAxes(params, inAxes),
    );
  }, ['vmap', arguments, 3]);
}

const LISTS = either('list', 'object');
const AXES: OptionKind = [
  'an axis, null, or lists and objects of such',
  (value) =>
    value === null ||
    Number.isSafeInteger(value) ||
    (fits(LISTS, value) && Object.values(Object(value)).every((axis) => fits(AXES, axis))),
];
const VMAP_OPTIONS: OptionKinds<VmapOptions> = { inAxes: AXES, outAxes: 'integer' };

/** Throws UsageError for axes of arguments that are not there, and for a list that is not as long as theirs. */
function requireForm(axes: Axes, value: unknown, path = ''): void {
  if (axes === null || typeof axes === 'number') return;
  const has = isArgumentLeaf(value) ? [] : Object.keys(value);
  const names = Object.keys(axes);
  const isList = Array.isArray(axes);
  const other = names.find((name) => !has.includes(name));
  if (other === undefined && (!isList || has.length === names.length)) {
    const branches = value as Readonly<Record<string, unknown>>;
    for (const [name, axis] of Object.entries(axes)) {
      requireForm(axis as Axes, branches[name], `${path}.${name}`);
    }
    return;
  }
  throw new UsageError({
    where: placeOf('vmap')(),
    got: `inAxes${path} with ${isList ? names.length : names.join(', ')}`,
    expected: isList ? `a list of ${has.length}` : has.join(', ') || 'an axis or null',
    remedy: 'inAxes has the form of the arguments: null for what is the same at each place.',
  });
}

interface Mapping {
  readonly args: readonly unknown[];
  readonly inAxes: Axes;
  readonly outAxes: number;
}

function mapped(frame: Frame, call: AnyFunction, { args, inAxes, outAxes }: Mapping): unknown {
  const axes: number[] = [];
  const written = writeFunction(frame, { call, args }, (leaf) => {
    const axis = axisAt(inAxes, leaf.path.split('.'));
    if (axis === null) return undefined;
    const { type, at } = withoutAxis(leaf, axis);
    axes.push(at);
    return type;
  });
  const { fn, given, returned, leaves } = written;
  const size = sizeOf(given, axes);
  const functions = new MappedFunctions(frame.trace);
  const mapper = new Mapper({ functions, frame, size, scopes: computeScopes(fn) });
  for (const [i, param] of fn.params.entries()) {
    const leaf = given[i];
    if (leaf === undefined) throw new Error('internal: a parameter without argument');
    mapper.set(param, { expr: moved(frame, leaf, [axes[i] ?? 0, 0]).expr, flags: true });
  }
  let next = 0;
  return mapTree(returned, isValueLeaf, () => {
    const leaf = leaves[next++];
    if (leaf?.type.kind !== 'tensor') {
      throw new UsageError({
        where: siteOr('vmap'),
        got: `${leaf === undefined ? 'nothing' : formatType(leaf.type)} as a result`,
        expected: 'arrays',
      });
    }
    const value = mapper.of(leaf.expr);
    const graph = new ExprGraph(frame.trace.inference, callSite());
    const expr = graph.raise(value, true, { type: leaf.type, size });
    const type = frame.trace.inference.of(expr);
    const end = normalizeAxis(outAxes, leaf.type.shape.length + 1, 'vmap: outAxes');
    const state = moved(frame, { ...leaf, expr, type }, [0, end]);
    return valueOf(frame, state.expr, state);
  });
}

/** The axis at a path: that of the nearest branch that has one. */
function axisAt(axes: Axes | undefined, path: readonly string[]): number | null {
  if (axes === undefined || axes === null || typeof axes === 'number') return axes ?? null;
  const [key = '', ...rest] = path;
  return axisAt((axes as Readonly<Record<string, Axes>>)[key], rest);
}

function withoutAxis(
  leaf: WrittenLeaf,
  axis: number,
): { readonly type: Type; readonly at: number } {
  const { type, path } = leaf;
  if (type.kind !== 'tensor' || axis >= type.shape.length || axis < -type.shape.length) {
    throw new ShapeError({
      where: siteOr('vmap'),
      got: `${formatType(type)} as argument ${path}`,
      expected: `an array with axis ${axis}, to map over`,
      remedy: 'inAxes has null for arguments that are the same at each place.',
    });
  }
  const at = normalizeAxis(axis, type.shape.length, 'vmap');
  return { type: tensorType({ dtype: type.dtype, shape: type.shape.toSpliced(at, 1) }), at };
}

function sizeOf(leaves: readonly WrittenLeaf[], axes: readonly number[]): Dim {
  const sizes = leaves.map(({ type }, i) =>
    type.kind === 'tensor' ? (type.shape[axes[i] ?? 0] ?? 1) : 1,
  );
  const [size, ...others] = sizes;
  if (size === undefined) {
    const where = siteOr('vmap');
    throw new UsageError({ where, got: 'no argument to map over', expected: 'one or more' });
  }
  const other = others.findIndex((dim) => formatDim(dim) !== formatDim(size));
  if (other < 0) return size;
  throw new ShapeError({
    where: siteOr('vmap'),
    got: `${formatDim(size)} places in argument ${leaves[0]?.path}, ${formatDim(sizes[other + 1] ?? 0)} in ${leaves[other + 1]?.path}`,
    expected: 'as many in each',
  });
}

/** An array whose axis lies elsewhere. */
function moved(
  frame: Frame,
  { expr, type }: WrittenLeaf,
  [from, to]: readonly [number, number],
): ArrayState {
  if (type.kind !== 'tensor') throw new Error('internal: a mapped value that is no tensor');
  const state = new ArrayState({ expr, type, frame });
  if (from === to) return state;
  const others = type.shape.map((_, axis) => axis).filter((axis) => axis !== from);
  return apply('transpose', [state], { perm: others.toSpliced(to, 0, from) });
}

/** The parameters of a program with one more axis, whose size has a name of its own. */
function withAxes(params: Spec, inAxes: Axes): Spec {
  const taken = new Set<string>();
  mapTree(params, isLeafSpec, (leaf) => {
    for (const dim of leaf.kind === 'array' ? leaf.shape : []) taken.add(formatDim(dim));
  });
  let name = 'batch';
  for (let i = 2; taken.has(name); i++) name = `batch_${i}`;
  return mapTree(params, isLeafSpec, (leaf, path) => {
    const axis = axisAt(inAxes, path === '' ? ['0'] : ['0', ...path.split('.')]);
    if (axis === null || leaf.kind !== 'array') return leaf;
    const at = normalizeAxis(axis, leaf.shape.length + 1, 'vmap: inAxes');
    return { ...leaf, shape: leaf.shape.toSpliced(at, 0, name) };
  }) as Spec;
}
