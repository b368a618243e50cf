import { requireKind } from '../../core/check-options.ts';
import { callSite, type Entry, placeOf, within, withinAt } from '../call-site.ts';
import { program, sourceOf } from '../define-program.ts';
import type { ProgramOptions } from '../program.ts';
import { currentFrame, type Frame, requireFrame } from '../trace.ts';
import type { Spec } from '../data/value-spec.ts';
import type { AnyFunction } from './function-arguments.ts';
import { runFunction } from './run-function.ts';

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
