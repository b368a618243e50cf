import type { Precision } from '../../../../src/core/contracts/precision.ts';
import type { TestedDecoder } from '../../../../src/frontend/decoders/architectures/testing/decoder-files.ts';
import type { Checks } from '../../../show/checks.ts';
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
/** K-quants have these in rows that are no multiple of 256; the rest is rarer. */
const OTHER_BLOCK_TYPES = ['Q4_1', 'Q5_0', 'Q5_1', 'IQ4_NL', 'IQ4_XS', 'Q3_K', 'Q2_K'];

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
  /** Those for the same weights in float32. */
  readonly plain?: readonly Completion[];
}

/** Types of elements that every model is written in. */
export const USUAL_TYPES: readonly string[] = [...FLOAT_TYPES, ...BLOCK_TYPES];
/** All that Weft reads. */
export const SHOWN_TYPES: readonly string[] = [...USUAL_TYPES, ...OTHER_BLOCK_TYPES];

/** Texts of a model in some types beside those of llama.cpp, each from the same file. */
export async function compareModels(
  checks: Checks,
  peer: Peer,
  { model, types }: { readonly model: ShownModel; readonly types: readonly string[] },
): Promise<void> {
  const { prompts, tokens } = FLOATS;
  checks.section(
    `${model.name}: the likeliest ${tokens} tokens behind ${prompts} prompts equal wllama's, but where the two likeliest ` +
      `logits lie within ${FLOAT_TYPES.map((type) => `${toleranceOf(model, type)} (${type})`).join(', ')}, in BF16 as far as its logits are off`,
  );
  const floats = FLOAT_TYPES.filter((type) => types.includes(type)).map((type) => async () => {
    const own = await ask(peer, model, type, FLOATS);
    return type === 'BF16' ? withPlain(peer, model, own, FLOATS) : own;
  });
  for await (const job of ahead(floats)) await checkFloats(checks, model, job);
  const rounded = ['F16', ...BLOCK_TYPES, ...OTHER_BLOCK_TYPES].filter((type) =>
    types.includes(type),
  );
  if (rounded.length === 0) return;
  checks.section(
    `${model.name}: rounded weights, ${BLOCKS.tokens} tokens behind ${BLOCKS.prompts} prompts: as wllama with the same ` +
      `weights in float32, and of blocks in ${REQUIRED_SHARE * 100}% of positions as wllama, which rounds to int8; so does ` +
      `precision fast`,
  );
  const blocks = rounded.map((type) => async () => {
    return withPlain(peer, model, await ask(peer, model, type, BLOCKS), BLOCKS);
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

/** With the peer's texts for the same weights in float32. */
async function withPlain(
  peer: Peer,
  model: ShownModel,
  job: Job,
  { tokens }: typeof FLOATS,
): Promise<Job & { readonly plain: readonly Completion[] }> {
  const file = ggufBytes(model, dequantized(job.decoder));
  return { ...job, plain: await peer.complete(file, job.prompts, tokens) };
}

async function checkFloats(checks: Checks, model: ShownModel, job: Job): Promise<void> {
  const { following, isReadAlike } = await followFile(model, job, job.texts);
  let tolerance: number = toleranceOf(model, job.type as keyof typeof TOLERANCES);
  if (job.plain !== undefined) {
    const { following: plain } = await followFile(model, job, job.plain);
    checks.check(
      plain.positions === FLOATS.prompts * FLOATS.tokens &&
        Math.max(0, ...plain.gaps) <= toleranceOf(model, 'F32'),
      `${job.type.padEnd(6)} beside float32 ${positions(plain)}, near ties ${nearTies(plain)}`,
    );
    const error = roundingOf(job.texts, job.plain);
    tolerance = Math.max(tolerance, error);
    checks.note(
      `wllama's own logits of ${job.type} are off by up to ${error.toFixed(4)} from those of the same weights in float32`,
    );
  }
  const most = Math.max(0, ...following.gaps);
  checks.check(
    isReadAlike && following.positions === FLOATS.prompts * FLOATS.tokens && most <= tolerance,
    `${job.type.padEnd(6)} ${positions(following)}, near ties ${nearTies(following)}; ` +
      `prompts of ${isReadAlike ? 'equal' : 'other'} lengths in tokens`,
  );
}

/**
 * How far the difference of the two likeliest logits moves at most when a peer rounds what it multiplies, at positions where it has
 * written the same text with the same weights in float32. A gap that is no wider may be decided by that alone.
 */
function roundingOf(texts: readonly Completion[], plain: readonly Completion[]): number {
  let most = 0;
  for (const [i, { tokens, ends }] of texts.entries()) {
    for (const [at, token] of tokens.entries()) {
      const other = plain[i]?.tokens[at];
      const [first, second] = token.top_logprobs.filter(({ id }) => !ends.includes(id));
      const logprobOf = (id: number | undefined): number =>
        other?.top_logprobs.find((one) => one.id === id)?.logprob ?? Number.NaN;
      const gap = (first?.logprob ?? Number.NaN) - (second?.logprob ?? Number.NaN);
      const exact = logprobOf(first?.id) - logprobOf(second?.id);
      const moved = Math.abs(gap - exact);
      // One that is not among the likeliest ones there tells nothing.
      if (moved > most) most = moved;
      if (other?.id !== token.id) break;
    }
  }
  return most;
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
  if (job.type === 'F16') return;
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

/** Results of jobs, in order; each job begins while the result before it is used. */
async function* ahead<Result>(jobs: readonly (() => Promise<Result>)[]): AsyncGenerator<Result> {
  let next = jobs[0]?.();
  for (let i = 1; next !== undefined; i++) {
    const result = await next;
    next = jobs[i]?.();
    // Whoever awaits it gets a failure.
    next?.catch(() => undefined);
    yield result;
  }
}
