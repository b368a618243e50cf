import type { BenchCase } from '../cases/bench-case.ts';
import { type Running, type StartOptions, timePart, typedElements } from './runtime.ts';

/**
 * Loads a case with onnxruntime-web's WebGPU provider, with the files of its package as they are,
 * and default options: inputs and outputs live on the CPU.
 */
export async function start(benchCase: BenchCase, options: StartOptions): Promise<Running> {
  const entry = '/peers/onnxruntime-web/dist/ort.webgpu.bundle.min.mjs';
  const runtime = await timePart(
    options,
    'library',
    () => import(/* @vite-ignore */ entry) as Promise<OnnxRuntime>,
  );
  const model = await timePart(options, 'download of the model', async () => {
    const response = await fetch(benchCase.model);
    return new Uint8Array(await response.arrayBuffer());
  });
  const session = await timePart(options, 'create', () =>
    runtime.InferenceSession.create(model, { executionProviders: ['webgpu'] }),
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

/** The part of its interface that is used here; the package is not there when types are checked. */
interface OnnxRuntime {
  readonly InferenceSession: {
    create(model: Uint8Array, options: object): Promise<OnnxSession>;
  };
  readonly Tensor: new (dtype: string, data: ArrayBufferView, shape: readonly number[]) => object;
}

interface OnnxSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: Record<string, object>): Promise<Record<string, OnnxTensor>>;
}

interface OnnxTensor {
  readonly data: ArrayLike<number | bigint>;
  readonly dims: readonly number[];
}
