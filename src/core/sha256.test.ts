import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { seededRandom } from '../testing/random.ts';
import { sha256 } from './sha256.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('sha256 gives the examples of FIPS 180-4', () => {
  const of = (text: string): string => hex(sha256(new TextEncoder().encode(text)));
  expect(of('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(of('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(of('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq')).toBe(
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  );
});

test('sha256 equals that of Node for every length around whole blocks, and for views', () => {
  const random = seededRandom(1);
  const memory = Uint8Array.from({ length: 70_001 }, () => Math.floor(random() * 256));
  const lengths = [...Array.from({ length: 200 }, (_, i) => i), 4095, 4096, 70_000];
  for (const length of lengths) {
    const bytes = memory.subarray(1, 1 + length);
    expect(hex(sha256(bytes))).toBe(createHash('sha256').update(bytes).digest('hex'));
  }
});
