import { caseTensors, toleranceFor } from '../../conformance/operator-conformance.ts';
import { casesOfAllDTypes } from '../../conformance/dtype-variants.ts';
import { firstDifference } from '../../core/tensor/all-close.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import { seededRandom } from '../../core/random.ts';
import type { OpDefinition } from '../../ops/define-op.ts';
import { inferConcreteCall } from '../../ops/infer-concrete-call.ts';
import type { OpCase } from '../../ops/op-cases.ts';
import { hostReason } from '../../ops/lowering/placement.ts';
import { casePrimitive, caseResult } from '../../ops/testing/case-tensors.ts';
import type { TestedOp } from '../../ops/testing/tested-ops.ts';
import type { Device, DeviceTensor } from '../device.ts';
import { allocateTensor, downloadTensors, uploadTensor } from './device-tensors.ts';

/** A case in the middle of running: what was launched and what has to come out. */
interface Launched {
  readonly title: string;
  readonly output: DeviceTensor;
  readonly tensors: readonly DeviceTensor[];
  /** Computed when it is asked for: references are slow. */
  readonly expected: () => HostTensor;
}

interface Comparison {
  readonly caseCount: number;
  /** A line for each case that gives something else than the reference. */
  readonly differences: readonly string[];
}

interface Reference {
  readonly inputs: readonly (HostTensor | undefined)[];
  readonly expected: () => HostTensor;
  /** The type of the result. */
  readonly type: ConcreteTensorType;
}

const REFERENCES = new Map<string, Reference>();

function createReference(op: OpDefinition, opCase: OpCase, seed: number): Reference {
  const inputs = caseTensors(opCase, seededRandom(seed));
  let known: HostTensor | undefined;
  const expected = (): HostTensor => (known ??= caseResult(op, opCase, inputs));
  const { output } = inferConcreteCall(op, opCase.inputs, opCase.attributes ?? {});
  const isKnown = output.shape.every((size) => size >= 0);
  return { inputs, expected, type: isKnown ? output : expected() };
}

/**
 * Runs the cases of an operator that the device has kernels for, or each `step`-th of them, or `most` of them
 * from all over the list, and compares with its reference.
 */
export async function compareOperator(
  device: Device,
  op: TestedOp,
  { step = 1, most = Infinity } = {},
): Promise<Comparison> {
  const all = deviceCases(op, device);
  const stride = Math.max(step, Math.ceil(all.length / most));
  const cases = all.filter((_, i) => i % stride === 0);
  const launched = await launchCases(device, op, cases);
  const results = await downloadTensors(
    device,
    launched.map(({ output }) => output),
  );
  const differences = launched.flatMap(({ title, ...launch }, i) => {
    const actual = results[i];
    const expected = launch.expected();
    const difference =
      actual === undefined
        ? 'no result'
        : firstDifference(actual, expected, toleranceFor(op.tolerance, expected));
    return difference === undefined ? [] : [`${title}: ${difference}`];
  });
  for (const { tensors } of launched) for (const { buffer } of tensors) buffer.destroy();
  return { caseCount: cases.length, differences };
}

/** Kernels that are generated are the same on all classes of adapters: one has to do every dtype. */
function deviceCases(op: TestedOp, { info }: Device): readonly OpCase[] {
  const { adapterClass } = info;
  if (adapterClass === 'host' || adapterClass === 'wasm') return casesOfAllDTypes(op);
  const isOneOfEqual = op.lower === undefined && adapterClass !== 'software';
  const cases = isOneOfEqual ? op.cases() : casesOfAllDTypes(op);
  return cases.filter((opCase) => hasKernels(op, opCase));
}

function hasKernels(op: OpDefinition, { inputs, attributes = {} }: OpCase): boolean {
  const { output } = inferConcreteCall(op, inputs, attributes);
  const dtypes = inputs.map((input) => input?.dtype);
  return hostReason(op, { inputs: dtypes, output: output.dtype, attributes }) === undefined;
}

/** Launches cases of an operator, for whoever reads and destroys their tensors. */
export async function launchCases(
  device: Device,
  op: OpDefinition,
  cases: readonly OpCase[],
): Promise<Launched[]> {
  const primitives = cases.map((opCase, i) => casePrimitive(op, opCase, `${op.name}_${i}`));
  const kernels = await device.prepare(primitives);
  return cases.flatMap((opCase, i) => {
    const name = `${op.name}_${i}`;
    const key = `${op.name} ${opCase.title}`;
    let reference = REFERENCES.get(key);
    if (reference === undefined) {
      reference = createReference(op, opCase, i + 1);
      REFERENCES.set(key, reference);
    }
    const { inputs, expected, type } = reference;
    const params = inputs.flatMap((tensor) =>
      tensor === undefined ? [] : [uploadTensor(device, tensor)],
    );
    const output = allocateTensor(device, type);
    const kernel = kernels.get(name);
    if (kernel === undefined) throw new Error(`no kernel ${name}`);
    kernel.launch([...params, output]);
    const launched = { title: opCase.title, output, tensors: [...params, output], expected };
    const changed = kernel.overwrites;
    if (changed === undefined) return [launched];
    const own = inputs.flatMap((tensor) =>
      tensor === undefined ? [] : uploadTensor(device, tensor),
    );
    const target = own[changed];
    if (target === undefined) throw new Error(`${name} has no input ${changed}`);
    kernel.launch([...own, target]);
    const title = `${opCase.title}, in place`;
    return [launched, { title, output: target, tensors: own, expected }];
  });
}
