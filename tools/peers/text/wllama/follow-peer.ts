import type { Precision } from '../../../../src/core/contracts/precision.ts';
import { compile } from '../../../../src/compiler/compile.ts';
import { generationModule } from '../../../../src/frontend/decoders/generation-module.ts';
import { folderFiles } from '../../../../src/frontend/decoders/gguf-folder.ts';
import { openModelFile } from '../../../../src/frontend/decoders/open-model-file.ts';
import { TextModel } from '../../../../src/text/text-model.ts';
import type { Completion } from './in-page.ts';
import type { PeerToken } from './peer-package.ts';

/** A GGUF file as Weft runs it: nothing but the file, on the wasm device. */
export async function openGgufModel(
  bytes: Uint8Array,
  precision: Precision = 'full',
): Promise<TextModel> {
  const read = (_: string, begin: number, end: number) => Promise.resolve(bytes.slice(begin, end));
  const file = await openModelFile('model.gguf', { read });
  const folder = file.folder();
  if (folder === undefined) throw new Error('a file without a tokenizer');
  const executable = compile(generationModule(await file.load())).toBytes();
  const files = folderFiles(folder);
  const encoder = new TextEncoder();
  return TextModel.load(
    (name) => {
      const text = files.get(name);
      if (name === 'model.weft') return Promise.resolve(executable);
      return Promise.resolve(text === undefined ? undefined : encoder.encode(text));
    },
    { device: 'wasm', worker: false, precision },
  );
}

/** How our likeliest tokens compare with those of a text that somebody else wrote. */
export interface Following {
  readonly positions: number;
  /** How much likelier the text's token is than the next one, where ours is another: differences of logits. */
  readonly gaps: readonly number[];
  /** Positions whose two likeliest logits lie at least so far apart as was asked for. */
  readonly sure: number;
  /** Different tokens of a text. */
  readonly distinct: number;
}

/** All texts of a file together. */
export interface FollowedTexts {
  /** `distinct` is the mean. */
  readonly following: Following;
  /** True if prompts have as many tokens there as here. */
  readonly isReadAlike: boolean;
}

/** {@link follow} for each prompt. */
export async function followAll(
  model: TextModel,
  prompts: readonly string[],
  texts: readonly Completion[],
  sureGap: number,
): Promise<FollowedTexts> {
  const all: Following[] = [];
  let isReadAlike = true;
  for (const [i, prompt] of prompts.entries()) {
    const text = texts[i];
    if (text === undefined) throw new Error('no answer to a prompt');
    isReadAlike &&= (await model.tokenizer.encode(prompt)).length === text.promptTokens;
    all.push(await follow(model, prompt, text, sureGap));
  }
  const sum = (of: (following: Following) => number): number =>
    all.reduce((n, one) => n + of(one), 0);
  return {
    isReadAlike,
    following: {
      positions: sum(({ positions: n }) => n),
      sure: sum(({ sure }) => sure),
      distinct: sum(({ distinct }) => distinct) / all.length,
      gaps: all.flatMap(({ gaps }) => gaps),
    },
  };
}

/** Generates along the text: where our token is another than the text's, the text's is taken and we go on behind it. */
async function follow(
  model: TextModel,
  prompt: string,
  { tokens, ends }: Completion,
  sureGap: number,
): Promise<Following> {
  const start = await model.tokenizer.encode(prompt);
  const ids = tokens.map(({ id }) => id);
  const gaps: number[] = [];
  const logitBias = Object.fromEntries(ends.map((id) => [id, -1e9]));
  for (let at = 0; at < ids.length; ) {
    const text = [...start, ...ids.slice(0, at)];
    const maxTokens = ids.length - at;
    const generation = model.generate(text, { temperature: 0, maxTokens, logitBias });
    for await (const { id } of generation.tokens()) {
      if (id < 0) continue;
      const token = tokens[at++];
      if (token === undefined || token.id === id) continue;
      gaps.push(gapOf(token, ends));
      break;
    }
  }
  const sure = tokens.filter((token) => gapOf(token, ends) >= sureGap).length;
  return { positions: ids.length, gaps, sure, distinct: new Set(ids).size };
}

/** Between the two likeliest tokens, without those that end a text. */
function gapOf({ top_logprobs: top }: PeerToken, ends: readonly number[]): number {
  const [first, second] = top.filter(({ id }) => !ends.includes(id));
  return (first?.logprob ?? 0) - (second?.logprob ?? Number.NEGATIVE_INFINITY);
}

export const positions = ({ positions: count, distinct }: Following): string =>
  `${count} positions (${distinct.toFixed(0)} different tokens a text)`;

export const nearTies = ({ gaps }: Following): string =>
  gaps.length === 0 ? '0' : `${gaps.length}, the widest ${Math.max(...gaps).toFixed(4)}`;
