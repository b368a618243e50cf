import { CompileLimitError, UsageError } from './errors.ts';

/** The most that compiling one program may take. Infinity lifts a limit. */
export interface CompileLimits {
  /**
   * Nodes of an ONNX model once its functions are expanded. Four calls of operators count as a node,
   * in the program that the model becomes and in a program that was written. Default 50,000.
   */
  readonly nodes?: number | undefined;
  /**
   * Bytes of tensors that the compiler makes, as it computes with constants. Default 128 MiB and four
   * times the bytes of the model.
   */
  readonly foldedBytes?: number | undefined;
  /**
   * Time of the compiler, download excluded. Default 8,000, and one more for each node of the
   * file. In Node what counts is the time of the processor.
   */
  readonly milliseconds?: number | undefined;
}

/** The limits where none are given, without what the size of a model adds. */
export const DEFAULT_LIMITS: Readonly<Record<keyof CompileLimits, number>> = {
  nodes: 50_000,
  foldedBytes: 128 * 2 ** 20,
  milliseconds: 8_000,
};

export type LimitName = keyof CompileLimits;

const UNITS: Readonly<Record<LimitName, string>> = {
  nodes: 'nodes',
  foldedBytes: 'bytes of folded tensors',
  milliseconds: 'milliseconds of compiling',
};

export interface ReachedLimit {
  readonly limit: LimitName;
  readonly reached: number;
  readonly most: number;
  readonly where: string;
}

export function compileLimitError({
  limit,
  reached,
  most,
  where,
}: ReachedLimit): CompileLimitError {
  const got = Math.ceil(reached);
  return new CompileLimitError(
    {
      where,
      got: `${got} ${UNITS[limit]}`,
      expected: `at most ${most}`,
      remedy:
        `If you trust the model, raise the limit: compileLimits: { ${limit}: ${2 * got} }, ` +
        `or --limit ${limit}=${2 * got}.`,
    },
    { details: { limit, reached: got, most, where } },
  );
}

/** Throws UsageError for an unknown limit, or one that is no number above 0. */
export function requireLimits(limits: CompileLimits): void {
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(UNITS, name)) {
      const expected = `one of ${Object.keys(UNITS).join(', ')}`;
      throw new UsageError({ where: 'compileLimits', got: `the limit ${name}`, expected });
    }
    if (value === undefined || (typeof value === 'number' && value > 0)) continue;
    const got = `${JSON.stringify(value)} as ${name}`;
    throw new UsageError({
      where: 'compileLimits',
      got,
      expected: 'a number above 0, or Infinity',
    });
  }
}
