import { seededRandom } from '../../../core/random.ts';

const SYLLABLES =
  'a an ar be ca co com con de di e en er es et ex fi for ge he hi i in ing ion is it ki la le li ly ma me ment mi mo na ne no o on or pa per po pre pro qu ra re ri ro s sa se sh si so st t ta te th ti to tr u un ur ve vi wa wi y za';
const MARKS = [
  '"',
  '":',
  '",',
  '"}',
  '":"',
  '{"',
  '[{',
  '}]',
  '},',
  ': ',
  ', ',
  '\\',
  '\\n',
  '\\u',
  '\n',
  '\n\n',
  '\t',
  '  ',
  '-',
  '.',
  '...',
  '():',
  ' =',
  '/*',
  '://',
  '--',
  '[]',
  '{}',
  '""',
  "'",
  '0.',
];
const WIDE = Array.from('äéîñøßčşžабвгдежиклмнορτυχשלוםعربي日本語中文한국어');
const ASTRAL = Array.from('😀🌿🚀𝄞');

/**
 * Tokens like those of models, of which the first 256 are the bytes: words with and without a space,
 * numbers, marks of JSON and of programs, runs of spaces, characters of many scripts, and pieces of
 * UTF-8 that cut characters. The same seed gives the same tokens.
 */
export function randomTokens(count: number, seed: number): Uint8Array[] {
  const random = seededRandom(seed);
  const below = (end: number): number => Math.floor(random() * end);
  const pick = (items: readonly string[]): string => items[below(items.length)] ?? '';
  const many = (most: number, make: () => string): string =>
    Array.from({ length: 1 + below(most) }, make).join('');
  const syllables = SYLLABLES.split(' ');
  const word = (): string => many(4, () => pick(syllables));
  const capital = (): string => word().replace(/^./, (first) => first.toUpperCase());
  const kinds = [
    () => ` ${word()}`,
    () => ` ${word()}`,
    word,
    capital,
    () => ` ${capital()}`,
    () => many(3, () => String(below(10))),
    () => many(3, () => pick(MARKS)),
    () => `${pick(MARKS)}${word()}`,
    () => `${word()}${pick(MARKS)}`,
    () => pick([' ', '\n', '-', '=', '_']).repeat(1 + below(24)),
    () => many(3, () => pick(WIDE)),
    () => many(2, () => pick(ASTRAL)),
  ];
  const encoder = new TextEncoder();
  const tokens = new Map<string, Uint8Array>();
  const add = (bytes: Uint8Array): unknown => tokens.set(bytes.join(), bytes);
  for (let byte = 0; byte < 256; byte++) add(new Uint8Array([byte]));
  while (tokens.size < count) {
    const bytes = encoder.encode(kinds[below(kinds.length)]?.() ?? '');
    // Some pieces begin or end within a character.
    const isWide = bytes.some((byte) => byte >= 0x80);
    const cut = isWide && random() < 0.4 ? 1 + below(2) : 0;
    add(random() < 0.5 ? bytes.slice(cut) : bytes.slice(0, Math.max(1, bytes.length - cut)));
  }
  return [...tokens.values()].slice(0, count);
}
