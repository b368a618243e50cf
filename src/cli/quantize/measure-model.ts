import { type Inputs, Session, Tensor, type ValueInfo } from '../../client/index.ts';
import { randomInputs } from '../../client/values/random-inputs.ts';
import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import { seededRandom } from '../../core/random.ts';
import type { ExternalDataReader, SampleMoments } from '../../frontend/index.ts';
import { responseOf } from '../open-session.ts';
import { type ValueError, ValueErrorSum } from './value-error.ts';

/** A model, and how it is compiled to be run. */
interface RunnableModel {
  readonly bytes: Uint8Array;
  readonly externalData: ExternalDataReader;
  readonly dims?: Readonly<Record<string, number>> | undefined;
  readonly compileLimits?: CompileLimits | undefined;
}

/** A session in WebAssembly of a model that also gives some of its inner values. */
export async function openModel(
  { bytes, ...options }: RunnableModel,
  observed: readonly string[] = [],
): Promise<Session> {
  const { compileOnnx, observeOnnx } = await import('../../frontend/index.ts');
  const executable = compileOnnx(observeOnnx(bytes, observed), options);
  return Session.load(responseOf(executable), { worker: false, device: 'wasm' });
}

type SampleReader = (index: number) => Inputs | Promise<Inputs>;

/** Random inputs, the same for a seed. */
export function randomSamples(
  inputs: readonly ValueInfo[],
  {
    dims = {},
    seed,
  }: { readonly dims?: Readonly<Record<string, number>> | undefined; readonly seed: number },
): SampleReader {
  const chosen = new Map(Object.entries(dims));
  return (index) => randomInputs(inputs, chosen, seededRandom(seed + index));
}

export interface Samples {
  readonly count: number;
  readonly read: SampleReader;
}

/** How far the values of a model are from those of another one, by their names: outputs, and what both show beside. */
export async function compareModels(
  tested: Session,
  float: Session,
  { count, read, onSample }: Samples & { readonly onSample?: (index: number) => void },
): Promise<ReadonlyMap<string, ValueError>> {
  const sums = new Map<string, ValueErrorSum>();
  for (let index = 0; index < count; index++) {
    onSample?.(index);
    const inputs = await read(index);
    const [got, wanted] = [await tested.run(inputs), await float.run(inputs)];
    for (const [name, want] of Object.entries(wanted)) {
      const value = got[name];
      if (!(want instanceof Tensor) || !(value instanceof Tensor)) continue;
      const sum = sums.get(name) ?? new ValueErrorSum();
      sums.set(name, sum);
      sum.add(value, want);
    }
  }
  return new Map([...sums].map(([name, sum]) => [name, sum.total]));
}

interface Calibrating extends Samples {
  /** Moments to which the values of all samples are added. */
  readonly moments?: SampleMoments | undefined;
  readonly onSample?: (index: number) => void;
}

/** The least and the largest element of values over all samples: of inputs, and of what the session shows. */
export async function measureRanges(
  session: Session,
  names: readonly string[],
  { count, read, moments, onSample }: Calibrating,
): Promise<Readonly<Record<string, readonly [least: number, most: number]>>> {
  const ranges: Record<string, readonly [number, number]> = {};
  if (names.length === 0 && moments === undefined) return ranges;
  for (let index = 0; index < count; index++) {
    onSample?.(index);
    const inputs = await read(index);
    const values = { ...inputs, ...(await session.run(inputs)) };
    moments?.add(tensorsOf(values), count);
    for (const name of names) {
      const value = values[name];
      if (!(value instanceof Tensor) || value.dtype !== 'float32') continue;
      let [least, most] = ranges[name] ?? [0, 0];
      for (const element of value.data as Float32Array) {
        if (element < least) least = element;
        if (element > most) most = element;
      }
      // No scale covers what is infinite.
      if (Number.isFinite(most - least)) ranges[name] = [least, most];
    }
  }
  return ranges;
}

const tensorsOf = (values: Readonly<Record<string, unknown>>): Record<string, Tensor> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value instanceof Tensor ? [[name, value]] : [],
    ),
  );
