import type { Precision } from '../../../../src/core/precision.ts';
import type { TestedDecoder } from '../../../../src/text/architectures/testing/decoder-files.ts';
import type { Checks } from '../checks.ts';
import {
  type FollowedTexts,
  type Following,
  followAll,
  nearTies,
  openGgufModel,
  positions,
} from './follow-peer.ts';
import type { Completion } from './in-page.ts';
import type { Peer } from './open-peer.ts';
import { dequantized, ggufBytes, promptsOf, type ShownModel } from './shown-models.ts';

/**
 * How near the two likeliest logits may lie where tokens differ. llama.cpp rounds what it multiplies by weights of 16 bits to the same
 * type, so that its logits are off by more.
 */
const TOLERANCES = { F32: 0.002, F16: 0.02, BF16: 0.2 } as const;
/** The least of gemma, whose GELU is a table of float16 in llama.cpp. */
const GELU_TOLERANCE = 0.01;
const FLOAT_TYPES = Object.keys(TOLERANCES) as (keyof typeof TOLERANCES)[];
/** In these wllama rounds what it multiplies to 8 bits. */
const BLOCK_TYPES = ['Q8_0', 'Q4_0', 'Q4_K', 'Q5_K', 'Q6_K', 'MXFP4'];

/** Prompts and tokens behind each, of files of floats and of blocks. */
const FLOATS = { prompts: 20, tokens: 200 };
const BLOCKS = { prompts: 8, tokens: 60 };
const REQUIRED_SHARE = 0.97;
/**
 * Models whose embedding is their head cannot be made sure of their tokens with random weights. Of them only positions count whose two
 * likeliest logits lie at least this far apart.
 */
const SURE_GAP = 0.25;

/** A file, and a text of the peer's for each prompt. */
interface Job {
  readonly type: string;
  readonly decoder: TestedDecoder;
  readonly prompts: readonly string[];
  readonly texts: readonly Completion[];
}

/** Texts of a model in all types beside those of llama.cpp, each from the same file. */
export async function compareModels(checks: Checks, peer: Peer, model: ShownModel): Promise<void> {
  const { prompts, tokens } = FLOATS;
  checks.section(
    `${model.name}: the likeliest ${tokens} tokens behind ${prompts} prompts equal wllama's, but where the two likeliest ` +
      `logits lie within ${FLOAT_TYPES.map((type) => `${toleranceOf(model, type)} (${type})`).join(', ')}`,
  );
  const floats = FLOAT_TYPES.map((type) => () => ask(peer, model, type, FLOATS));
  for await (const job of ahead(floats)) await checkFloats(checks, model, job);
  checks.section(
    `${model.name}: rounded weights, ${BLOCKS.tokens} tokens behind ${BLOCKS.prompts} prompts: as wllama with the same ` +
      `weights in float32, and of blocks in ${REQUIRED_SHARE * 100}% of positions as wllama, which rounds to int8; so does ` +
      `precision fast`,
  );
  const blocks = ['F16', 'BF16', ...BLOCK_TYPES].map((type) => async () => {
    const own = await ask(peer, model, type, BLOCKS);
    const decoder = dequantized(own.decoder);
    const plain = await peer.complete(ggufBytes(model, decoder), own.prompts, BLOCKS.tokens);
    return { ...own, plain };
  });
  for await (const job of ahead(blocks)) await checkBlocks(checks, model, job);
}

async function ask(
  peer: Peer,
  model: ShownModel,
  type: string,
  { prompts: count, tokens }: typeof FLOATS,
): Promise<Job> {
  const decoder = model.decoder(type);
  const prompts = promptsOf(model, count);
  return {
    type,
    decoder,
    prompts,
    texts: await peer.complete(ggufBytes(model, decoder), prompts, tokens),
  };
}

async function checkFloats(checks: Checks, model: ShownModel, job: Job): Promise<void> {
  const { following, isReadAlike } = await followFile(model, job, job.texts);
  const tolerance = toleranceOf(model, job.type as keyof typeof TOLERANCES);
  const most = Math.max(0, ...following.gaps);
  checks.check(
    isReadAlike && following.positions === FLOATS.prompts * FLOATS.tokens && most <= tolerance,
    `${job.type.padEnd(6)} ${positions(following)}, near ties ${nearTies(following)}; ` +
      `prompts of ${isReadAlike ? 'equal' : 'other'} lengths in tokens`,
  );
}

async function checkBlocks(
  checks: Checks,
  model: ShownModel,
  job: Job & { readonly plain: readonly Completion[] },
): Promise<void> {
  const { following: plain } = await followFile(model, job, job.plain);
  checks.check(
    plain.positions === BLOCKS.prompts * BLOCKS.tokens &&
      Math.max(0, ...plain.gaps) <= toleranceOf(model, 'F32'),
    `${job.type.padEnd(6)} beside float32 ${positions(plain)}, near ties ${nearTies(plain)}`,
  );
  if (!BLOCK_TYPES.includes(job.type)) return;
  const { following } = await followFile(model, job, job.texts);
  checkShare(checks, job, { following, title: 'beside int8' });
  const fast = await followFile(model, job, job.plain, 'fast');
  checkShare(checks, job, { following: fast.following, title: 'precision fast beside float32' });
}

/** The share of positions whose likeliest token is the same; of gemma of those that are sure. */
function checkShare(
  checks: Checks,
  { type, decoder }: Job,
  { following, title }: { readonly following: Following; readonly title: string },
): void {
  const share = 1 - following.gaps.length / following.positions;
  const percent = (of: number): string => `${(100 * of).toFixed(2)}%`;
  if (!decoder.config.model_type.startsWith('gemma')) {
    checks.check(share >= REQUIRED_SHARE, `${type.padEnd(6)} ${title} ${percent(share)}`);
    return;
  }
  const wrong = following.gaps.filter((gap) => gap >= SURE_GAP).length;
  const sure = 1 - wrong / following.sure;
  checks.check(
    sure >= REQUIRED_SHARE,
    `${type.padEnd(6)} ${title} ${percent(sure)} of ${following.sure} positions with logits ${SURE_GAP} apart; ` +
      `${percent(share)} of all`,
  );
}

function toleranceOf({ name }: ShownModel, type: keyof typeof TOLERANCES): number {
  return Math.max(TOLERANCES[type], name.startsWith('gemma') ? GELU_TOLERANCE : 0);
}

/** All texts of a file together. */
async function followFile(
  model: ShownModel,
  { decoder, prompts }: Job,
  texts: readonly Completion[],
  precision?: Precision,
): Promise<FollowedTexts> {
  const own = await openGgufModel(ggufBytes(model, decoder), precision);
  const followed = await followAll(own, prompts, texts, SURE_GAP);
  await own.dispose();
  return followed;
}

/** What jobs give, in order; each is begun while the one before it is looked at. */
async function* ahead<Result>(jobs: readonly (() => Promise<Result>)[]): AsyncGenerator<Result> {
  let next = jobs[0]?.();
  for (let i = 1; next !== undefined; i++) {
    const result = await next;
    next = jobs[i]?.();
    // Whoever awaits it hears of a failure.
    next?.catch(() => undefined);
    yield result;
  }
}
