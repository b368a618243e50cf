import type { PeerModule, Wllama } from '../../tools/peers/text/wllama/peer-package.ts';
import { TextModel } from '../../src/text/index.ts';
import type { BenchDevice } from '../cases/bench-case.ts';
import type { SpeedPrompt } from '../text/speed-model.ts';
import { type OnnxTensor, openOnnxRuntime } from './onnxruntime.ts';

/** Who takes part. */
export type ContestantName = 'weft' | 'weft-fast' | 'wllama' | 'onnxruntime';

/** How one is loaded. */
interface ContestantRequest {
  readonly device: BenchDevice;
  /** The address of the model. */
  readonly model: string;
  /** Of the model's caches, for whoever is given them. */
  readonly cache: { readonly layers: number; readonly heads: number; readonly width: number };
}

/** One with its model, loaded. */
interface Contestant {
  /** Milliseconds until a token behind a prompt that is new is there. */
  prefill(prompt: SpeedPrompt): Promise<number>;
  /** Milliseconds of each of so many tokens behind a prompt, which may be known. */
  decode(prompt: SpeedPrompt, count: number): Promise<number>;
}

type StartContestant = (request: ContestantRequest) => Promise<Contestant>;

/** Loads one with its model. */
export async function startText(name: ContestantName, request: ContestantRequest): Promise<void> {
  started.set(name, await STARTS[name](request));
}

export const prefill = (name: ContestantName, prompt: SpeedPrompt): Promise<number> =>
  contestant(name).prefill(prompt);

export const decode = (name: ContestantName, prompt: SpeedPrompt, count: number): Promise<number> =>
  contestant(name).decode(prompt, count);

const started = new Map<ContestantName, Contestant>();

function contestant(name: ContestantName): Contestant {
  const found = started.get(name);
  if (found === undefined) throw new Error(`internal: ${name} was not started`);
  return found;
}

/** Tokens come in chunks of so many, and the next chunk is begun before one is read. */
const CHUNK = 8;
/** Longer prompts are read on wasm and moved to WebGPU, where reading takes the adapter in software minutes. */
const LONG = 256;

/** Weft on one thread, in its worker. */
const startWeft =
  (precision: 'full' | 'fast'): StartContestant =>
  async ({ device, model: address }: ContestantRequest) => {
    const load = (place: 'webgpu' | 'wasm') =>
      TextModel.load(address, { device: place, threads: 1, precision, cache: false });
    const model = await load(device);
    const moved = new Set<string>();
    const timed = async (ids: readonly number[], maxTokens: number): Promise<number> => {
      const begin = performance.now();
      const generation = model.generate(ids, { temperature: 0, maxTokens });
      let count = 0;
      for await (const { id } of generation.tokens()) if (id >= 0) count++;
      if (count < maxTokens) throw new Error('the text ended early');
      return performance.now() - begin;
    };
    /** Puts keys and values of a prompt into the model's caches. */
    const readElsewhere = async (ids: readonly number[]): Promise<void> => {
      await using reader = await load('wasm');
      const generation = reader.generate(ids, { temperature: 0, maxTokens: 2 * CHUNK });
      for await (const _ of generation.tokens()) break;
      await model.resume(await generation.save());
    };
    return {
      prefill: ({ ids }) => timed(ids, 1),
      async decode({ text, ids }, count) {
        if (device === 'webgpu' && ids.length > LONG && !moved.has(text)) {
          await readElsewhere(ids);
          moved.add(text);
        }
        // The prompt's last token is read in any case.
        const first = await timed(ids, CHUNK);
        return ((await timed(ids, CHUNK + count)) - first) / count;
      },
    };
  };

/** llama.cpp on one thread, in its worker, with its own choice of caches. It times itself, without what pages add. */
const startWllama: StartContestant = async ({ model }) => {
  const folder = '/wllama/esm';
  const { Wllama } = (await import(/* @vite-ignore */ `${folder}/index.js`)) as PeerModule<Wllama>;
  const peer = new Wllama({ default: `${folder}/wasm/wllama.wasm` }, { suppressNativeLog: true });
  const blob = await (await fetch(model)).blob();
  await peer.loadModel([blob], { n_ctx: 2048, n_threads: 1, n_gpu_layers: 0 });
  const sampling = { temperature: 0, ignore_eos: true };
  const timingsOf = async (options: object) => {
    const { timings } = await peer.createCompletion({ ...sampling, ...options });
    if (timings === undefined) throw new Error('wllama tells no times');
    return timings;
  };
  return {
    async prefill({ text: prompt, ids }) {
      const timings = await timingsOf({ prompt, max_tokens: 1, cache_prompt: false });
      if (timings.prompt_n !== ids.length)
        throw new Error(`a prompt of ${timings.prompt_n} tokens`);
      return timings.prompt_ms;
    },
    async decode({ text: prompt }, count) {
      // The first token is that of the prompt.
      const asked = { prompt, max_tokens: count + 1, cache_prompt: true };
      const { predicted_ms: ms, predicted_n: tokens } = await timingsOf(asked);
      return ms / (tokens - 1);
    },
  };
};

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
const startOnnxRuntime: StartContestant = async (request: ContestantRequest) => {
  const { device, model, cache } = request;
  const runtime = await openOnnxRuntime(device, 1);
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
    const last = (data as Float32Array).subarray(-(dims.at(-1) ?? 0));
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

const STARTS: Readonly<Record<ContestantName, StartContestant>> = {
  weft: startWeft('full'),
  'weft-fast': startWeft('fast'),
  wllama: startWllama,
  onnxruntime: startOnnxRuntime,
};
