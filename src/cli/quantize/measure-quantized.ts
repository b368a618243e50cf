import type { Session } from '../../client/index.ts';
import { UsageError } from '../../core/errors.ts';
import type {
  QuantizedOnnx,
  QuantizeOptions,
  SampleMoments,
  ExternalDataReader,
} from '../../frontend/index.ts';
import { siblingReader } from '../files/read-file.ts';
import {
  compareModels,
  measureRanges,
  openModel,
  randomSamples,
  type Samples,
} from './measure-model.ts';
import { dataFileOf, type QuantizeFlags } from './quantize-flags.ts';
import { findSamples, readSample } from './read-samples.ts';
import type { ValueError } from './value-error.ts';

/** A model, and a way to quantise it with some layers left as they are. */
interface MeasuredModel {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly quantize: (keep: readonly string[], found?: Calibration) => QuantizedOnnx;
}

/** Ranges and moments of the values of a model, measured on samples. */
export type Calibration = Pick<QuantizeOptions, 'ranges' | 'moments'>;

/** A quantised model with how far its values are from those of the float model. */
export interface Measured {
  readonly quantized: QuantizedOnnx;
  /** Errors of the model's outputs and of those of its layers, by name. */
  readonly values: ReadonlyMap<string, ValueError>;
  /** Values that go through uint8. */
  readonly rounded: readonly string[];
  /** The samples that were run, in words. */
  readonly ranOn: string;
  /** Values that would go through uint8, but stay float because outputs would be too far off otherwise. */
  readonly floatValues: readonly string[];
  /** Layers that stay float because outputs would be too far off otherwise. */
  readonly keptFor: readonly string[];
  /** The least cosine that outputs were to have. */
  readonly wanted: number;
  /** Why nothing could be compared. */
  readonly failure: string | undefined;
}

/** Random inputs are unlike those that a model is for, which may move further. */
const WANTED_COSINE = {
  random: { 4: 0.98, 8: 0.9998, 16: 0.9999 },
  samples: { 4: 0.98, 8: 0.999, 16: 0.9999 },
} as const;

/** Quantises a model and compares it with itself; layers stay float until the outputs are near enough. */
export async function measureQuantized(
  model: MeasuredModel,
  flags: QuantizeFlags,
  onProgress: (text: string) => void,
): Promise<Measured> {
  const { bits = 8, keep = [], calibrate } = flags;
  const kind = calibrate === undefined ? 'random' : 'samples';
  const wanted = flags.cosine ?? WANTED_COSINE[kind][bits];
  const plain = model.quantize(keep);
  const nothing = {
    quantized: plain,
    values: new Map<string, never>(),
    ...NOTHING_KEPT,
    rounded: [],
    wanted,
  };
  if (plain.wasQuantized.length > 0 || (!flags.run && calibrate === undefined)) {
    return { ...nothing, ranOn: '', failure: undefined };
  }
  const moments = calibrate === undefined || bits === 16 ? undefined : await momentsOf(model);
  onProgress('compiling the float model');
  let float: Session;
  try {
    float = await openModel(
      {
        ...compiledAs(flags),
        bytes: moments?.model ?? model.bytes,
        externalData: siblingReader(model.path),
      },
      [...observed(plain), ...plain.activations, ...(moments?.values ?? [])],
    );
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return { ...nothing, ranOn: '', failure: reasonOf(error) };
  }
  try {
    const samples = await samplesOf(float, flags);
    // Values of random inputs give no scales, but they show where float16 overflows.
    const names = calibrate === undefined && bits !== 16 ? [] : plain.activations;
    const ranges = await measureRanges(float, names, {
      ...samples,
      moments,
      onSample: (index) => onProgress(`calibrating: ${index + 1} of ${samples.count}`),
    });
    const found: Calibration = { ranges, moments };
    const quantized = model.quantize(keep, found);
    const roundedOf = ({ activations }: QuantizedOnnx): readonly string[] =>
      bits === 16 ? [] : activations.filter((name) => ranges[name] !== undefined);
    if (!flags.run)
      return {
        ...nothing,
        quantized,
        rounded: roundedOf(quantized),
        ranOn: '',
        failure: undefined,
      };
    const measuring = { model, flags, float, samples, onProgress };
    const first = await measure(quantized, measuring);
    const common = { ranOn: samples.ranOn, wanted, failure: undefined };
    if (first.worst >= wanted) {
      const rounded = roundedOf(quantized);
      return { ...common, ...NOTHING_KEPT, quantized, rounded, values: first.values };
    }
    const search = { measuring, keep, wanted };
    const floatValues = await findFloatValues(roundedOf(quantized), found, search);
    const floats = without(found, floatValues);
    const keptFor = await findKeptLayers(quantized, floats, search);
    const last = model.quantize([...keep, ...keptFor], floats);
    const { values } = await measure(last, measuring);
    const rounded = roundedOf(last).filter((name) => !floatValues.includes(name));
    return { ...common, quantized: last, rounded, floatValues, values, keptFor };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return { ...nothing, ranOn: '', failure: reasonOf(error) };
  } finally {
    await float.dispose();
  }
}

const NOTHING_KEPT = { keptFor: [], floatValues: [] } as const;

interface Search {
  readonly measuring: Measuring;
  readonly keep: readonly string[];
  readonly wanted: number;
}

/** The same without the ranges of values, which then stay float. */
const without = (found: Calibration, names: readonly string[]): Calibration => ({
  ...found,
  ranges: Object.fromEntries(
    Object.entries(found.ranges ?? {}).filter(([name]) => !names.includes(name)),
  ),
});

