import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile, compileOnnx, textModule, parseModule } from '../../src/frontend/index.ts';
import { buildDetector } from './detector.ts';
import { buildDigits, readDigitWeights } from './digits.ts';
import { buildListSum } from './list-sum.ts';
import { filesOf } from './model-draft.ts';
import { buildReactionDiffusion } from './reaction-diffusion.ts';
import { buildTransformer } from './transformer.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const DIGITS = join(root, 'models/digits/model.onnx');
const STORIES = join(root, 'public/models/stories/onnx/model_fp16.onnx');
const TRAINING = join(root, 'tools/models/digit-training.ir');
const PROBE = join(root, 'tools/models/device-probe.ir');

/**
 * Every file of models/ and every executable of public/models, by its path in the repository. The
 * weights of the digit network and of the story model are those that their ONNX files have: only training
 * makes others.
 */
export function modelFiles(): Map<string, Uint8Array> {
  const models = {
    detector: buildDetector(),
    digits: buildDigits(readDigitWeights(readFileSync(DIGITS))),
    transformer: buildTransformer(),
  };
  const files = new Map<string, Uint8Array>([
    [
      'public/models/digit-training.weft',
      compile(parseModule(readFileSync(TRAINING, 'utf8'))).toBytes(),
    ],
    [
      'public/models/device-probe.weft',
      compile(parseModule(readFileSync(PROBE, 'utf8'))).toBytes(),
    ],
    ['public/models/list-sum.weft', buildListSum().toBytes()],
    ['public/models/reaction-diffusion.weft', buildReactionDiffusion().toBytes()],
    ['public/models/stories/model.weft', compile(textModule(readFileSync(STORIES))).toBytes()],
  ]);
  for (const [name, model] of Object.entries(models)) {
    for (const [path, bytes] of filesOf(model)) files.set(`models/${name}/${path}`, bytes);
    files.set(`public/models/${name}.weft`, compileOnnx(model.onnx).toBytes());
  }
  return files;
}

/** `npm run models`: writes them. */
export function main(): Promise<number> {
  for (const [path, bytes] of modelFiles()) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
    console.log(`${relative(root, file)}: ${bytes.byteLength} bytes`);
  }
  return Promise.resolve(0);
}
