import { UsageError } from '../../core/errors.ts';
import type { RunComparison, ValueRange } from '../../worker/protocol/control-request.ts';
import type { Inputs } from '../values/input-value.ts';
import { answerOf, type AskAboutRun } from './ask-tool.ts';
import { checkOptions, type OptionKinds, requireKind } from '../../core/check-options.ts';

/** The function to compare, and the error that counts as different. */
export interface VerifyOptions {
  /** The function of the program to run. Default: `main`. */
  readonly function?: string | undefined;
  /**
   * The largest error that does not count, relative to the largest element of each value. Default 0.05, beyond what
   * rounding to float16 adds up to in deep networks.
   */
  readonly tolerance?: number | undefined;
  /** Ends it, and rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** The function to run, and how near to the limit counts. */
export interface OverflowOptions extends Omit<VerifyOptions, 'tolerance'> {
  /** Values are named that would overflow if they were so many times as large. Default 2; at least 1. */
  readonly margin?: number | undefined;
}

/** Values of a program that may overflow float16. */
export interface OverflowReport {
  /** Values of float16 that came near its limit or beyond, the largest first. */
  readonly overflows: readonly ValueRange[];
  /** Values that the program stores as float16 in all. */
  readonly values: number;
}

const LARGEST_FLOAT16 = 65_504;
const DEFAULT_MARGIN = 2;

const OVERFLOW_OPTIONS: OptionKinds<OverflowOptions> = {
  function: 'text',
  margin: ['a number from 1 up', (value) => typeof value === 'number' && value >= 1],
  signal: 'signal',
};

/** See `Session.overflows`. */
export async function findOverflows(
  ask: AskAboutRun,
  samples: Iterable<Inputs>,
  options: OverflowOptions,
): Promise<OverflowReport> {
  checkOptions('overflows', options, OVERFLOW_OPTIONS);
  const isList = Symbol.iterator in Object(samples);
  requireKind('overflows', ['a list of inputs', () => isList], ['samples that are', samples]);
  const all = [...samples];
  if (all.length === 0) {
    throw new UsageError({
      where: 'overflows',
      got: 'no samples',
      expected: 'inputs like those that the program will get',
    });
  }
  let ranges: readonly ValueRange[] = [];
  for (const [i, sample] of all.entries()) {
    ranges = await answerOf(ask(sample, 'ranges', { isLast: i === all.length - 1 }));
  }
  const limit = LARGEST_FLOAT16 / (options.margin ?? DEFAULT_MARGIN);
  const overflows = ranges.filter(({ largest }) => largest > limit);
  return { overflows: overflows.toSorted((a, b) => b.largest - a.largest), values: ranges.length };
}

const VERIFY_OPTIONS: OptionKinds<VerifyOptions> = {
  function: 'text',
  tolerance: 'positive',
  signal: 'signal',
};

const DEFAULT_TOLERANCE = 0.05;

/** See `Session.verify`. */
export async function verifySession(
  ask: AskAboutRun,
  inputs: Inputs,
  options: VerifyOptions,
): Promise<RunComparison> {
  checkOptions('verify', options, VERIFY_OPTIONS);
  const { tolerance = DEFAULT_TOLERANCE } = options;
  return answerOf(ask(inputs, 'verify', { tolerance }));
}
