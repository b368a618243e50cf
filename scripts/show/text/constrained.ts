import { fileURLToPath } from 'node:url';
import {
  GRAMMAR_SIZES,
  GRAMMAR_TARGETS,
  grammarLine,
  grammarStatistics,
  missedTargets,
  timeGrammars,
  timePeerGrammars,
} from '../../../bench/text/grammar.ts';
import { benchTokens } from '../../../bench/text/vocabularies.ts';
import { loadXGrammar } from '../../../bench/text/xgrammar.ts';
import { safetensorsOf } from '../../../src/frontend/decoders/architectures/testing/decoder-files.ts';
import { byteLevelVocabulary } from '../../../src/frontend/decoders/files/testing/gguf-vocabularies.ts';
import type { SchemaObject } from '../../../src/text/grammar/schema/schema-types.ts';
import { TextModel } from '../../../src/text/text-model.ts';
import type { Checks } from './checks.ts';
import { openValidators, type Validator } from './constrained/schema-validator.ts';
import { BOUNDED_PERSON, SHORT_SCHEMAS } from './constrained/schemas.ts';
import { installPackages } from './install-packages.ts';
import { modelFolder, tokenizerFolder } from './model-folder.ts';
import { BEGINS, openStories } from './stories.ts';
import { randomModel, SIZES } from './wllama/shown-models.ts';

/** Texts of each short schema, and of the long one. */
const [SHORT_TEXTS, LONG_TEXTS] = [100, 30];
/** Positions that are left for prompts. */
const PROMPT_ROOM = 40;

/** Masks are quick to make, and texts have the shape that they were held to: both, or `times` or `texts`. */
export async function show(checks: Checks, words: readonly string[]): Promise<void> {
  if (words.length === 0 || words.includes('times')) await showTimes(checks);
  if (words.length === 0 || words.includes('texts')) await showTexts(checks);
}

async function showTexts(checks: Checks): Promise<void> {
  checks.section(
    'Texts of a schema, at temperature 1 by a seed each, are JSON that ajv finds valid',
  );
  const validatorOf = openValidators();
  const stories = await openStories('wasm');
  for (const [name, schema] of Object.entries(SHORT_SCHEMAS)) {
    const order = { schema, validate: validatorOf(schema), count: SHORT_TEXTS };
    await checkTexts(checks, `the story model, ${name}`, stories, order);
  }
  await stories.dispose();
  const random = await openRandom();
  const validate = validatorOf(BOUNDED_PERSON);
  const order = { schema: BOUNDED_PERSON, validate, count: LONG_TEXTS };
  await checkTexts(checks, 'random weights, 20 fields', random, order);
  await random.dispose();
}

async function showTimes(checks: Checks): Promise<void> {
  const { compileMs, medianUs, p99Us, maxUs } = GRAMMAR_TARGETS;
  checks.section(
    `A schema of 20 fields compiles in ${compileMs} ms; a mask and its token take a median of ${medianUs} us, ` +
      `${p99Us} at the 99th percentile, ${maxUs} at most`,
  );
  installPackages(fileURLToPath(new URL('../../../bench/text', import.meta.url)), 'js-tiktoken');
  const peer = loadXGrammar();
  if (peer === undefined) throw new Error('web-xgrammar is not installed in bench/text');
  for (const size of GRAMMAR_SIZES) {
    const { source, tokens } = benchTokens(size - 1);
    const own = timeGrammars(tokens);
    const missed = missedTargets(grammarStatistics(own));
    checks.check(
      missed.length === 0,
      `${size} tokens (${source}): ${grammarLine('Weft', own)}${missed.map((name) => `, missed ${name}`).join('')}`,
    );
    checks.note(grammarLine('web-xgrammar', await timePeerGrammars(peer, tokens)));
  }
}

/** A model of random weights that sees enough tokens for a long document. */
async function openRandom(): Promise<TextModel> {
  const tokenizer = byteLevelVocabulary('qwen2', 900);
  const sizes = { ...SIZES, num_hidden_layers: 1, max_position_embeddings: 2048 };
  const decoder = randomModel({ ...sizes, model_type: 'llama' }, tokenizer, 4).decoder('F32');
  const files = { 'model.safetensors': safetensorsOf(decoder) };
  const read = modelFolder(tokenizerFolder(tokenizer), decoder.config, files);
  return TextModel.load(read, { device: 'wasm', worker: false });
}

async function checkTexts(
  checks: Checks,
  name: string,
  model: TextModel,
  {
    schema,
    validate,
    count,
  }: { readonly schema: SchemaObject; readonly validate: Validator; readonly count: number },
): Promise<void> {
  let [valid, tokens] = [0, 0];
  const wrong: string[] = [];
  const different = new Set<string>();
  for (let seed = 0; seed < count; seed++) {
    const constraint = await model.constraint({ type: 'json_schema', json_schema: { schema } });
    const begin = BEGINS[seed % BEGINS.length] ?? '';
    const options = { temperature: 1, seed, maxTokens: model.context - PROMPT_ROOM, constraint };
    const generation = model.generate(begin, options);
    const text = await generation.text();
    const { finishReason, usage } = generation;
    tokens += usage?.completionTokens ?? 0;
    different.add(text);
    const problem =
      finishReason === 'stop' ? problemOf(text, validate) : `ended by ${finishReason}`;
    if (problem === undefined) valid++;
    else wrong.push(`seed ${seed}, ${problem}: ${text}`);
  }
  checks.check(
    valid === count,
    `${name}: ${valid} of ${count} valid, ${different.size} different, ${(tokens / count).toFixed(0)} tokens each`,
  );
  for (const line of wrong.slice(0, 3)) checks.note(line);
}

function problemOf(text: string, validate: Validator): string | undefined {
  try {
    return validate(JSON.parse(text));
  } catch (error) {
    return String(error);
  }
}
