import { Tokenizer } from '@huggingface/tokenizers';
import { openPeer, type Peer } from '../../differential/compare-onnx/peer-runtime.ts';
import { storyOnnx } from '../../../src/frontend/decoders/architectures/testing/story-decoder.ts';
import type { TestedConfig } from '../../../src/frontend/decoders/architectures/testing/reference-decoder.ts';
import type { TokenizerFolder } from '../../../src/frontend/decoders/files/tokenizer/gguf-tokenizer.ts';
import { TextModel } from '../../../src/text/text-model.ts';
import { nodeGpu } from '../../../src/testing/node-gpu.ts';
import type { Checks } from './checks.ts';
import { modelFolder, tokenizerFolder } from './model-folder.ts';
import { type AttentionForm, decoderOnnx } from './onnxruntime/decoder-onnx.ts';
import { completeByPeer } from './onnxruntime/peer-text.ts';
import { followAll, nearTies, positions } from './wllama/follow-peer.ts';
import { promptsOf, type ShownModel, shownModels } from './wllama/shown-models.ts';

/** Prompts on each device: WebGPU in software takes ten times as long. */
const PROMPTS = { wasm: 20, webgpu: 5 } as const;
const TOKENS = 200;
/** How near the two likeliest logits may lie where tokens differ, by the type that the model computes in. */
const TOLERANCES = { float32: 0.002, float16: 0.01 } as const;

/** An ONNX file that both run. */
interface Export {
  readonly name: string;
  readonly model: ShownModel;
  readonly config: TestedConfig;
  readonly bytes: Uint8Array;
  readonly dtype: keyof typeof TOLERANCES;
  readonly hasPositions: boolean;
}

/** The likeliest tokens beside those of onnxruntime-web, from the same ONNX files. */
export async function show(checks: Checks, words: readonly string[]): Promise<void> {
  checks.section(
    `The likeliest ${TOKENS} tokens behind ${PROMPTS.wasm} prompts, ${PROMPTS.webgpu} on WebGPU, equal those of onnxruntime-web, but where the two likeliest logits lie ` +
      `within ${Object.entries(TOLERANCES)
        .map(([dtype, gap]) => `${gap} (${dtype})`)
        .join(', ')}`,
  );
  const peer = openPeer();
  for (const file of exports()) {
    if (words.length === 0 || words.some((word) => file.name.includes(word))) {
      await compare(checks, peer, file);
    }
  }
}

/** The file of the story model as it is published, and files of the weights that wllama has. */
function* exports(): Generator<Export> {
  const [stories, llama] = ['stories', 'llama'].map((name) =>
    shownModels().find((model) => model.name === name),
  );
  if (stories === undefined || llama === undefined) throw new Error('no such model');
  yield {
    name: 'stories, published',
    model: stories,
    config: stories.decoder('F16').config,
    bytes: storyOnnx(),
    dtype: 'float16',
    hasPositions: false,
  };
  const written = (model: ShownModel, type: string, form: AttentionForm): Export => {
    const decoder = model.decoder(type);
    return {
      name: `${model.name}, ${type}, ${form === 'grouped' ? 'GroupQueryAttention' : 'plain attention'}`,
      model,
      config: decoder.config,
      bytes: decoderOnnx(decoder, form),
      dtype: 'float32',
      hasPositions: form === 'joined',
    };
  };
  yield written(stories, 'F32', 'joined');
  yield written(stories, 'Q8_0', 'grouped');
  yield written(llama, 'F32', 'joined');
  yield written(llama, 'F32', 'grouped');
  yield written(llama, 'Q4_0', 'grouped');
}

async function compare(checks: Checks, peer: Peer, file: Export): Promise<void> {
  const { model, config, bytes, dtype, hasPositions } = file;
  const folder = tokenizerFolder(model.tokenizer);
  const prompts = promptsOf(model, PROMPTS.wasm);
  const tokenizer = new Tokenizer(folder.tokenizer, folder.tokenizerConfig);
  const texts = await completeByPeer(peer, {
    model: bytes,
    caches: {
      dtype,
      layers: config.num_hidden_layers,
      heads: config.num_key_value_heads,
      width: config.head_dim,
    },
    hasPositions,
    prompts: prompts.map((prompt) => tokenizer.encode(prompt).ids),
    length: TOKENS,
    ends: [folder.generationConfig['eos_token_id']].flat().map(Number),
  });
  for (const device of ['wasm', 'webgpu'] as const) {
    const own = await openExport(file, folder, device);
    const some = prompts.slice(0, PROMPTS[device]);
    const { following, isReadAlike } = await followAll(own, some, texts, 0);
    await own.dispose();
    const isWhole = isReadAlike && following.positions === some.length * TOKENS;
    checks.check(
      isWhole && Math.max(0, ...following.gaps) <= TOLERANCES[dtype],
      `${file.name}, ${device}: ${positions(following)}, near ties ${nearTies(following)}`,
    );
  }
}

/** The file in a folder of transformers.js, compiled where it is loaded. */
async function openExport(
  { bytes, config }: Export,
  folder: TokenizerFolder,
  device: 'wasm' | 'webgpu',
): Promise<TextModel> {
  const gpu = device === 'webgpu' ? { gpu: await nodeGpu() } : {};
  const read = modelFolder(folder, config, { 'onnx/model.onnx': bytes });
  return TextModel.load(read, { device, worker: false, ...gpu });
}
