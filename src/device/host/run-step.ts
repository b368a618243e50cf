import { internalError } from '../../core/errors.ts';
import type { ConcreteTensorType } from '../../core/primitive-function.ts';
import { computeReference } from '../../ops/compute-reference.ts';
import { staticReference } from '../../ops/tables/references.ts';
import type { CallStep, HostStep } from './host-plan.ts';
import { runChain } from './run-chain.ts';
import { type StoredTensor, storeBack, toHostTensor } from './storage-view.ts';

/** Does a step by references, over the memory of its values. */
export function runStep(
  step: HostStep,
  values: readonly (StoredTensor | undefined)[],
  types: readonly ConcreteTensorType[],
): void {
  if (step.kind === 'chain') runChain(step, values, types);
  else runCall(step, values);
}

function runCall({ call }: CallStep, values: readonly (StoredTensor | undefined)[]): void {
  const inputs = call.inputs.map((value) => {
    const stored = values[value];
    return stored === undefined ? undefined : toHostTensor(stored);
  });
  const target = values[call.value];
  if (target === undefined) throw internalError(`value ${call.value} has no memory`);
  const output = toHostTensor(target);
  const reference = staticReference(call.op);
  computeReference(call.op, reference, { inputs, attributes: call.attributes, output });
  storeBack(output, target);
}
