import { requireLimits } from '../core/limits/compile-limits.ts';
import { UsageError } from '../core/errors.ts';
import { isGpuDevice } from '../core/contracts/gpu-like.ts';
import type { MachineLimits } from '../core/limits/program-limits.ts';
import type { LoadRequest } from '../worker/protocol/load-request.ts';
import type { CallPage } from '../worker/protocol/wire-value.ts';
import { checkOptions, type OptionKinds } from '../core/check-options.ts';
import { FunctionArguments } from './values/program-function.ts';
import { callableFrom, nodeTypesIn } from './session-functions.ts';
import type { LoadOptions } from './session-options.ts';
import type { Dispatch } from '../worker/protocol/dispatch-sizes.ts';

/** Options that few sessions have, so that pages load what checks them only then. */
export type RareOptions = Pick<
  LoadOptions,
  | 'dispatch'
  | 'compileLimits'
  | 'limits'
  | 'functions'
  | 'operators'
  | 'importers'
  | 'gpu'
  | 'device'
  | 'remote'
>;

/** The part of a request that rare options become. */
export interface RareRequest {
  readonly request: Partial<LoadRequest>;
  readonly callPage: CallPage | undefined;
  /** Functions that cross in calls of the page's functions; they get the session when it is loaded. */
  readonly bridge: FunctionArguments | undefined;
}

const MACHINE_LIMITS: OptionKinds<MachineLimits> = {
  callDepth: 'count',
  registers: 'count',
  fields: 'count',
  sliceMs: 'positive',
};

/** Throws UsageError for what these options do not take; `isHere`: this thread compiles the model. */
export function rareRequest(options: RareOptions, isHere: boolean): RareRequest {
  const { dispatch, compileLimits, limits, functions, operators, importers } = options;
  if ((operators ?? importers) && !isHere) throw needsThisThread();
  if (isGpuDevice(options.gpu)) checkPlace(options, isHere);
  if (dispatch) checkDispatch(dispatch);
  if (compileLimits) requireLimits(compileLimits);
  if (limits) checkOptions('Session.load, limits', limits, MACHINE_LIMITS);
  if (functions === undefined) {
    return { request: { ...limits }, callPage: undefined, bridge: undefined };
  }
  const bridge = new FunctionArguments(undefined);
  const request = {
    ...limits,
    functions: Object.keys(functions),
    nodeTypes: nodeTypesIn(functions),
  };
  return { request, callPage: callableFrom(functions, bridge), bridge };
}

/** Throws UsageError where a session does not run on the device that the page gave it. */
function checkPlace({ device, remote }: RareOptions, isHere: boolean): void {
  if (isHere && !remote && device === 'webgpu') return;
  const place = remote
    ? 'remote'
    : isHere
      ? `device ${JSON.stringify(device ?? 'auto')}`
      : 'a worker';
  throw new UsageError({
    where: 'Session.load',
    got: `a GPUDevice as gpu with ${place}`,
    expected: "worker: false and device: 'webgpu', in the thread of that device",
    remedy: 'In your own worker pass a device of that worker to serve.',
  });
}

/** UsageError for tables of a load that goes to a worker. */
function needsThisThread(): UsageError {
  return new UsageError({
    where: 'Session.load',
    got: 'operators or importers, which cannot be sent to a worker',
    expected: 'worker: false or remote',
    remedy: 'In your own worker pass them to serve.',
  });
}

/**
 * Throws UsageError for functions among intervals, which cannot be sent to a worker. All else is for
 * the compiler to check. Loaded only when a session is asked to dispatch by shape.
 */
function checkDispatch(dispatch: Dispatch): void {
  const stack: { readonly value: unknown; readonly path: string }[] = [
    { value: dispatch, path: 'dispatch' },
  ];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { value, path } = top;
    if (typeof value === 'function') {
      throw new UsageError({
        where: path,
        got: 'a function',
        expected: 'intervals [from, below], or { kind: "uniform" } or { kind: "logarithmic" }',
        remedy: 'Compile the model to a .weft file with functions, or list the intervals.',
      });
    }
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      stack.push({ value: inner, path: `${path}.${key}` });
    }
  }
}
