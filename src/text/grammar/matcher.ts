import { UsageError } from '../../core/errors.ts';
import { withMeter } from '../../core/limits/work-meter.ts';
import type { Automaton } from './automaton/automaton.ts';
import { setBit } from './tokens/bit-mask.ts';
import {
  type Configurations,
  onlyByte,
  readByte,
  startConfigurations,
  Stacks,
} from './automaton/configuration.ts';
import { GrammarMeter } from './grammar-meter.ts';
import type { TokenMasks } from './tokens/token-masks.ts';
import type { Vocabulary } from './tokens/vocabulary.ts';

interface MatcherParts {
  readonly automaton: Automaton;
  readonly vocabulary: Vocabulary;
  readonly masks: TokenMasks;
}

/** After some tokens; those before are kept, so that tokens can be taken back. */
interface Step {
  readonly configurations: Configurations;
  readonly isEnded: boolean;
  readonly previous: Step | undefined;
}

/** Follows one text, token by token. Copies share what was read before. */
export class Matcher {
  readonly #parts: MatcherParts;
  readonly #stacks: Stacks;
  #step: Step;

  private constructor(parts: MatcherParts, stacks: Stacks, step: Step) {
    this.#parts = parts;
    this.#stacks = stacks;
    this.#step = step;
  }

  static start(parts: MatcherParts): Matcher {
    const stacks = new Stacks();
    const configurations = startConfigurations(parts.automaton, stacks);
    return new Matcher(parts, stacks, { configurations, isEnded: false, previous: undefined });
  }

  /** The tokens so far are a text of the grammar. More may follow, if {@link mask} has more tokens. */
  get isComplete(): boolean {
    return this.#step.configurations.isComplete;
  }

  /**
   * Sets exactly the bits of the tokens that may follow: token `i` is bit `i % 32` of word `i / 32`.
   * The end tokens are among them if the text is complete; after one of them, none is.
   *
   * @param mask `vocabulary.maskLength` words. Throws UsageError for another length.
   */
  mask(mask: Uint32Array): void {
    const { vocabulary, masks } = this.#parts;
    if (mask.length !== vocabulary.maskLength) {
      throw new UsageError({
        where: 'mask',
        got: `${mask.length} words`,
        expected: `${vocabulary.maskLength}, the maskLength of the vocabulary`,
      });
    }
    mask.fill(0);
    if (this.#step.isEnded) return;
    withMeter(new GrammarMeter(), () => masks.fill(mask, this.#step.configurations, this.#stacks));
    if (!this.isComplete) return;
    for (const id of vocabulary.endTokens) setBit(mask, id);
  }

  /**
   * Appends a token if it may follow. Otherwise returns false and changes nothing.
   *
   * Throws CompileLimitError where an ambiguous grammar has more than 1,000 ways to read the text, here and in
   * the other methods where it takes too many steps.
   */
  accept(id: number): boolean {
    return withMeter(new GrammarMeter(), () => this.#accept(id));
  }

  #accept(id: number): boolean {
    const { automaton, vocabulary } = this.#parts;
    if (this.#step.isEnded) return false;
    let { configurations } = this.#step;
    const isEnded = vocabulary.endTokens.includes(id);
    if (isEnded) {
      if (!this.isComplete) return false;
    } else {
      const bytes = vocabulary.bytesOf(id);
      if (bytes === undefined) return false;
      for (const byte of bytes) {
        configurations = readByte(configurations, byte, { automaton, stacks: this.#stacks });
      }
      if (configurations.list.length === 0 && !configurations.isComplete) return false;
    }
    this.#step = { configurations, isEnded, previous: this.#step };
    return true;
  }

  /** Takes back the last tokens. Throws UsageError if there are fewer. */
  rollback(count: number): void {
    let step = this.#step;
    for (let i = 0; i < count; i++) {
      if (step.previous === undefined) {
        throw new UsageError({
          where: 'rollback',
          got: `${count} tokens`,
          expected: `at most ${i}, which is all there are`,
        });
      }
      step = step.previous;
    }
    this.#step = step;
  }

  /** A matcher of the same text so far, which goes on by itself. */
  clone(): Matcher {
    return new Matcher(this.#parts, this.#stacks, this.#step);
  }

  /**
   * The text that must follow, as whole characters in UTF-8: empty where there is a choice, or where
   * the text may end.
   *
   * @param limit The most bytes.
   */
  forcedBytes(limit = 1024): Uint8Array {
    return this.#forcedText(limit).bytes;
  }

  /**
   * Tokens that spell the text that must follow, each the longest that fits. They are not accepted
   * yet. Where a token could go on beyond that text, the choice is left to the model.
   *
   * @param limit The most tokens.
   */
  forced(limit = 64): number[] {
    const { vocabulary } = this.#parts;
    const { bytes, isWhole } = this.#forcedText(limit * vocabulary.maxDepth);
    const ids: number[] = [];
    for (let start = 0; start < bytes.length && ids.length < limit; ) {
      const { token, length, goesOn } = vocabulary.longestToken(bytes.subarray(start));
      if (token === undefined || (goesOn && !isWhole)) break;
      ids.push(token);
      start += length;
    }
    return ids;
  }

  #forcedText(limit: number): { bytes: Uint8Array; isWhole: boolean } {
    return withMeter(new GrammarMeter(), () => this.#findForcedText(limit));
  }

  #findForcedText(limit: number): { bytes: Uint8Array; isWhole: boolean } {
    const { automaton } = this.#parts;
    const bytes: number[] = [];
    let wholeLength = 0;
    let { configurations } = this.#step;
    while (bytes.length < limit) {
      const byte = this.#step.isEnded ? undefined : onlyByte(configurations, automaton);
      if (byte === undefined) break;
      if ((byte & 0xc0) !== 0x80) wholeLength = bytes.length;
      bytes.push(byte);
      configurations = readByte(configurations, byte, { automaton, stacks: this.#stacks });
    }
    if (endsWithCharacter(bytes, wholeLength)) wholeLength = bytes.length;
    const isWhole = configurations.isComplete && configurations.list.length === 0;
    return { bytes: new Uint8Array(bytes.slice(0, wholeLength)), isWhole };
  }
}

/** The last character of some UTF-8, which begins at a place, has all its bytes. */
function endsWithCharacter(bytes: readonly number[], start: number): boolean {
  const lead = bytes[start] ?? 0;
  const length = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return bytes.length - start >= length;
}
