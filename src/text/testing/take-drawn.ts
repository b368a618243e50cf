import type { Tensor } from '../../client/values/tensor.ts';
import { CHUNK } from '../../core/text-layout.ts';

/** The tokens of a chunk and the logarithms of their probabilities, of one text after the other. */
export function takeDrawn(drawn: Tensor | undefined): { ids: number[]; logprobs: number[] } {
  const words = Int32Array.from(drawn?.data ?? [], Number);
  const floats = new Float32Array(words.buffer);
  const isToken = (i: number): boolean => Math.floor(i / CHUNK) % 2 === 0;
  return {
    ids: [...words].filter((_, i) => isToken(i)),
    logprobs: [...floats].filter((_, i) => !isToken(i)),
  };
}
