import { elementCount } from '../../core/tensor/element-count.ts';
import { UsageError } from '../../core/errors.ts';
import { tensorDifference } from '../../core/tensor/tensor-difference.ts';
import type { ValueDeparture } from '../../worker/protocol/control-request.ts';
import type { Inputs } from '../values/input-value.ts';
import type { Tensor } from '../values/tensor.ts';
import { type TracedSession, type TracedValue, traceValues } from './trace-session.ts';
import type { AskAboutRun } from './ask-tool.ts';

/** Values that are right, by their names in the source. */
export type ExpectedValues = Readonly<Record<string, Tensor>>;

export interface ValueComparison {
  /** The first value that departs, with its name. */
  readonly departure: (ValueDeparture & { readonly value: string }) | undefined;
  readonly calls: number;
  readonly largestError: number;
  /** Names of expected values that this program does not compute, or not in that size. */
  readonly missing: readonly string[];
}

export interface ValuesToCompare {
  readonly against: TracedSession | ExpectedValues;
  readonly tolerance: number;
  readonly function?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Compares values of a run with those of another session, or with given ones, in the order of this program. */
export async function compareValues(
  ask: AskAboutRun,
  inputs: Inputs,
  { against, tolerance, function: name, signal }: ValuesToCompare,
): Promise<ValueComparison> {
  const expected = isSession(against)
    ? (await against.trace(inputs, { function: name, signal })).map(
        ({ name: value, tensor }) => [value, tensor] as const,
      )
    : Object.entries(against);
  const values = [...new Set(expected.map(([value]) => value))];
  const traced = await traceValues(ask, inputs, { values, skips: true });
  const wanted = new Map(numbered(expected.map(([value, tensor]) => ({ name: value, tensor }))));
  const compared = new Set<string>();
  let largestError = 0;
  let departure: ValueComparison['departure'];
  for (const [key, got] of numbered(traced)) {
    const want = wanted.get(key)?.tensor;
    if (want === undefined || elementCount(want.shape) !== elementCount(got.tensor.shape)) continue;
    compared.add(got.name);
    const difference = tensorDifference(got.tensor, want);
    largestError = Math.max(largestError, difference.relativeError);
    if (difference.relativeError <= tolerance) continue;
    const { name: value, kernel, sources, at, call, tensor } = got;
    const { dtype, shape } = tensor;
    departure = { ...difference, value, kernel, sources, at, call, dtype, shape };
    break;
  }
  if (compared.size === 0) throw nothingCompared(values, isSession(against));
  const names = new Set(traced.map((got) => got.name));
  // Values after a departure were not compared, but are not missing.
  const isFound = (value: string): boolean =>
    names.has(value) && (departure !== undefined || compared.has(value));
  const missing = values.filter((value) => !isFound(value));
  return { departure, calls: compared.size, largestError, missing };
}

const isSession = (against: TracedSession | ExpectedValues): against is TracedSession =>
  typeof against['trace'] === 'function';

/** A name that a loop computes again gets a number. */
function* numbered<T extends Pick<TracedValue, 'name' | 'tensor'>>(
  values: readonly T[],
): Generator<readonly [string, T], void> {
  const counts = new Map<string, number>();
  for (const value of values) {
    const count = counts.get(value.name) ?? 0;
    counts.set(value.name, count + 1);
    yield [`${count} ${value.name}`, value];
  }
}

function nothingCompared(values: readonly string[], isOther: boolean): UsageError {
  const shown = values.slice(0, 8).map((value) => JSON.stringify(value));
  return new UsageError({
    where: 'compare',
    got:
      values.length === 0
        ? 'no values'
        : `only values that this program does not compute: ${shown.join(', ')}`,
    expected: isOther ? 'a session of the same source' : 'values by their names in the source',
    remedy: 'session.trace(inputs) gives the names that it has.',
  });
}
