import { Tokenizer } from '@huggingface/tokenizers';
import { openOnnxRuntime } from '../../onnxruntime/open-onnxruntime.ts';
import { storyOnnx } from '../../../src/frontend/decoders/architectures/testing/story-decoder.ts';
import { TextModel } from '../../../src/text/text-model.ts';
import { nodeGpu } from '../../../src/testing/node-gpu.ts';
import type { Checks } from '../../show/checks.ts';
import { modelFolder, tokenizerFolder } from './model-folder.ts';
import { completeByPeer } from './onnxruntime/peer-text.ts';
import { followAll, nearTies, positions } from './wllama/follow-peer.ts';
import { promptsOf, shownModels } from './wllama/shown-models.ts';

/** Prompts on each device: WebGPU in software takes ten times as long. */
const PROMPTS = { wasm: 20, webgpu: 5 } as const;
const TOKENS = 200;
/** How near the two likeliest logits may lie where tokens differ: those above 8 are 0.008 apart in float16. */
const TOLERANCE = 0.01;

/** The likeliest tokens of the story model as it is published, beside those of onnxruntime-web from the same file. */
export async function show(checks: Checks): Promise<void> {
  checks.section(
    `The likeliest ${TOKENS} tokens behind ${PROMPTS.wasm} prompts, ${PROMPTS.webgpu} on WebGPU, equal those of onnxruntime-web, ` +
      `but where the two likeliest logits lie within ${TOLERANCE}`,
  );
  const model = shownModels().find(({ name }) => name === 'stories');
  if (model === undefined) throw new Error('no such model');
  const { config } = model.decoder('F16');
  const folder = tokenizerFolder(model.tokenizer);
  const prompts = promptsOf(model, PROMPTS.wasm);
  const tokenizer = new Tokenizer(folder.tokenizer, folder.tokenizerConfig);
  const bytes = storyOnnx();
  const texts = await completeByPeer(openOnnxRuntime('web'), {
    model: bytes,
    caches: {
      layers: config.num_hidden_layers,
      heads: config.num_key_value_heads,
      width: config.head_dim,
    },
    prompts: prompts.map((prompt) => tokenizer.encode(prompt).ids),
    length: TOKENS,
    ends: [folder.generationConfig['eos_token_id']].flat().map(Number),
  });
  for (const device of ['wasm', 'webgpu'] as const) {
    // In a folder of transformers.js, compiled where it is loaded.
    const gpu = device === 'webgpu' ? { gpu: await nodeGpu() } : {};
    const read = modelFolder(folder, config, { 'onnx/model.onnx': bytes });
    const own = await TextModel.load(read, { device, worker: false, ...gpu });
    const some = prompts.slice(0, PROMPTS[device]);
    const { following, isReadAlike } = await followAll(own, some, texts, 0);
    await own.dispose();
    const isWhole = isReadAlike && following.positions === some.length * TOKENS;
    checks.check(
      isWhole && Math.max(0, ...following.gaps) <= TOLERANCE,
      `${device}: ${positions(following)}, near ties ${nearTies(following)}`,
    );
  }
}
