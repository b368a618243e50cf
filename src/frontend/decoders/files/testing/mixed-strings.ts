import { seededRandom } from '../../../../core/random.ts';

/** Parts of strings that tokenizers are known to cut in different ways. */
const PARTS: readonly (readonly string[])[] = [
  [
    'Hello',
    'world',
    'The',
    'quick',
    'brown',
    'fox',
    'don',
    'HTTPServer',
    'camelCase',
    'ÄRGER',
    'straße',
    'İstanbul',
  ],
  ["don't", "I'M", "you'RE", "we'Ve", "they'll", "it's", "'s", "'", "''", "l'été", "o'ſ", "'ſ"],
  [
    'Привет',
    'мир',
    'Γειά',
    'שלום',
    'مرحبا',
    'नमस्ते',
    'สวัสดี',
    '你好',
    '世界',
    '日本語',
    'カタカナ',
    '안녕하세요',
    'ǅ',
    'ʰ',
  ],
  ['e\u0301', 'n\u0303o', '\u0300', 'क्षि', 'Å', '\u212b', 'ﬁ', '\u01c5x'],
  ['😀', '👍🏽', '👩‍👩‍👧‍👦', '🇩🇪', '❤️', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '𝒳', '𐍈', '🫠'],
  ['0', '7', '42', '123', '2024', '1234567', '3.14', '1,000', '٣٤', '²', '½', 'Ⅷ', '①'],
  [
    ' ',
    '  ',
    '   ',
    '\t',
    '\n',
    '\n\n',
    '\r\n',
    '\n \n',
    ' \n',
    '\t\t ',
    '\u00a0',
    '\u3000',
    '\u0085',
    '\u2028',
    '\u200b',
    '\ufeff',
  ],
  [
    '.',
    ',',
    '!',
    '?',
    '...',
    '!!',
    '(',
    ')',
    '[]',
    '{}',
    '"',
    '—',
    '…',
    '。',
    '、',
    '«',
    '»',
    '#',
    '$',
    '€',
    '+',
    '==',
    '<',
    '>',
    '/',
    '\\',
    '`',
    '~',
    '^',
    '|',
    '_',
    '__',
    '@',
    '&',
    '*',
    '%',
    '://',
  ],
  [
    '▁',
    '▁▁',
    'Ġ',
    '<0x41>',
    '<|',
    '|>',
    '<s',
    '[INST',
    'ï¿½',
    '\ufffd',
    '\u0001',
    '\u007f',
    '\u00ad',
  ],
];

/** Ranges of code points of which single ones are drawn, surrogates left out. */
const RANGES = [
  [0x20, 0x7f],
  [0xa0, 0x250],
  [0x370, 0x600],
  [0x900, 0xe80],
  [0x2000, 0x2c00],
  [0x3000, 0xa000],
  [0x10000, 0x10400],
  [0x1f300, 0x1fb00],
] as const;

/**
 * Strings of mixed scripts, blanks, signs, emoji and tokens of a model, `count` of them: the same for the same seed. Parts are
 * joined with blanks between them or without.
 */
export function mixedStrings(
  count: number,
  { seed = 1, tokens = [] }: { readonly seed?: number; readonly tokens?: readonly string[] } = {},
): string[] {
  const random = seededRandom(seed);
  const below = (end: number): number => Math.floor(random() * end);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const part = (): string => {
    const kind = below(PARTS.length + 4);
    const listed = PARTS[kind];
    if (listed !== undefined) return pick(listed);
    if (kind === PARTS.length && tokens.length > 0) return pick(tokens);
    if (kind === PARTS.length + 1) return String.fromCodePoint(codePoint(pick(RANGES), random()));
    const letters = kind === PARTS.length + 2 ? 'abcdefghij' : 'etaoinshrdlu';
    return Array.from({ length: 1 + below(8) }, () => pick(Array.from(letters))).join('');
  };
  return Array.from({ length: count }, () => {
    const glue = pick(['', '', ' ']);
    return Array.from({ length: 1 + below(12) }, part).join(glue);
  });
}

function codePoint([begin, end]: readonly [number, number], at: number): number {
  return begin + Math.floor(at * (end - begin));
}