/** Those of the values that go through uint8 which have to stay float, before any layer does: all of them where that is not enough. */
async function findFloatValues(
  rounded: readonly string[],
  found: Calibration,
  { measuring, keep, wanted }: Search,
): Promise<readonly string[]> {
  if (rounded.length === 0) return [];
  const cosineWithout = async (names: readonly string[]): Promise<number> =>
    (await measure(measuring.model.quantize(keep, without(found, names)), measuring)).worst;
  if ((await cosineWithout(rounded)) < wanted) return rounded;
  return findKept({ layers: rounded, wanted, cosineWithout });
}

/** The layers that have to stay float besides. */
async function findKeptLayers(
  { layers }: QuantizedOnnx,
  found: Calibration,
  { measuring, keep, wanted }: Search,
): Promise<readonly string[]> {
  const cosineWithout = async (kept: readonly string[]): Promise<number> =>
    (await measure(measuring.model.quantize([...keep, ...kept], found), measuring)).worst;
  if ((await cosineWithout([])) >= wanted) return [];
  return findKept({ layers: layers.map(({ node }) => node), wanted, cosineWithout });
}

const momentsOf = async ({ bytes }: MeasuredModel): Promise<SampleMoments> =>
  new (await import('../../frontend/index.ts')).SampleMoments(bytes);

const compiledAs = ({ dim, limit }: QuantizeFlags) => ({ dims: dim, compileLimits: limit });

const observed = ({ layers }: QuantizedOnnx): string[] =>
  layers.flatMap(({ output, isInner }) => (isInner ? [] : [output]));

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

interface Measuring {
  readonly model: MeasuredModel;
  readonly flags: QuantizeFlags;
  readonly float: Session;
  readonly samples: Samples;
  readonly onProgress: (text: string) => void;
}

interface Measurement {
  readonly values: ReadonlyMap<string, ValueError>;
  /** The least cosine of an output of the model. */
  readonly worst: number;
}

async function measure(
  quantized: QuantizedOnnx,
  { flags, float, samples, onProgress }: Measuring,
): Promise<Measurement> {
  const externalData = readPieces({ [dataFileOf(flags.output)]: quantized.data });
  const bytes = quantized.model;
  const tested = await openModel(
    { ...compiledAs(flags), bytes, externalData },
    observed(quantized),
  );
  try {
    const values = await compareModels(tested, float, {
      ...samples,
      onSample: (index) => onProgress(`sample ${index + 1} of ${samples.count}`),
    });
    const cosines = quantized.outputs.flatMap((name) => {
      const value = values.get(name);
      return value === undefined ? [] : [value.cosine, value.worstCosine];
    });
    return { values, worst: Math.min(1, ...cosines) };
  } finally {
    await tested.dispose();
  }
}

/** Those of a folder, or random ones. */
async function samplesOf(
  { inputs }: Session,
  { calibrate, dim: dims, samples: count, seed }: QuantizeFlags,
): Promise<Samples & { readonly ranOn: string }> {
  if (calibrate === undefined) {
    const read = randomSamples(inputs, { dims, seed });
    return { count, read, ranOn: `${count} random input(s)` };
  }
  const files = await findSamples(calibrate, inputs);
  const read = (index: number) => readSample(files[index] ?? { path: '', files: {} }, inputs);
  return { count: files.length, read, ranOn: `${files.length} sample(s) of ${calibrate}` };
}

/** Finds which layers have to stay float for outputs to be near enough. */
interface KeptSearch {
  /** The layers that may be rounded, by their names. */
  readonly layers: readonly string[];
  /** The least cosine of an output where these layers stay float. */
  readonly cosineWithout: (kept: readonly string[]) => Promise<number>;
  /** The least cosine that is near enough. */
  readonly wanted: number;
}

/**
 * The layers that harm most by themselves, as few of them as there have to be: first each is rounded alone, then the
 * number of the worst that stay is doubled and halved. With all of them nothing is rounded, so there is an answer always.
 */
export async function findKept({ layers, cosineWithout, wanted }: KeptSearch): Promise<string[]> {
  const alone: { readonly name: string; readonly cosine: number }[] = [];
  for (const name of layers) {
    const cosine = await cosineWithout(layers.filter((other) => other !== name));
    // One that is no number is worse than all others.
    alone.push({ name, cosine: Number.isNaN(cosine) ? -Infinity : cosine });
  }
  const names = alone.toSorted((a, b) => a.cosine - b.cosine).map(({ name }) => name);
  const holds = async (count: number): Promise<boolean> =>
    (await cosineWithout(names.slice(0, count))) >= wanted;
  let [least, most] = [0, 1];
  while (most < names.length && !(await holds(most))) [least, most] = [most, most * 2];
  most = Math.min(most, names.length);
  while (most - least > 1) {
    const middle = Math.floor((least + most) / 2);
    if (await holds(middle)) most = middle;
    else least = middle;
  }
  return names.slice(0, most);
}

/** Reads files that are in memory in pieces, by their names. */
export function readPieces(
  files: Readonly<Record<string, readonly Uint8Array[]>>,
): ExternalDataReader {
  return (path, { byteOffset, byteLength }) => {
    const pieces = Object.hasOwn(files, path) ? files[path] : undefined;
    if (pieces === undefined) {
      throw new UsageError({ where: path, got: 'no such file', expected: 'one beside the model' });
    }
    const bytes = new Uint8Array(byteLength);
    let begin = 0;
    for (const piece of pieces) {
      const from = Math.max(byteOffset - begin, 0);
      const to = Math.min(byteOffset + byteLength - begin, piece.byteLength);
      if (from < to) bytes.set(piece.subarray(from, to), begin + from - byteOffset);
      begin += piece.byteLength;
    }
    return bytes.subarray(0, Math.max(0, begin - byteOffset));
  };
}
