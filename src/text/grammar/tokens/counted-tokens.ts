import { clearBit, orInto, setBit } from './bit-mask.ts';
import type { Configuration } from '../automaton/configuration.ts';

/** Tokens by the number of units of a counted rule that begin in them. */
type TokensByUnits = number[][];

/** Up to this number of units, there is a mask of the tokens that begin no more. */
const MASK_COUNT = 16;

/**
 * Tokens that a state of a counted rule allows. The state is the same whatever the bounds are and
 * however many units were read, so they are found once, and chosen by their number of units.
 */
export class CountedTokens {
  readonly #all: TokensByUnits = [];
  /** Those of them that reach the end of the rule. */
  readonly #ended: TokensByUnits = [];
  /** For each n, the tokens that begin at most n units; the last mask has all tokens. */
  #masks: readonly Uint32Array[] = [];
  readonly #scratch: Uint32Array;

  readonly #maskLength: number;

  constructor(maskLength: number) {
    this.#maskLength = maskLength;
    this.#scratch = new Uint32Array(maskLength);
  }

  add(id: number, unitCount: number, hasEnded: boolean): void {
    (this.#all[unitCount] ??= []).push(id);
    if (hasEnded) (this.#ended[unitCount] ??= []).push(id);
  }

  /** Sets the bits of the tokens that the numbers of a configuration allow. */
  addTo(mask: Uint32Array, { missing, remaining }: Configuration, isEmpty: boolean): void {
    if (this.#masks.length === 0) this.#masks = this.#makeMasks();
    const tokens = this.#masks[Math.min(remaining, MASK_COUNT)] ?? this.#scratch;
    if (missing === 0 && remaining >= this.#all.length - 1) {
      orInto(mask, this.#masks[MASK_COUNT] ?? tokens, isEmpty);
      return;
    }
    this.#scratch.set(tokens);
    if (remaining >= MASK_COUNT) this.#clear(this.#all.slice(remaining + 1));
    this.#clear(this.#ended.slice(0, missing));
    orInto(mask, this.#scratch, isEmpty);
  }

  #clear(tokens: TokensByUnits): void {
    for (const ids of tokens) for (const id of ids ?? []) clearBit(this.#scratch, id);
  }

  #makeMasks(): Uint32Array[] {
    const mask = new Uint32Array(this.#maskLength);
    const masks: Uint32Array[] = [];
    for (let count = 0; count < Math.max(MASK_COUNT, this.#all.length); count++) {
      for (const id of this.#all[count] ?? []) setBit(mask, id);
      if (count < MASK_COUNT) masks.push(mask.slice());
    }
    return [...masks, mask];
  }
}
