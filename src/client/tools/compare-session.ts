import { elementCount } from '../../core/tensor/element-count.ts';
import { UsageError } from '../../core/errors.ts';
import type { RunComparison, ValueDeparture } from '../../worker/protocol/control-request.ts';
import { checkOptions, either, fits, oneOf, type OptionKinds } from '../../core/check-options.ts';
import { compareValues, type ExpectedValues } from './compare-values.ts';
import type { Inputs } from '../values/input-value.ts';
import { Tensor } from '../values/tensor.ts';
import type { TracedSession } from './trace-session.ts';
import { answerOf, type AskAboutRun } from './ask-tool.ts';
import type { VerifyOptions } from './verify-session.ts';

/** The two sides of a comparison, and the error that counts as different. */
export interface CompareOptions extends Omit<VerifyOptions, 'tolerance'> {
  /**
   * The values that count as right: the reference kernels of the host, the default; WebAssembly,
   * which is faster; another session, of this program on another device or of its source compiled
   * otherwise; or values by their names in the source (see `trace`), as another runtime has them.
   * With the last two, the values compared are all in memory at once.
   */
  readonly against?: 'host' | 'wasm' | TracedSession | ExpectedValues | undefined;
  /**
   * The largest error that does not count, relative to the largest element of each value. Default 0.001, and for programs of
   * float16 0.05 is a good one: devices round between other operators.
   */
  readonly tolerance?: number | undefined;
  /**
   * Also looks for a smaller input that does it: halves of each tensor of floats become zero as long as the same kernel
   * departs, which takes up to two runs for each halving. Default false.
   */
  readonly reduce?: boolean | undefined;
}

/** The result of a comparison of two devices. */
export interface SessionComparison extends RunComparison {
  /** The first value that departs, with its name in the source where values were compared by name. */
  readonly departure: (ValueDeparture & { readonly value?: string }) | undefined;
  /** Against a session or values: names that this program does not compute, or not in that size. */
  readonly missing?: readonly string[];
  /** With `reduce`, where a value departs: inputs with few elements that are not zero, with which it still does. */
  readonly reduced?: Inputs;
}

const COMPARE_OPTIONS: OptionKinds<CompareOptions> = {
  function: 'text',
  against: either(oneOf('host', 'wasm'), [
    'a session or tensors by their names',
    (value) => fits('object', value),
  ]),
  tolerance: 'positive',
  reduce: 'boolean',
  signal: 'signal',
};

const DEFAULT_TOLERANCE = 0.001;

/** See `Session.compare`. */
export async function compareSession(
  ask: AskAboutRun,
  inputs: Inputs,
  options: CompareOptions,
): Promise<SessionComparison> {
  checkOptions('compare', options, COMPARE_OPTIONS);
  const { against = 'host', tolerance = DEFAULT_TOLERANCE, reduce = false } = options;
  if (reduce && typeof against === 'object' && typeof against['trace'] !== 'function') {
    throw new UsageError({
      where: 'compare',
      got: 'reduce with expected values',
      expected: 'another session or device, which can run on smaller inputs too',
    });
  }
  const compare = async (tried: Inputs): Promise<Omit<SessionComparison, 'reduced'>> => {
    if (typeof against !== 'string') {
      const { function: name, signal } = options;
      return compareValues(ask, tried, { against, tolerance, function: name, signal });
    }
    return answerOf(ask(tried, 'verify', { tolerance, against }));
  };
  const found = await compare(inputs);
  const { departure } = found;
  if (!reduce || departure === undefined) return found;
  const departs = async (tried: Inputs): Promise<boolean> =>
    (await compare(tried)).departure?.call === departure.call;
  return { ...found, reduced: await reduceInputs(inputs, departs) };
}

/** Halves of the tensors are made zero, one input after the other, as long as something departs. */
async function reduceInputs(
  inputs: Inputs,
  departs: (tried: Inputs) => Promise<boolean>,
): Promise<Inputs> {
  let reduced = inputs;
  for (const [name, value] of Object.entries(inputs)) {
    if (!(value instanceof Tensor) || !value.dtype.startsWith('float')) continue;
    let [begin, end] = [0, elementCount(value.shape)];
    while (end - begin > 1) {
      const middle = Math.floor((begin + end) / 2);
      const halves = [
        [begin, middle],
        [middle, end],
      ] as const;
      const kept = await firstOf(halves, ([from, to]) =>
        departs({ ...reduced, [name]: zeroOutside(value, from, to) }),
      );
      if (kept === undefined) break;
      [begin, end] = kept;
    }
    reduced = { ...reduced, [name]: zeroOutside(value, begin, end) };
  }
  return reduced;
}

async function firstOf<T>(
  candidates: readonly T[],
  holds: (candidate: T) => Promise<boolean>,
): Promise<T | undefined> {
  for (const candidate of candidates) if (await holds(candidate)) return candidate;
  return undefined;
}

/** A tensor whose elements are zero but for those from `begin` to before `end`. */
function zeroOutside({ dtype, data, shape }: Tensor, begin: number, end: number): Tensor {
  const elements = data.slice();
  elements.fill(0 as never, 0, begin);
  elements.fill(0 as never, end);
  return new Tensor(dtype, elements, shape);
}
