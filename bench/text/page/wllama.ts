import type { PeerModule, Wllama } from '../../../tools/peers/text/wllama/peer-package.ts';
import type { StartContestant } from './contestant.ts';

/** llama.cpp on one thread, in its worker, with its own choice of caches. It times itself, without what pages add. */
export const startWllama: StartContestant = async ({ model }) => {
  const folder = '/wllama/esm';
  const { Wllama } = (await import(/* @vite-ignore */ `${folder}/index.js`)) as PeerModule<Wllama>;
  const peer = new Wllama({ default: `${folder}/wasm/wllama.wasm` }, { suppressNativeLog: true });
  const blob = await (await fetch(model)).blob();
  await peer.loadModel([blob], { n_ctx: 2048, n_threads: 1, n_gpu_layers: 0 });
  const sampling = { temperature: 0, ignore_eos: true };
  const timingsOf = async (options: object) => {
    const { timings } = await peer.createCompletion({ ...sampling, ...options });
    if (timings === undefined) throw new Error('wllama tells no times');
    return timings;
  };
  return {
    async prefill({ text: prompt, ids }) {
      const timings = await timingsOf({ prompt, max_tokens: 1, cache_prompt: false });
      if (timings.prompt_n !== ids.length)
        throw new Error(`a prompt of ${timings.prompt_n} tokens`);
      return timings.prompt_ms;
    },
    async decode({ text: prompt }, count) {
      // The first token is that of the prompt.
      const asked = { prompt, max_tokens: count + 1, cache_prompt: true };
      const { predicted_ms: ms, predicted_n: tokens } = await timingsOf(asked);
      return ms / (tokens - 1);
    },
  };
};
