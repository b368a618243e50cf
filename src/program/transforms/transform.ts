import { requireKind } from '../../core/check-options.ts';
import { callSite, type Entry, placeOf, within, withinAt } from '../call-site.ts';
import { program, sourceOf } from '../define-program.ts';
import { type ProgramOptions, ProgramCore } from '../program.ts';
import { currentFrame, type Frame, requireFrame } from '../trace.ts';
import type { Spec, LeafSpec } from '../data/value-spec.ts';
import { type AnyFunction, isArgumentLeaf, mapArguments } from './function-arguments.ts';
import { DataValue } from '../data/data-value.ts';
import { type NdArray, wrap } from '../nd-array.ts';
import { stateOf } from '../operand.ts';
import { mapTree } from '../data/tree.ts';

/** Writes the result of a transformed function into the function that calls it. */
type Write = (frame: Frame, args: readonly unknown[]) => unknown;

/** Without its types, which depend on those of the parameters. */
const define = program as unknown as (
  params: Spec,
  body: (args: unknown) => unknown,
  options: ProgramOptions,
) => unknown;

/**
 * The function that a transform makes of another: of a program a program with the same parameters, else a function that
 * is written down where it is called, in bodies of programs and outside.
 */
export function transformed(
  ...[name, fn, write, paramsOf = (params) => params]: readonly [
    name: string,
    fn: AnyFunction,
    write: Write,
    /** The parameters of the program that is made of one. */
    paramsOf?: (params: Spec) => Spec,
  ]
): unknown {
  requireKind(placeOf(name), 'function', ['the first argument', fn]);
  const source = sourceOf(fn);
  const own = source?.options.name ?? (source?.body ?? fn).name;
  const whole = own === '' ? name : `${name}_${own}`;
  if (source !== undefined) {
    const span = callSite();
    const body: Entry = (args: unknown) =>
      withinAt(body, span, () => write(requireFrame(name), [args]));
    return define(paramsOf(source.params), body as (args: unknown) => unknown, {
      ...source.options,
      name: whole,
    });
  }
  const call: Entry = (...args: readonly unknown[]) =>
    within(call, () => writeOrRun(call, { name: whole, args, write }));
  return call;
}

/** Writes into the function whose body runs; outside of programs, runs what would be written. */
export function writeOrRun(
  entry: Entry,
  {
    name,
    args,
    write,
  }: { readonly name: string; readonly args: readonly unknown[]; readonly write: Write },
): unknown {
  const frame = currentFrame();
  if (frame !== undefined) return write(frame, args);
  return runFunction(name, args, (inner) => within(entry, () => write(requireFrame(name), inner)));
}

/** A value among arguments, by its number. */
class Place {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

/**
 * Runs what a function writes down, outside of programs: as a program for the types of its arguments. The function runs
 * each time, since what it does may depend on more than these; what it writes is compiled once.
 */
function runFunction(
  name: string,
  args: readonly unknown[],
  body: (args: readonly unknown[]) => unknown,
): unknown {
  const values: (NdArray | DataValue)[] = [];
  const specs: LeafSpec[] = [];
  const places = mapArguments(args, (value) => {
    if (value instanceof DataValue) {
      values.push(value);
      specs.push(value.spec);
    } else {
      const state = stateOf(value);
      values.push(wrap(state));
      specs.push({ ...state.type, kind: 'array' });
    }
    return new Place(values.length - 1);
  });
  const filled = (params: readonly unknown[]): readonly unknown[] =>
    places.map((place) =>
      mapTree(place, isArgumentLeaf, (leaf) => (leaf instanceof Place ? params[leaf.index] : leaf)),
    );
  const core = new ProgramCore({
    params: specs,
    result: undefined,
    body: (params: readonly unknown[]) => body(filled(params)),
    options: { name },
    isShared: true,
  });
  return core.call(values);
}
