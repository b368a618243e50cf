import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HostTensor } from '../../core/host-tensor.ts';
import { caseResult, casePrimitive, caseTensors } from '../../ops/case-tensors.ts';
import type { OpCase, OpDefinition, Tolerance } from '../../ops/define-op.ts';
import { hostReason } from '../../ops/placement.ts';
import { inferConcreteCall } from '../../ops/infer-concrete-call.ts';
import { casesOfAllDTypes } from '../../ops/testing/dtype-variants.ts';
import { firstDifference } from '../../testing/all-close.ts';
import { nodeGpu } from '../../testing/node-gpu.ts';
import { seededRandom } from '../../testing/random.ts';
import { kernelDevices } from '../conformance-devices.ts';
import type { Device, DeviceTensor } from '../device.ts';
import { allocateTensor, downloadTensors, uploadTensor } from '../device-tensors.ts';

const DEVICES = kernelDevices(nodeGpu);

/** A case in the middle of running: what was launched and what has to come out. */
interface Launched {
  readonly title: string;
  readonly output: DeviceTensor;
  readonly tensors: readonly DeviceTensor[];
  readonly expected: HostTensor;
}

const REFERENCES = new Map<
  string,
  { readonly inputs: (HostTensor | undefined)[]; readonly expected: HostTensor }
>();

/** Compares every device with the references of some operators, over all their cases. */
export function describeOnDevices(ops: readonly OpDefinition[]): void {
  describe.each(DEVICES.map(({ title, open }) => [title, open] as const))(
    'operators on %s',
    (title, open) => {
      let device: Device;
      beforeAll(async () => {
        device = await open();
      });
      afterAll(() => device.destroy());

      test.each(ops.map((op) => [op.name, op] as const))(
        '%s gives what its reference gives',
        async (_, op) => {
          const launched = await launchCases(device, op, deviceCases(op, title));
          const results = await downloadTensors(
            device,
            launched.map(({ output }) => output),
          );
          const differences = launched.flatMap(({ title, expected }, i) => {
            const actual = results[i];
            const difference =
              actual === undefined
                ? 'no result'
                : firstDifference(actual, expected, toleranceFor(op, expected));
            return difference === undefined ? [] : [`${title}: ${difference}`];
          });
          for (const { tensors } of launched) for (const { buffer } of tensors) buffer.destroy();
          expect(differences).toEqual([]);
        },
      );
    },
  );
}

/** float16 may be rounded to the neighbour when what is rounded lies half way. */
function toleranceFor({ tolerance }: OpDefinition, { dtype }: HostTensor): Tolerance {
  if (dtype !== 'float16' || (tolerance.rtol === 0 && tolerance.atol === 0)) return tolerance;
  return { rtol: tolerance.rtol + 2 ** -10, atol: tolerance.atol + 2 ** -24 };
}

/** Kernels that are generated are the same on all classes of adapters: one has to do every dtype. */
function deviceCases(op: OpDefinition, title: string): readonly OpCase[] {
  if (title === 'the host') return casesOfAllDTypes(op);
  const isOneOfEqual = op.lower === undefined && /integrated|discrete/.test(title);
  const cases = isOneOfEqual ? op.cases() : casesOfAllDTypes(op);
  return cases.filter((opCase) => hasKernels(op, opCase));
}

function hasKernels(op: OpDefinition, { inputs, attributes = {} }: OpCase): boolean {
  const { output } = inferConcreteCall(op, inputs, attributes);
  const dtypes = inputs.map((input) => input?.dtype);
  return hostReason(op, { inputs: dtypes, output: output.dtype, attributes }) === undefined;
}

async function launchCases(
  device: Device,
  op: OpDefinition,
  cases: readonly OpCase[],
): Promise<Launched[]> {
  const primitives = cases.map((opCase, i) => casePrimitive(op, opCase, `${op.name}_${i}`));
  const kernels = await device.prepare(primitives);
  return cases.map((opCase, i) => {
    const name = `${op.name}_${i}`;
    const key = `${op.name} ${opCase.title}`;
    let reference = REFERENCES.get(key);
    if (reference === undefined) {
      const inputs = caseTensors(opCase, seededRandom(i + 1));
      reference = { inputs, expected: caseResult(op, opCase, inputs) };
      REFERENCES.set(key, reference);
    }
    const { inputs, expected } = reference;
    const params = inputs.flatMap((tensor) =>
      tensor === undefined ? [] : [uploadTensor(device, tensor)],
    );
    const output = allocateTensor(device, expected);
    const kernel = kernels.get(name);
    if (kernel === undefined) throw new Error(`no kernel ${name}`);
    kernel.launch([...params, output]);
    return { title: opCase.title, output, tensors: [...params, output], expected };
  });
}
