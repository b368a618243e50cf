import { untilAborted } from '../../core/until-aborted.ts';
import type { FunctionLibrary } from '../function-library.ts';
import { symbolSizes } from '../symbol-sizes.ts';
import type { AdmissionStep } from './admission.ts';

/** Has devices compile what a call with these sizes needs, where they have not yet. */
export function compileForSizes(libraries: readonly FunctionLibrary[]): AdmissionStep {
  return ({ callee, args, signal }) => {
    const sizes = symbolSizes(callee.source, args);
    const waits = libraries.flatMap((library) => library.compileForSizes?.(sizes) ?? []);
    if (waits.length === 0) return undefined;
    const compiled = Promise.all(waits).then(() => undefined);
    return untilAborted(compiled, signal);
  };
}
