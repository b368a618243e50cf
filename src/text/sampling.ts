import { UsageError } from '../core/errors.ts';
import { OPTIONS, type SettingName, SETTINGS } from '../core/text-layout.ts';

/** How tokens are drawn. The defaults are those of the model's `generation_config.json`, else the ones named here. */
export interface SamplingOptions {
  /** Divides the logits. 0 takes the likeliest token each time. Default 1. */
  readonly temperature?: number | undefined;
  /** Only as many of the likeliest tokens count. Default 0: all. */
  readonly topK?: number | undefined;
  /** Only the likeliest tokens that have this probability together count (Holtzman et al. 2019). Default 1. */
  readonly topP?: number | undefined;
  /** Only tokens with this share of the likeliest one's probability count. Default 0. */
  readonly minP?: number | undefined;
  /** Divides logits above 0, and multiplies others, of tokens that the text has (Keskar et al. 2019). Default 1. */
  readonly repetitionPenalty?: number | undefined;
  /** Taken from the logits of tokens that were generated. Default 0. */
  readonly presencePenalty?: number | undefined;
  /** The same, for each time that they were. Default 0. */
  readonly frequencyPenalty?: number | undefined;
  /** Added to the logits of single tokens, by their ids. */
  readonly logitBias?: Readonly<Record<number, number>> | undefined;
  /** Decides all random numbers: an integer from 0 to 2^53 - 1. Default: another one each time. */
  readonly seed?: number | undefined;
}

/** Options as the program takes them. */
export interface Sampling {
  /** The bits of `OPTIONS` that are set. */
  readonly options: number;
  /** The row of this text in `settings`. */
  readonly settings: readonly number[];
  /** The row of this text in `keys`. */
  readonly key: readonly [number, number];
  /** Summands of the logits, by token. */
  readonly bias: ReadonlyMap<number, number>;
}

type NumberName = Exclude<keyof SamplingOptions, 'logitBias' | 'seed'>;

/** The least and the largest value of each option, both included. */
const RANGES: Readonly<Record<NumberName, readonly [least: number, most: number]>> = {
  temperature: [0, 100],
  topK: [0, 2 ** 24],
  topP: [0, 1],
  minP: [0, 1],
  repetitionPenalty: [0.01, 100],
  presencePenalty: [-100, 100],
  frequencyPenalty: [-100, 100],
};

/** Logits divided by it are still float32. */
const COLDEST = 1e-20;
/** The least `topP`, in place of 0: the likeliest token always stays. */
const LEAST_SHARE = 2 ** -100;

/** Throws UsageError that names the option, what was given and what may be. */
export function samplingOf(given: SamplingOptions, vocabulary: number): Sampling {
  for (const [name, [least, most]] of Object.entries(RANGES)) {
    const value = given[name as NumberName];
    if (value === undefined || (value >= least && value <= most)) continue;
    throw new UsageError({ where: name, got: String(value), expected: `${least} to ${most}` });
  }
  const {
    temperature = 1,
    topK = 0,
    topP = 1,
    minP = 0,
    repetitionPenalty = 1,
    presencePenalty = 0,
    frequencyPenalty = 0,
    logitBias = {},
  } = given;
  const isRandom = temperature > 0;
  const bias = biasOf(logitBias, vocabulary);
  const hasPenalties =
    bias.size > 0 || repetitionPenalty !== 1 || presencePenalty !== 0 || frequencyPenalty !== 0;
  const isFiltered = isRandom && (topK > 0 || topP < 1 || minP > 0);
  if (!Number.isInteger(topK)) {
    throw new UsageError({ where: 'topK', got: String(topK), expected: 'an integer' });
  }
  const values: Readonly<Record<SettingName, number>> = {
    inverseTemperature: isRandom ? 1 / Math.max(temperature, COLDEST) : 1,
    noise: isRandom ? 1 : 0,
    topK: topK === 0 ? 2 ** 30 : topK,
    // Beyond what rounding may make of the sum of all.
    topP: topP === 1 ? 2 : Math.max(topP, LEAST_SHARE),
    minP,
    repetition: repetitionPenalty,
    presence: presencePenalty,
    frequency: frequencyPenalty,
  };
  return {
    options:
      (hasPenalties ? OPTIONS.penalties : 0) +
      (isFiltered ? OPTIONS.filters : 0) +
      (topK > 0 ? OPTIONS.topK : 0) +
      (topP < 1 ? OPTIONS.topP : 0) +
      (isRandom ? OPTIONS.noise : 0),
    settings: SETTINGS.map((name) => values[name]),
    key: keyOf(given.seed ?? randomSeed()),
    bias,
  };
}

function biasOf(given: Readonly<Record<number, number>>, vocabulary: number): Map<number, number> {
  const bias = new Map(Object.entries(given).map(([id, value]) => [Number(id), value]));
  for (const [id, value] of bias) {
    if (Number.isInteger(id) && id >= 0 && id < vocabulary && Number.isFinite(value)) continue;
    throw new UsageError({
      where: 'logitBias',
      got: `${value} for the token ${id}`,
      expected: `a finite number for a token from 0 to ${vocabulary - 1}`,
    });
  }
  return bias;
}

function keyOf(seed: number): [number, number] {
  if (Number.isSafeInteger(seed) && seed >= 0) return [seed % 2 ** 32, Math.floor(seed / 2 ** 32)];
  const expected = 'an integer from 0 to 2^53 - 1';
  throw new UsageError({ where: 'seed', got: String(seed), expected });
}

/** Returns true if repeated tokens are penalized, or some tokens have a bias. */
export const isPenalized = ({ options }: Sampling): boolean => (options & OPTIONS.penalties) !== 0;

/** A seed that nobody chose: 53 random bits. */
export function randomSeed(): number {
  const [low = 0, high = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 21) * 2 ** 32 + low;
}
