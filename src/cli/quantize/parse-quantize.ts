import { InvalidArgumentError } from 'commander';
import type { WeightBits } from '../../frontend/index.ts';

export function parseBits(text: string): WeightBits {
  const bits = Number(text);
  if (bits === 4 || bits === 8 || bits === 16) return bits;
  throw new InvalidArgumentError('It has to be 4, 8 or 16.');
}

export function parseCosine(text: string): number {
  const cosine = Number(text);
  if (cosine >= 0 && cosine <= 1) return cosine;
  throw new InvalidArgumentError('It has to be a number from 0 to 1.');
}
