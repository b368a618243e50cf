import { drawnTokens } from '../../../src/frontend/decoders/testing/drawn-token.ts';
import { samplingOf } from '../../../src/text/sampling.ts';
import type { GenerateOptions } from '../../../src/text/generate-options.ts';
import { PlainModel } from '../../../src/text/testing/plain-model.ts';
import { storyFolder } from '../../../src/text/testing/story-file.ts';
import { TextModel } from '../../../src/text/text-model.ts';
import { nodeGpu } from '../../../src/testing/node-gpu.ts';

export const DEVICES = ['wasm', 'webgpu', 'host'] as const;
export type ShownDevice = (typeof DEVICES)[number];

/** The model of the stories on a device, in this process. */
export async function openStories(device: ShownDevice): Promise<TextModel> {
  const gpu = device === 'webgpu' ? { gpu: await nodeGpu() } : {};
  return TextModel.load(storyFolder(), { device, worker: false, ...gpu });
}

/** Begins of stories. */
export const BEGINS = [
  'Mia went to the park.',
  'Tom took the ball.',
  'Mia and Tom went to the kitchen.',
  'Tom found the cup. Mia ran to the barn.',
];

/** The tokens that a model draws. */
export async function tokensOf(
  model: TextModel,
  prompt: string,
  options: GenerateOptions,
): Promise<number[]> {
  const ids: number[] = [];
  for await (const { id } of model.generate(prompt, options).tokens()) if (id >= 0) ids.push(id);
  return ids;
}

/** Says where two texts part, and whether both tokens are right there: the two have scores as near as rounding. */
export class NearTies {
  /** Texts that part where both are right. */
  count = 0;
  readonly #model: TextModel;
  #plain: PlainModel | undefined;

  /** `model` gives tokens of texts. */
  constructor(model: TextModel) {
    this.#model = model;
  }

  /** Returns true if two texts are the same, or part at a near tie. */
  async areSame(
    prompt: string,
    options: { readonly temperature: number; readonly seed: number },
    [a, b]: readonly [readonly number[], readonly number[]],
  ): Promise<boolean> {
    const at = a.findIndex((id, i) => id !== b[i]);
    if (at < 0) return a.length === b.length;
    const file = await storyFolder()('onnx/model_fp16.onnx');
    if (file === undefined) throw new Error('the stories have no ONNX file');
    this.#plain ??= await PlainModel.open(file);
    const tokens = [...(await this.#model.tokenizer.encode(prompt)), ...a.slice(0, at)];
    const { key } = samplingOf(options, this.#model.vocabularySize);
    const none = { repetition: 1, presence: 0, frequency: 0, topK: 0, topP: 1, minP: 0 };
    const may = drawnTokens({
      ...none,
      logits: await this.#plain.logits(tokens),
      temperature: options.temperature,
      bias: new Map(),
      prompt: new Set(),
      counts: [],
      isAllowed: () => true,
      key,
      position: tokens.length,
      rounding: HALVES,
    });
    const isTie = [a[at], b[at]].every((id) => id !== undefined && may.includes(id));
    if (isTie) this.count++;
    return isTie;
  }

  async dispose(): Promise<void> {
    await this.#plain?.dispose();
  }
}

/** The largest change of scores by rounding in products of float16 weights. */
const HALVES = 5e-3;
