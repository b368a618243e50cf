import { internalError } from '../../core/errors.ts';
import type { TracedPlace } from '../../worker/protocol/control-request.ts';
import { checkOptions, type OptionKinds } from '../../core/check-options.ts';
import type { Inputs } from '../values/input-value.ts';
import { Tensor } from '../values/tensor.ts';
import type { AskAboutRun } from './ask-tool.ts';

/** The function to trace, and the values to keep. */
export interface TraceOptions {
  /** The function of the program to run. Default: `main`. */
  readonly function?: string | undefined;
  /**
   * Names of values of the source: those of values or nodes of an ONNX model, lines of a text as `program.ir:3`. Default: all
   * that kernels give, in which values within fused kernels are missing.
   */
  readonly values?: readonly string[] | undefined;
  /** Ends it, and rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** A value that a run has computed on its way. */
export interface TracedValue extends TracedPlace {
  /** The value, read back to the page. */
  readonly tensor: Tensor;
}

/** A session, or anything else that traces values. */
export interface TracedSession {
  /** See `Session.trace`. */
  trace(inputs: Inputs, options?: TraceOptions): Promise<readonly TracedValue[]>;
}

const TRACE_OPTIONS: OptionKinds<TraceOptions> = {
  function: 'text',
  values: 'names',
  signal: 'signal',
};

/** See `Session.trace`. */
export function traceSession(
  ask: AskAboutRun,
  inputs: Inputs,
  options: TraceOptions,
): Promise<readonly TracedValue[]> {
  checkOptions('trace', options, TRACE_OPTIONS);
  return traceValues(ask, inputs, { values: options.values, skips: false });
}

/** With `skips`, names that the program has no place for are left out. */
export async function traceValues(
  ask: AskAboutRun,
  inputs: Inputs,
  { values, skips }: { readonly values: readonly string[] | undefined; readonly skips: boolean },
): Promise<readonly TracedValue[]> {
  const { results, answer: trace = [] } = await ask(inputs, 'trace', { values, skips });
  return results.map(({ value }, i) => {
    const place = trace[i];
    if (value.kind !== 'tensor' || place === undefined) throw internalError('a trace of no tensor');
    return { ...place, tensor: new Tensor(value.dtype, value.data, value.shape) };
  });
}
