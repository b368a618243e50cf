import { type StorySizes, weightShapes } from './story-sizes.ts';
import { writeStoryModel } from './story-model.ts';
import { compile } from '../../compiler/compile.ts';
import { seededRandom } from '../../core/random.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { textModule } from '../../frontend/decoders/text-module.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import type { TextLoadOptions } from '../load/load-options.ts';
import { TextModel } from '../text-model.ts';
import { storyFolder } from './story-file.ts';

/** A model like that of the stories, but smaller: quick on the host as well. */
const SIZES: StorySizes = {
  vocabulary: 512,
  width: 32,
  layers: 2,
  heads: 4,
  keyHeads: 2,
  inner: 32,
  epsilon: 1e-5,
  theta: 10_000,
};

/** Its ONNX file, of seeded weights in float16. */
export function testModelBytes(
  seed = 7,
  isBroken = false,
  others: Partial<StorySizes> = {},
): Uint8Array {
  const random = seededRandom(seed);
  const sizes = { ...SIZES, ...others };
  const weights = new Map(
    [...weightShapes(sizes)].map(([name, shape]) => {
      const scale = name.endsWith('norm') ? 1 : 2.5 / Math.sqrt(shape[0] ?? 1);
      const offset = name.endsWith('norm') ? 1 : 0;
      const values = Float32Array.from({ length: elementCount(shape) }, () =>
        isBroken ? Number.NaN : offset + scale * (random() - 0.5) * 2,
      );
      return [name, values] as const;
    }),
  );
  return writeStoryModel(sizes, weights);
}

const executables = new Map<string, Uint8Array>();

interface TestModelOptions extends TextLoadOptions {
  readonly chatTemplate?: string;
  /** The seed of the weights. */
  readonly seed?: number;
  /** All weights are NaN. */
  readonly isBroken?: boolean;
}

/** The small model with the stories' tokenizer and positions. */
export async function openTestModel(
  device: 'host' | 'wasm' | 'webgpu',
  { chatTemplate, seed = 7, isBroken = false, cacheType, ...options }: TestModelOptions = {},
): Promise<TextModel> {
  const key = `${seed} ${isBroken} ${cacheType}`;
  const executable =
    executables.get(key) ??
    compile(textModule(testModelBytes(seed, isBroken), { cacheType }), { verify: true }).toBytes();
  executables.set(key, executable);
  const gpu = device === 'webgpu' ? { gpu: await sharedNodeGpu() } : {};
  const template = chatTemplate === undefined ? undefined : new TextEncoder().encode(chatTemplate);
  const read = storyFolder({ 'model.weft': executable, 'chat_template.jinja': template });
  return TextModel.load(read, { device, worker: false, ...gpu, ...options });
}
