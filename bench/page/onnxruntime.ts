import type { BenchCase, BenchDevice } from '../cases/bench-case.ts';
import { type Running, type StartOptions, timePart, typedElements } from './runtime.ts';

const ENTRIES: Readonly<Record<BenchDevice, string>> = {
  webgpu: '/peers/onnxruntime-web/dist/ort.webgpu.bundle.min.mjs',
  wasm: '/peers/onnxruntime-web/dist/ort.wasm.bundle.min.mjs',
};

/**
 * Loads a case with onnxruntime-web's provider for the device, with the files of its package as they
 * are, and default options: in the page's thread, inputs and outputs live in arrays of JavaScript.
 */
export async function start(benchCase: BenchCase, options: StartOptions): Promise<Running> {
  const { device, threads } = options;
  const runtime = await timePart(options, 'library', () => openOnnxRuntime(device, threads));
  const model = await timePart(options, 'download of the model', async () => {
    const response = await fetch(benchCase.model);
    return new Uint8Array(await response.arrayBuffer());
  });
  const session = await timePart(options, 'create', () =>
    runtime.InferenceSession.create(model, { executionProviders: [device] }),
  );
  for (const { name, duration } of performance.getEntriesByType('resource')) {
    if (name.endsWith('.wasm')) options.part('of it download of wasm', duration);
  }
  const feeds = Object.fromEntries(
    benchCase.inputs.map((input, i) => [
      session.inputNames[i] ?? '',
      new runtime.Tensor(input.dtype, typedElements(input), input.shape),
    ]),
  );
  return {
    async run() {
      const outputs = await session.run(feeds);
      return session.outputNames.map((name) => {
        const output = outputs[name];
        if (output === undefined) throw new Error(`no output ${name}`);
        return { data: output.data, shape: output.dims };
      });
    },
  };
}

/** onnxruntime-web as its users load it for a device. */
export async function openOnnxRuntime(device: BenchDevice, threads: number): Promise<OnnxRuntime> {
  const runtime = (await import(/* @vite-ignore */ ENTRIES[device])) as OnnxRuntime;
  if (device === 'wasm') runtime.env.wasm.numThreads = threads;
  return runtime;
}

/** The part of its interface that is used here; the package is not there when types are checked. */
interface OnnxRuntime {
  readonly env: { readonly wasm: { numThreads: number } };
  readonly InferenceSession: {
    create(model: Uint8Array, options: object): Promise<OnnxSession>;
  };
  readonly Tensor: new (
    dtype: string,
    data: ArrayBufferView,
    shape: readonly number[],
  ) => OnnxTensor;
}

interface OnnxSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: Readonly<Record<string, OnnxTensor | undefined>>): Promise<Record<string, OnnxTensor>>;
}

export interface OnnxTensor {
  readonly data: ArrayLike<number | bigint>;
  readonly dims: readonly number[];
  dispose(): void;
}
