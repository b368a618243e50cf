import type { ExecutableData } from '../../bytecode/executable.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { formatPlace, type SourcePlace } from '../../core/contracts/source-place.ts';
import { type KernelCall, KernelCalls, sourceOf } from './kernel-calls.ts';
import { ValueNames, type ValuePlace } from './value-places.ts';
import type { WatchedCall, WatchedRun } from './watched-run.ts';

/** A value that a run computed, and the call that did. */
export interface TracedPlace extends KernelCall {
  /** The name that was asked for, or else that of the source; of a value that no source names, that of the kernel. */
  readonly name: string;
  /** The number of the call among all calls of kernels, from 0. */
  readonly call: number;
  /**
   * True if a fused kernel computes the value but does not return it: its operators were run again,
   * one by one.
   */
  readonly isUnfused: boolean;
}

/** Runs the operators of a kernel one by one on what it read, and gives all their results; undefined where that cannot be. */
export type RunUnfused = (
  primitive: PrimitiveFunction,
  inputs: readonly HostTensor[],
  results: readonly Shape[],
) => Promise<readonly HostTensor[] | undefined>;

interface TraceOptions {
  /** Names of values; undefined: all that kernels give. */
  readonly values: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly runUnfused: RunUnfused;
}

interface RunTrace {
  /** The values in the order in which they were computed, with their places. */
  readonly values: readonly { readonly place: TracedPlace; readonly tensor: HostTensor }[];
  /** Names that the program has no place for. */
  readonly unknown: readonly string[];
  /** Names of values that the program has. */
  readonly known: readonly string[];
}

/** Runs a function once, and keeps values that are computed on the way. */
export async function traceRun(
  functionName: string,
  { program, run }: { readonly program: ExecutableData; readonly run: WatchedRun },
  { values, signal, runUnfused }: TraceOptions,
): Promise<RunTrace> {
  const sources = new SourceNames(program, values);
  const kernels = new KernelCalls(program);
  const found: { place: TracedPlace; tensor: HostTensor }[] = [];
  let calls = 0;
  const take = async (call: WatchedCall): Promise<void> => {
    const number = calls++;
    const primitive = kernels.primitive(call.kernel);
    if (primitive === undefined) return;
    const known = kernels.describe(call);
    const all = kernels.placesOf(known.at);
    const places: Places = { all, isDone: (place) => kernels.isLastOf(place, known.at) };
    const given = sources.ofResults(primitive, places);
    const hidden = sources.within(primitive, places);
    const isWanted = values === undefined || hidden.length > 0 || given.some(Boolean);
    if (!isWanted) return;
    const results = await call.results();
    const add = (name: string, tensor: HostTensor, isUnfused: boolean): void => {
      found.push({ place: { ...known, name, call: number, isUnfused }, tensor });
    };
    if (hidden.length > 0) {
      const shapes = results.map(({ shape }) => shape);
      const values = (await runUnfused(primitive, await call.inputs(), shapes)) ?? [];
      for (const { name, index } of hidden) {
        const tensor = values[index];
        if (tensor !== undefined) add(name, tensor, true);
      }
    }
    for (const [i, tensor] of results.entries()) {
      for (const name of given[i] ?? (values === undefined ? [call.kernel] : [])) {
        add(name, tensor, false);
      }
    }
  };
  const isAll = values === undefined;
  await run.run(take, { functionName, keepsInputs: !isAll, readsResults: isAll, signal });
  return { values: found, unknown: sources.unknown, known: sources.known };
}

/** Places of a call of a kernel, and whether it is the last one of a place. */
interface Places {
  readonly all: readonly SourcePlace[];
  readonly isDone: (place: SourcePlace) => boolean;
}

/** Which names of the source the values of kernels have. */
class SourceNames {
  /** Names that the program has no place for. */
  readonly unknown: readonly string[];
  readonly known: readonly string[];
  readonly #names: ValueNames;
  /** Names asked for, by place; undefined: all. */
  readonly #wanted: ReadonlyMap<string, string> | undefined;

  constructor(program: ExecutableData, values: readonly string[] | undefined) {
    this.#names = new ValueNames(program.metadata);
    const places = new KernelCalls(program).places.map(sourceName);
    const isKnown = new Set(places);
    this.known = places.map((source) => this.#names.nameOf(source, 0));
    const traced = (values ?? []).map((name) => {
      const candidates = this.#names.candidates(name).flatMap((place) => expand(place, places));
      return { name, place: candidates.find(({ source }) => isKnown.has(source)) };
    });
    this.unknown = traced.flatMap(({ name, place }) => (place === undefined ? [name] : []));
    this.#wanted =
      values &&
      new Map(traced.flatMap(({ name, place }) => (place ? [[keyOf(place), name] as const] : [])));
  }

  /** Names of each result of a kernel; undefined for one without. */
  ofResults(
    { params, results, body }: PrimitiveFunction,
    places: Places,
  ): readonly (readonly string[] | undefined)[] {
    const sources = results.map(({ value }) => finished({ body }, places, value - params.length));
    return sources.map((source, i) => {
      if (source === undefined) return undefined;
      const count = this.#names.outputCount(source);
      const ofSource = sources.flatMap((other, index) => (other === source ? [index] : []));
      // Of several outputs some may come from other kernels, or be left out.
      if (count !== ofSource.length) return undefined;
      return this.#name({ source, output: ofSource.indexOf(i) });
    });
  }

  /** Names of values that a kernel computes and does not give, with the numbers of their operators. */
  within(
    { params, results, body }: PrimitiveFunction,
    places: Places,
  ): readonly { readonly name: string; readonly index: number }[] {
    if (this.#wanted === undefined || body.length < 2) return [];
    const given = new Set(results.map(({ value }) => value - params.length));
    return body.flatMap((_, index) => {
      const source = given.has(index) ? undefined : finished({ body }, places, index);
      if (source === undefined || this.#names.outputCount(source) !== 1) return [];
      return (this.#name({ source, output: 0 }) ?? []).map((name) => ({ name, index }));
    });
  }

  #name(place: ValuePlace): readonly string[] | undefined {
    if (this.#wanted === undefined) return [this.#names.nameOf(place.source, place.output)];
    const name = this.#wanted.get(keyOf(place));
    return name === undefined ? undefined : [name];
  }
}

/** The node or line whose value an operator of a kernel completes; undefined where that is not known. */
function finished(
  kernel: Pick<PrimitiveFunction, 'body'>,
  { all, isDone }: Places,
  index: number,
): string | undefined {
  const place = sourceOf(kernel, all, index);
  const isLast = index === kernel.body.length - 1 || all.length === kernel.body.length;
  return place !== undefined && isLast && isDone(place) ? sourceName(place) : undefined;
}

/** A line is meant by `file:line` too. */
function expand(place: ValuePlace, places: readonly string[]): readonly ValuePlace[] {
  const isLine = /:\d+$/.test(place.source);
  const onLine = isLine ? places.filter((source) => source.startsWith(`${place.source}:`)) : [];
  return [place, ...onLine.map((source) => ({ ...place, source }))];
}

const sourceName = (place: SourcePlace): string =>
  place.line === undefined ? place.source : formatPlace(place);

const keyOf = ({ source, output }: ValuePlace): string => `${output} ${source}`;
