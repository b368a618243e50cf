import { checkOptions, type OptionKinds } from '../check-options.ts';
import { CompileLimitError } from '../errors.ts';

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
   * Steps of the compiler, which are the same on every machine: nodes, types and formulas that its passes look at, and
   * elements and bytes that it computes with, 16 or 256 a step. Default 6,000,000, 5,000 more for each node of the file,
   * and one for each byte of the model.
   */
  readonly work?: number | undefined;
  /**
   * Time of the compiler, download excluded, where you set it: then it depends on the machine which models are
   * compiled. Default Infinity.
   */
  readonly milliseconds?: number | undefined;
}

/** The limits where none are given, without what the size of a model adds. */
export const DEFAULT_LIMITS: Readonly<Record<keyof CompileLimits, number>> = {
  nodes: 50_000,
  foldedBytes: 128 * 2 ** 20,
  work: 6_000_000,
  milliseconds: Infinity,
};

export type LimitName = keyof CompileLimits;

const UNITS: Readonly<Record<LimitName, string>> = {
  nodes: 'nodes',
  foldedBytes: 'bytes of folded tensors',
  work: 'steps of compiling',
  milliseconds: 'milliseconds of compiling',
};

interface ReachedLimit {
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

const LIMITS: OptionKinds<CompileLimits> = {
  nodes: 'positive',
  foldedBytes: 'positive',
  work: 'positive',
  milliseconds: 'positive',
};

/** Throws UsageError for an unknown limit, or one that is no number above 0. */
export function requireLimits(limits: CompileLimits): void {
  checkOptions<CompileLimits>('compileLimits', limits, LIMITS);
}
