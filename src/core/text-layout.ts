/** Constants that the program which generates text shares with the page that runs it. */

/** Tokens that one call generates. */
export const CHUNK = 8;

/** Tokens that one call verifies: what is drawn behind the last one fills a chunk. */
export const GUESSES = CHUNK - 1;

/** Bits of the int `options` of `main`: what a draw has to mind. `topK` and `topP` count with `filters`. */
export const OPTIONS = {
  penalties: 1,
  filters: 2,
  grammar: 4,
  noise: 8,
  topK: 16,
  topP: 32,
} as const;

/** Columns of `settings`, float32, one row for each text. */
export const SETTINGS = [
  'inverseTemperature',
  'noise',
  'topK',
  'topP',
  'minP',
  'repetition',
  'presence',
  'frequency',
] as const;

export type SettingName = (typeof SETTINGS)[number];

/** Tokens in a word of `allowed`, from the low bit up. */
export const WORD_BITS = 32;

/** Types that caches of keys and values may be given; otherwise they have the model's own. */
export const CACHE_TYPES = ['float16', 'int8'] as const;

export type CacheType = (typeof CACHE_TYPES)[number];
