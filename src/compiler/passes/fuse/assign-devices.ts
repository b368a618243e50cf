import type { RatesOfBoth } from '../../../core/contracts/device-rates.ts';
import { isKernelCall, reasonForHost } from '../../inference/host-reason.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { isAtom } from '../../ir/walk/atoms.ts';
import type { CallExpr, DeviceName, Expr, FunctionExpr } from '../../ir/expr.ts';
import { computeScopes } from '../../ir/walk/scopes.ts';
import { mapFunctions, withChildren } from '../../ir/walk/visit.ts';
import type { Pass } from '../pass.ts';
import { Dataflow } from './dataflow.ts';
import { DeviceNetwork } from './device-network.ts';
import { sizesOf } from './kernel-work.ts';
import { partition } from './partition.ts';

interface AssignDevicesOptions {
  readonly rates: RatesOfBoth;
  /** Gets the calls that run beside the session's device because that is faster, with these words. */
  readonly reasons?: Pick<WeakMap<CallExpr, string>, 'set'> | undefined;
}

const FASTER = 'by an estimate the program takes less time so';

/**
 * Annotates calls with the device on which they run, so that a run takes the least time: kernels at the rates
 * of WebGPU or WebAssembly, and what is copied between the two. The kernels are those that `fuse` makes of
 * the function where all runs on one device. The placement is a minimum cut, and so the best one by these
 * estimates.
 *
 * Calls that WebGPU cannot run, and those that the program annotates, stay where they are. A function that
 * stays on the session's device is left alone, as is one whose calls are all annotated.
 */
export function assignDevices({ rates, reasons }: AssignDevicesOptions): Pass {
  return {
    name: 'assign-devices',
    run(module, { types }) {
      return mapFunctions(module, (fn) => assignFunction(fn, { rates, reasons, types }));
    },
  };
}

function assignFunction(
  fn: FunctionExpr,
  { rates, reasons, types }: AssignDevicesOptions & { readonly types: TypeInference },
): FunctionExpr {
  const bound = annotate(fn, (call) =>
    reasonForHost(call, types) === undefined ? call.onDevice : 'host',
  );
  const scopes = computeScopes(bound, { enter: (expr) => !isAtom(expr) });
  const dataflow = new Dataflow(scopes, types);
  const groups = partition(scopes, types, true);
  const network = new DeviceNetwork({ scopes, dataflow, groups, rates, sizes: sizesOf(bound) });
  const beside = network.groupsBeside();
  if ([...beside].every(({ device }) => device === 'host')) return fn;
  const isBeside = (call: CallExpr): boolean => {
    const group = groups.of(call);
    return group !== undefined && beside.has(group);
  };
  return annotate(
    bound,
    (call) => (isBeside(call) ? 'host' : 'session'),
    (placed, original) => {
      if (original.onDevice === undefined && placed.onDevice === 'host') {
        reasons?.set(placed, FASTER);
      }
    },
  );
}

/** The function with devices for calls that are kernels; itself where they have them already. */
function annotate(
  fn: FunctionExpr,
  deviceOf: (call: CallExpr) => DeviceName | undefined,
  onAnnotated: (placed: CallExpr, original: CallExpr) => void = () => undefined,
): FunctionExpr {
  const results = new Map<Expr, Expr>();
  const { order } = computeScopes(fn, { enter: (expr) => !isAtom(expr) });
  for (const expr of order) {
    const copy = withChildren(expr, (child) => results.get(child) ?? child);
    results.set(expr, copy);
    if (expr.kind !== 'call' || copy.kind !== 'call' || !isKernelCall(expr)) continue;
    const onDevice = deviceOf(expr);
    const placed = onDevice === expr.onDevice ? copy : { ...copy, onDevice };
    results.set(expr, placed);
    onAnnotated(placed, expr);
  }
  const body = results.get(fn.body) ?? fn.body;
  return body === fn.body ? fn : { ...fn, body };
}
