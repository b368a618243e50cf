import type { PeerAnswer, PeerModule, PeerToken, TokenWllama, Wllama } from './peer-package.ts';

// These functions run in the page, so each has all that it needs within. They are told where their package is: a bundler would
// look for an address that it can read.

/** Messages that are to be written as the model's template says. */
export interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** How a prompt goes on. */
export interface Completion {
  /** How many tokens the prompt has, with those that the model adds. */
  readonly promptTokens: number;
  readonly tokens: readonly PeerToken[];
  /** Tokens of the model that end a text. */
  readonly ends: readonly number[];
}

/** Generates so many tokens for each prompt, all prompts at a time. */
export async function complete({
  folder,
  prompts,
  length,
}: {
  /** The address of the package's files. */
  readonly folder: string;
  readonly prompts: readonly (string | ChatRequest)[];
  readonly length: number;
}): Promise<Completion[]> {
  const { Wllama } = (await import(`${folder}/index.js`)) as PeerModule<Wllama>;
  const peer = new Wllama({ default: `${folder}/wasm/wllama.wasm` }, { suppressNativeLog: false });
  const blob = await (await fetch('/model.gguf')).blob();
  await peer.loadModel([blob], {
    n_ctx: 512 * prompts.length,
    n_parallel: prompts.length,
    kv_unified: false,
    n_threads: 1,
    n_gpu_layers: 0,
    cache_type_k: 'f32',
    cache_type_v: 'f32',
    flash_attn: false,
    warmup: false,
    jinja: true,
    skip_chat_parsing: true,
  });
  const sampling = { max_tokens: length, temperature: 0, ignore_eos: true, cache_prompt: false };
  const ends = [...peer.getLoadedContextInfo().list_tokens_eog];
  // Of those that end a text there may be several in front.
  const most = 4 + ends.length;
  const ask = (prompt: string | ChatRequest): Promise<PeerAnswer> =>
    typeof prompt === 'string'
      ? peer.createCompletion({ prompt, logprobs: most, ...sampling })
      : peer.createChatCompletion({ ...prompt, logprobs: true, top_logprobs: most, ...sampling });
  const answers = await Promise.all(prompts.map(ask));
  await peer.exit();
  return answers.map(({ choices, usage }) => ({
    promptTokens: usage.prompt_tokens,
    ends,
    tokens: (choices[0]?.logprobs.content ?? []).map(({ id, logprob, top_logprobs: top }) => ({
      id,
      logprob,
      top_logprobs: top.map((other) => ({ id: other.id, logprob: other.logprob })),
    })),
  }));
}

/** The ids of each text. */
export async function tokenize({
  folder,
  texts,
}: {
  /** The address of the package's files. */
  readonly folder: string;
  readonly texts: readonly string[];
}): Promise<number[][]> {
  const { Wllama } = (await import(`${folder}/index.js`)) as PeerModule<TokenWllama>;
  const peer = new Wllama(
    {
      'single-thread/wllama.wasm': `${folder}/single-thread/wllama.wasm`,
      'multi-thread/wllama.wasm': `${folder}/multi-thread/wllama.wasm`,
    },
    { suppressNativeLog: false },
  );
  const blob = await (await fetch('/model.gguf')).blob();
  await peer.loadModel([blob], { n_ctx: 512, n_threads: 1 });
  const all: number[][] = [];
  for (const text of texts) all.push(Array.from(await peer.tokenize(text, true)));
  await peer.exit();
  return all;
}
