import { readFile } from 'node:fs/promises';
import { WeftError } from '../../../src/client/index.ts';
import { TextModel } from '../../../src/text/text-model.ts';

/** Loads a GGUF file and has a conversation with it; prints how that ends, and after how many seconds of a core. */
export async function main([file = '']: readonly string[]): Promise<number> {
  const bytes = new Uint8Array(await readFile(file));
  const before = process.cpuUsage();
  const end = (outcome: string): void => {
    const { user, system } = process.cpuUsage(before);
    console.log(
      `${outcome.split(':')[0]} after ${((user + system) / 1e6).toFixed(1)} s: ${outcome}`,
    );
  };
  try {
    const read = async (name: string) => (name === 'model.gguf' ? bytes : undefined);
    await using model = await TextModel.load(read, {
      file: 'model.gguf',
      device: 'host',
      worker: false,
    });
    const text = await model.chat([{ role: 'user', content: 'Hi' }], { maxTokens: 2 }).text();
    end(`answered: ${JSON.stringify(text)}`);
  } catch (error) {
    end(error instanceof WeftError ? String(error).slice(0, 200) : `raw ${String(error)}`);
  }
  return 0;
}
