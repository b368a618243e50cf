import type { ContestantRequest, StartContestant } from './contestant.ts';

const ENTRIES = {
  webgpu: '/peers/onnxruntime-web/dist/ort.webgpu.bundle.min.mjs',
  wasm: '/peers/onnxruntime-web/dist/ort.wasm.bundle.min.mjs',
};

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
  run(feeds: Readonly<Record<string, OnnxTensor>>): Promise<Record<string, OnnxTensor>>;
}

interface OnnxTensor {
  readonly data: Float32Array;
  readonly dims: readonly number[];
  dispose(): void;
}

type Tensors = Readonly<Record<string, OnnxTensor>>;

/** Keys and values, and how many tokens they are of. */
interface Past {
  readonly caches: Tensors;
  readonly length: number;
}

/**
 * onnxruntime-web in the page's thread, with default options, as transformers.js uses it: on WebGPU caches stay on the device,
 * logits of one token are read, and the likeliest is the next one.
 */
export const startOnnxRuntime: StartContestant = async (request: ContestantRequest) => {
  const { device, model, cache } = request;
  const runtime = (await import(/* @vite-ignore */ ENTRIES[device])) as OnnxRuntime;
  if (device === 'wasm') runtime.env.wasm.numThreads = 1;
  const bytes = new Uint8Array(await (await fetch(model)).arrayBuffer());
  const names = Array.from({ length: cache.layers }, (_, layer) =>
    ['key', 'value'].map((kind) => `${layer}.${kind}`),
  ).flat();
  const session = await runtime.InferenceSession.create(bytes, {
    executionProviders: [device],
    ...(device === 'webgpu' && {
      preferredOutputLocation: Object.fromEntries(
        names.map((name) => [`present.${name}`, 'gpu-buffer']),
      ),
    }),
  });
  const int64 = (values: readonly number[]): OnnxTensor =>
    new runtime.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
  const filled = (length: number, value: (i: number) => number): Past => {
    const size = cache.heads * length * cache.width;
    const shape = [1, cache.heads, length, cache.width];
    const tensor = (): OnnxTensor =>
      new runtime.Tensor(
        'float32',
        Float32Array.from({ length: size }, (_, i) => value(i)),
        shape,
      );
    return { length, caches: Object.fromEntries(names.map((name) => [name, tensor()])) };
  };

  /** The likeliest token behind some, and the longer caches. */
  async function step(ids: readonly number[], { caches, length }: Past) {
    const total = length + ids.length;
    const results = await session.run({
      input_ids: int64(ids),
      attention_mask: int64(new Array<number>(total).fill(1)),
      ...Object.fromEntries(names.map((name) => [`past_key_values.${name}`, caches[name]])),
    });
    const { data, dims } = results['logits'] as OnnxTensor;
    const last = data.subarray(-(dims.at(-1) ?? 0));
    let best = 0;
    for (let i = 1; i < last.length; i++) if ((last[i] ?? 0) > (last[best] ?? 0)) best = i;
    const next = names.map((name) => [name, results[`present.${name}`] as OnnxTensor] as const);
    return { token: best, past: { caches: Object.fromEntries(next), length: total } };
  }

  const drop = ({ caches }: Past): void => {
    for (const tensor of Object.values(caches)) tensor.dispose();
  };
  return {
    async prefill({ ids }) {
      const begin = performance.now();
      const { past } = await step(
        ids,
        filled(0, () => 0),
      );
      const taken = performance.now() - begin;
      drop(past);
      return taken;
    },
    async decode({ ids }, count) {
      // As long as what would have been read, whose elements make no difference in time.
      const first = filled(ids.length, (i) => Math.sin(i));
      let reached = await step([ids.at(-1) ?? 0], first);
      const begin = performance.now();
      for (let i = 0; i < count; i++) {
        const { past } = reached;
        reached = await step([reached.token], past);
        drop(past);
      }
      const taken = performance.now() - begin;
      drop(reached.past);
      return taken / count;
    },
  };
};
