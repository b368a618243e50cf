// Measures public/models/stories: stories that it writes, and questions about stories that no step saw.
//
//   node scripts/run-ts.mjs tools/train/stories/evaluate-stories.ts [--wrong]
//
// --wrong prints the questions that it answers wrongly.
import { readFileSync } from 'node:fs';
import { seededRandom } from '../../../src/core/random.ts';
import { BytePairs, END } from './byte-pairs.ts';
import { likeliest } from './measure-loss.ts';
import { StorySource } from './story-batches.ts';
import { parseStory } from './story-grammar.ts';
import { STORY_SIZES } from '../../../src/text/testing/story-sizes.ts';
import { StoryReader } from '../../../src/text/testing/story-reader.ts';

const FOLDER = new URL('../../../public/models/stories/', import.meta.url);
const SAMPLES = 100;
const TEMPERATURE = 0.8;
const QUESTIONS = 200;
/** Pairs of questions that differ in a name or a thing alone. */
const TWINS = 50;
const SEED = 5;
const MOST_TOKENS = 160;
const REQUIRED = { parsed: 0.9, right: 0.8 };

export async function main(args: string[]): Promise<number> {
  const printsWrong = args.includes('--wrong');
  const pairs = BytePairs.fromJson(readFileSync(new URL('tokenizer.json', FOLDER), 'utf8'));
  const reader = await StoryReader.open(
    readFileSync(new URL('onnx/model_fp16.onnx', FOLDER)),
    STORY_SIZES,
  );
  const parsed = await countParsed(reader, pairs);
  console.log(`${parsed} of ${SAMPLES} stories at temperature ${TEMPERATURE} parse by the grammar`);
  const right = await countRight(reader, pairs, printsWrong);
  console.log(`${right} of ${QUESTIONS} held-out questions are answered right`);
  const apart = await countToldApart(reader, pairs);
  console.log(
    `${apart} of ${TWINS} pairs of questions of one kind with different answers are told apart`,
  );
  await reader.dispose();
  return parsed >= REQUIRED.parsed * SAMPLES && right >= REQUIRED.right * QUESTIONS ? 0 : 1;
}

async function countParsed(reader: StoryReader, pairs: BytePairs): Promise<number> {
  const texts = await sampleStories(reader, pairs, SAMPLES);
  for (const text of texts.slice(0, 3)) console.log(`${text}\n`);
  const parses = texts.map((text) => parseStory(text, { world: false }));
  for (const { reason } of parses) if (reason !== undefined) console.log(reason);
  const possible = texts.filter((text) => parseStory(text).story !== undefined).length;
  console.log(`${possible} of ${SAMPLES} stories are possible, with all answers right`);
  return parses.filter(({ story }) => story !== undefined).length;
}

/** All at once, each token by its probability after those before it. */
async function sampleStories(
  reader: StoryReader,
  pairs: BytePairs,
  count: number,
): Promise<string[]> {
  const random = seededRandom(SEED);
  const ids: number[][] = Array.from({ length: count }, () => []);
  let next = ids.map(() => [END]);
  let caches = reader.emptyCaches(count);
  const isDone = new Set<number>();
  for (let i = 0; i < MOST_TOKENS && isDone.size < count; i++) {
    const result = await reader.read(next, caches);
    caches = result.caches;
    next = ids.map((story, row) => {
      const at = row * STORY_SIZES.vocabulary;
      const token = sample(result.logits.subarray(at, at + STORY_SIZES.vocabulary), random());
      if (token === END) isDone.add(row);
      if (!isDone.has(row)) story.push(token);
      return [token];
    });
  }
  return ids.map((story) => pairs.decode(story));
}

function sample(logits: Float32Array, chance: number): number {
  const most = Math.max(...logits);
  const weights = logits.map((logit) => Math.exp((logit - most) / TEMPERATURE));
  let left = chance * weights.reduce((a, b) => a + b, 0);
  return Math.max(
    0,
    weights.findIndex((weight) => (left -= weight) < 0),
  );
}

async function countRight(
  reader: StoryReader,
  pairs: BytePairs,
  printsWrong: boolean,
): Promise<number> {
  const source = new StorySource(SEED, 'held out');
  const kinds = new Map<string, { right: number; all: number }>();
  let right = 0;
  for (let i = 0; i < QUESTIONS; i++) {
    const { events, questions } = source.next();
    const [{ question, answer } = { question: '', answer: '' }] = questions;
    const given = await answerGreedily(reader, pairs, `${events}\n${question}`);
    const kind = kindOf(question);
    const count = kinds.get(kind) ?? { right: 0, all: 0 };
    kinds.set(kind, { right: count.right + Number(given === answer), all: count.all + 1 });
    if (given === answer) right++;
    else if (printsWrong) console.log(`${events}\n${question}${given}  (${answer.trim()})`);
  }
  for (const [kind, count] of kinds) console.log(`${kind} …?  ${count.right} of ${count.all}`);
  return right;
}

const kindOf = (question: string): string => /^\w+ \w+( the)?/.exec(question)?.[0] ?? '';

/** How many pairs of questions of a kind about a story, with different right answers, it answers differently. */
async function countToldApart(reader: StoryReader, pairs: BytePairs): Promise<number> {
  const source = new StorySource(SEED, 'held out');
  let [apart, asked] = [0, 0];
  while (asked < TWINS) {
    const { events, questions } = source.next();
    const [first] = questions;
    if (first === undefined) continue;
    const other = questions.find(
      ({ question, answer }) =>
        kindOf(question) === kindOf(first.question) && answer !== first.answer,
    );
    if (other === undefined) continue;
    const given = new Set<string>();
    for (const { question } of [first, other]) {
      given.add(await answerGreedily(reader, pairs, `${events}\n${question}`));
    }
    asked++;
    if (given.size > 1) apart++;
  }
  return apart;
}

/**
 * Continues a text with the likeliest token again and again, to the end of its line or for 8
 * tokens.
 */
export async function answerGreedily(
  reader: StoryReader,
  pairs: BytePairs,
  text: string,
): Promise<string> {
  const answer: number[] = [];
  let next = [END, ...pairs.encode(text)];
  let caches = reader.emptyCaches(1);
  while (answer.length < 8) {
    const result = await reader.read([next], caches);
    const token = likeliest(result.logits.subarray(-STORY_SIZES.vocabulary));
    caches = result.caches;
    if (token === END || pairs.decode([token]) === '\n') break;
    answer.push(token);
    next = [token];
  }
  return pairs.decode(answer);
}
