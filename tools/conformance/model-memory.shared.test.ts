import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { storageByteLength } from '../../src/core/tensor/dtype.ts';
import { elementCount } from '../../src/core/tensor/shape.ts';
import { createHostDevice } from '../../src/device/host/host-device.ts';
import { createWebGpuDevice } from '../../src/device/webgpu/index.ts';
import { compileOnnx } from '../../src/frontend/index.ts';
import { CORE_OPERATORS } from '../../src/ops/tables/core-operators.ts';
import { VirtualMachine } from '../../src/runtime/virtual-machine.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { sharedPath } from '../../src/testing/files/shared-path.ts';
import { bindFromInputs, readTensors, summarizeModel } from './conformance-case.ts';
import { findCases } from './find-cases.ts';

const MODELS = sharedPath('models');

/** The most that a model may hold, in units of its weights, inputs and largest live set. */
const MOST = 1.1;

/** Models that hold more, and why. */
const LARGER: Readonly<Record<string, number>> = {
  // The result has a buffer of its own, since it outlives the call, and blocks of convolutions are 1 MB.
  'superres-core': 1.11,
};

/** Buffers are multiples of 256 bytes, which says more of a smaller model than its plan does. */
const LEAST_BYTE_LENGTH = 64 * 1024;

const NAMES = [
  'bert-toy',
  'gpt2-past-tiny',
  'light-resnet50',
  'light-shufflenet',
  'light-squeezenet',
  'mnist-cntk',
  'mnist-pytorch-cnn',
  'mobilenetv2-qdq',
  'scan-lstm-cntk',
  'silero-vad-v6-16k-op15',
  'squeezenet-coreml',
  'superres-core',
  'ultraface-rfb-320',
];

/** Bytes that a model needs at least, and those held at most during four runs. */
async function memoryOf(name: string): Promise<{ needed: number; held: number }> {
  const [found] = findCases(join(MODELS, name));
  if (found === undefined) throw new Error(`The model ${name} has no data.`);
  const read = async (file: string) => new Uint8Array(readFileSync(join(found.folder, file)));
  const bytes = await read('model.onnx');
  const inputs = await readTensors(found.dataSets[0]?.inputs ?? [], read);
  const live: number[] = [];
  const executable = compileOnnx(bytes, {
    dims: bindFromInputs(summarizeModel(bytes), inputs),
    onMemoryPlan: ({ functions }) =>
      live.push(...functions.map(({ largestLiveSetBytes }) => largestLiveSetBytes)),
  });
  const device = await createWebGpuDevice({ operators: CORE_OPERATORS, gpu: await nodeGpu() });
  // Weights in another form are kept where there is memory to spare, which is none of this.
  const options = { devices: [device, createHostDevice()], prepackedBytes: 0 };
  const machine = await VirtualMachine.create(executable, options);
  try {
    for (let run = 0; run < 4; run++) {
      machine.release(await machine.invoke('main', inputs));
      await device.synchronize();
    }
    const [memory] = machine.memory().devices;
    if (memory === undefined) throw new Error('the machine tells of no device');
    const given = inputs.map(({ dtype, shape }) => storageByteLength(dtype, elementCount(shape)));
    return {
      needed: [memory.reservedBytes, Math.max(...live), ...given].reduce((a, b) => a + b),
      held: memory.peakBytes + memory.scratchBytes,
    };
  } finally {
    machine.dispose();
    device.destroy();
  }
}

test.for(NAMES)('%s holds little more than it needs', async (name) => {
  const { needed, held } = await memoryOf(name);
  expect(held).toBeGreaterThanOrEqual(needed);
  if (needed >= LEAST_BYTE_LENGTH) expect(held / needed).toBeLessThanOrEqual(LARGER[name] ?? MOST);
});
