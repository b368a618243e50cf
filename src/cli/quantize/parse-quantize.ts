import { InvalidArgumentError } from 'commander';

export function parseBits(text: string): 4 | 8 {
  const bits = Number(text);
  if (bits === 4 || bits === 8) return bits;
  throw new InvalidArgumentError('It has to be 4 or 8.');
}

export function parseCosine(text: string): number {
  const cosine = Number(text);
  if (cosine >= 0 && cosine <= 1) return cosine;
  throw new InvalidArgumentError('It has to be a number from 0 to 1.');
}
