import { seededRandom } from '../../../src/core/random.ts';
import type { SyncTokenizer } from '../../../src/frontend/decoders/reader/text-reader.ts';

/** A text and its tokens, the one that begins texts included. */
export interface SpeedPrompt {
  readonly text: string;
  readonly ids: readonly number[];
}

const WORDS = ['The', 'quick', 'brown', 'fox', 'Hello', 'world', '42', 'camelCase', '世界', 'мир'];

/** A random text of so many tokens; another one for another seed. */
export function promptOf(tokenizer: SyncTokenizer, length: number, seed: number): SpeedPrompt {
  const random = seededRandom(seed);
  let text = '';
  let ids: number[] = [];
  while (ids.length < length) {
    text += ` ${WORDS[Math.floor(random() * WORDS.length)]}`;
    ids = tokenizer.encode(text);
  }
  // Characters are few tokens each: one cut at the end is found.
  const characters = Array.from(text);
  for (let end = characters.length; end > 0; end--) {
    const cut = characters.slice(0, end).join('');
    const own = tokenizer.encode(cut);
    if (own.length === length) return { text: cut, ids: own };
    if (own.length < length) break;
  }
  return promptOf(tokenizer, length, seed + 1000);
}
