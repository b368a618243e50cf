import { Draws } from '../draws.ts';

/** Values that are close to some limit. */
const EDGES = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x0fff_ffff];

/** A seeded source of changes. */
export class Chance extends Draws {
  constructor(seed: number) {
    super(seed);
    this.skipFirst();
  }

  /** A small change that moves nothing, which many readers take for another value. */
  change(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    while (bytes.length > 0) {
      const changed = this.mutate(bytes);
      if (changed.length === bytes.length) return changed;
    }
    return new Uint8Array();
  }

  /** One small change: bits, a byte, a word, or bytes that are inserted, dropped or repeated. */
  mutate(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    if (bytes.length === 0) return Uint8Array.of(this.below(256));
    const copy = bytes.slice();
    const at = this.below(bytes.length);
    const byte = copy[at] ?? 0;
    switch (this.below(8)) {
      case 0:
        copy[at] = byte ^ (1 << this.below(8));
        return copy;
      case 1:
        copy[at] = this.below(256);
        return copy;
      case 2:
        copy[at] = byte + (this.often(0.5) ? 1 : -1);
        return copy;
      case 3:
        this.#writeWord(copy, at, this.pick(EDGES));
        return copy;
      case 4:
        // A small number, such as an index or a count.
        this.#writeWord(copy, at, this.below(24));
        return copy;
      case 5:
        return joined(bytes.subarray(0, at), Uint8Array.of(this.below(256)), bytes.subarray(at));
      case 6:
        return joined(bytes.subarray(0, at), bytes.subarray(at + 1 + this.below(8)));
      default: {
        const from = this.below(bytes.length);
        copy.set(bytes.subarray(from, from + Math.min(8, bytes.length - at)), at);
        return copy;
      }
    }
  }

  #writeWord(bytes: Uint8Array, near: number, word: number): void {
    const start = Math.floor(near / 4) * 4;
    for (let i = 0; i < 4; i++) bytes[start + i] = word >>> (8 * i);
  }
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
