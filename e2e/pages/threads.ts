import { type LoadOptions, Session, type SessionDevice, Tensor } from '../../src/client/index.ts';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { seededRandom } from '../../src/core/random.ts';
import { writeOnnxModel } from '../../src/testing/onnx-writer.ts';
import { askWorker } from './ask-worker.ts';
import type { OperatorFindings, OperatorRequest } from './serve-operators.ts';

const SIZE = 256;
/** Runs of a model, whose first find the threads not ready yet. */
const RUN_COUNT = 40;

export interface Run {
  readonly device: SessionDevice;
  /** The device of another session on it, loaded after the runs. */
  readonly later: SessionDevice;
  /** The bits of the results of all runs, each once. */
  readonly results: readonly string[];
}

const WORKERS = {
  threads: () => new Worker(new URL('./threads-worker.ts', import.meta.url), { type: 'module' }),
  threadless: () =>
    new Worker(new URL('./threadless-worker.ts', import.meta.url), { type: 'module' }),
};

/** The first is served to share memory, the second not to. */
const OPERATOR_WORKERS = {
  shared: () => new Worker(new URL('./operators-worker.ts', import.meta.url), { type: 'module' }),
  apart: () => new Worker(new URL('./apart-worker.ts', import.meta.url), { type: 'module' }),
};

const random = seededRandom(15);
const numbers = (count: number): number[] => Array.from({ length: count }, () => random() - 0.5);

/** A product, a convolution and rows of exponentials, all worth sharing. */
const model = writeOnnxModel({
  nodes: [
    { op: 'MatMul', inputs: ['x', 'w'], outputs: ['product'] },
    { op: 'Reshape', inputs: ['product', 'shape'], outputs: ['image'] },
    { op: 'Conv', inputs: ['image', 'kernel'], outputs: ['filtered'] },
    { op: 'Softmax', inputs: ['filtered'], outputs: ['y'] },
  ],
  inputs: [{ name: 'x', shape: [SIZE, SIZE] }],
  outputs: ['y'],
  initializers: {
    w: HostTensor.from('float32', [SIZE, SIZE], numbers(SIZE * SIZE)),
    shape: HostTensor.from('int64', [4], [1n, 16n, 64n, 64n]),
    kernel: HostTensor.from('float32', [16, 16, 3, 3], numbers(16 * 16 * 9)),
  },
});
const input = Float32Array.from(numbers(SIZE * SIZE));

/** The page's interface to the tests. */
const page = {
  isIsolated: (): boolean => globalThis.crossOriginIsolated,
  async run(threads: number | undefined, worker: keyof typeof WORKERS | 'page'): Promise<Run> {
    const options: LoadOptions = {
      device: 'wasm',
      worker: worker === 'page' ? false : WORKERS[worker],
      ...(threads !== undefined && { threads }),
    };
    const session = await Session.load(model.slice(), options);
    const results = new Set<string>();
    for (let i = 0; i < RUN_COUNT; i++) {
      const { y } = await session.run({ x: new Tensor('float32', input, [SIZE, SIZE]) });
      if (y !== undefined) results.add(new Uint32Array(y.data.buffer).join());
    }
    const later = await Session.load(model.slice(), options);
    await Promise.all([session.dispose(), later.dispose()]);
    return { device: session.device, later: later.device, results: [...results] };
  },
  operators(request: OperatorRequest): Promise<OperatorFindings> {
    return askWorker(
      request.isApart ? OPERATOR_WORKERS.apart() : OPERATOR_WORKERS.shared(),
      request,
    );
  },
};

export type ThreadsPage = typeof page;

Object.assign(globalThis, { weftThreads: page });
document.documentElement.dataset['ready'] = 'true';
