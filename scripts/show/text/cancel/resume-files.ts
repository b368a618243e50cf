import { readFileSync } from 'node:fs';
import { nodeGpu } from '../../../../src/testing/node-gpu.ts';
import { TextModel } from '../../../../src/text/text-model.ts';
import { endlessStories } from './endless-stories.ts';

/** Goes on with saved texts in this process, and prints the ids of the tokens that come, a list a line: `DEVICE FILE …`. */
export async function main([device, ...files]: readonly string[]): Promise<number> {
  const place =
    device === 'webgpu'
      ? ({ device, gpu: await nodeGpu() } as const)
      : ({ device: 'wasm' } as const);
  const model = await TextModel.load(endlessStories(), { worker: false, ...place });
  for (const file of files) {
    const text = await model.resume(readFileSync(file));
    const ids: number[] = [];
    for await (const { id } of text.tokens()) if (id >= 0) ids.push(id);
    console.log(JSON.stringify(ids));
  }
  await model.dispose();
  return 0;
}
