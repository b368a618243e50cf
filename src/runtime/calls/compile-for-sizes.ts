import { untilAborted } from '../../core/until-aborted.ts';
import type { Module } from '../module.ts';
import { TensorValue } from '../value.ts';
import type { AdmissionStep, CallRequest } from './admission.ts';

/** Has devices compile what a call with these sizes needs, where they have not yet. */
export function compileForSizes(modules: readonly Module[]): AdmissionStep {
  return (request) => {
    const sizes = sizesOf(request);
    const waits = modules.flatMap((module) => module.foresee?.(sizes) ?? []);
    if (waits.length === 0) return undefined;
    const compiled = Promise.all(waits).then(() => undefined);
    return untilAborted(compiled, request.signal);
  };
}

/** What the arguments give to the symbols of the function. */
function sizesOf({ callee, args }: CallRequest): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const [index, type] of (callee.source.signature?.params ?? []).entries()) {
    const arg = args[index];
    if (type.kind !== 'tensor' || !(arg instanceof TensorValue)) continue;
    for (const [axis, dim] of type.shape.entries()) {
      const size = arg.shape[axis];
      if (typeof dim === 'string' && size !== undefined) sizes.set(dim, size);
    }
  }
  return sizes;
}
