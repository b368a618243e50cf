// Writes public/models/stories from the last checkpoint of train-stories.ts:
//
//   node scripts/run-ts.mjs tools/train/stories/export-stories.ts
//
// `npm run models` makes model.weft of it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BytePairs } from './byte-pairs.ts';
import { storyFiles } from './story-files.ts';
import { STORY_SIZES, weightShapes } from '../../../src/text/testing/story-sizes.ts';
import { CHECKPOINTS, readCheckpoint } from './checkpoint.ts';
import { splitState } from '../trainer.ts';
import { stateShapes } from '../training-program.ts';

const FOLDER = fileURLToPath(new URL('../../../public/models/stories/', import.meta.url));

export function main(): Promise<number> {
  const checkpoint = readCheckpoint();
  if (checkpoint === undefined)
    throw new Error(`There is no checkpoint in ${CHECKPOINTS}: train first.`);
  const pairs = BytePairs.fromJson(readFileSync(join(CHECKPOINTS, 'tokenizer.json'), 'utf8'));
  const weights = splitState(stateShapes(weightShapes(STORY_SIZES)), checkpoint.state);
  const files = storyFiles(STORY_SIZES, { weights, pairs });
  for (const [path, content] of files) {
    mkdirSync(dirname(join(FOLDER, path)), { recursive: true });
    writeFileSync(join(FOLDER, path), content);
    console.log(`${path}: ${content.length}`);
  }
  console.log(
    `from step ${checkpoint.steps}, after ${Math.round(checkpoint.seconds)} s of training`,
  );
  return Promise.resolve(0);
}
