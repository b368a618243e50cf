// Compares what our tokenizer made of texts with what Hugging Face's makes of its tokenizer.json:
//
//   cd tools/train && npm ci && npm run check-tokenizer
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Tokenizer } from '@huggingface/tokenizers';

const folder = new URL('../../../public/models/stories/', import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
const tokenizer = new Tokenizer(read('tokenizer.json'), read('tokenizer_config.json'));

const ours = spawnSync(
  process.execPath,
  [
    fileURLToPath(new URL('../../../scripts/run-ts.mjs', import.meta.url)),
    fileURLToPath(new URL('print-encodings.ts', import.meta.url)),
  ],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 26 },
);
const cases = JSON.parse(ours.stdout);
const differing = cases.filter(({ text, ids, decoded }) => {
  const theirs = tokenizer.encode(text, { add_special_tokens: false }).ids;
  const isEqual = theirs.join() === ids.join() && tokenizer.decode(ids) === decoded;
  if (!isEqual) console.error(`differs: ${JSON.stringify({ text, ids, theirs })}`);
  return !isEqual;
});
console.log(
  `${cases.length - differing.length} of ${cases.length} texts have the same tokens and come back`,
);
process.exitCode = differing.length === 0 ? 0 : 1;
