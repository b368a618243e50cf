import { readFileSync } from 'node:fs';
import { BytePairs } from './byte-pairs.ts';
import { tokenizerTexts } from './story-batches.ts';

const SEED = 41;
const STORIES = 500;
/** Texts unlike those of stories. */
const OTHERS = [
  ' ',
  '  two  spaces\tand a tab\n\n\nlines ',
  "don't, we'll, I'm he'd they've you're it's 'quoted'",
  'Zürich, 東京, 🙂👩‍👩‍👧, naïve, Ω≈ç√',
  '12,345.67 % of x_1^2 = {a: [b]}; // done',
  'MIA WENT mia went MiA',
];

/** Prints texts with our tokens for them, as JSON. */
export function main(): number {
  const json = new URL('../../../public/models/stories/tokenizer.json', import.meta.url);
  const pairs = BytePairs.fromJson(readFileSync(json, 'utf8'));
  const cases = [...tokenizerTexts(SEED, STORIES), ...OTHERS].map((text) => {
    const ids = pairs.encode(text);
    return { text, ids, decoded: pairs.decode(ids) };
  });
  console.log(JSON.stringify(cases));
  return 0;
}
