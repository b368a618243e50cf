import { UsageError } from '../core/errors.ts';

/** The values that an option may have, in words, and the test for them. */
export type OptionKind = readonly [expected: string, fits: (value: unknown) => boolean];

/** A kind for each option of a type: one that is missing here does not compile. */
export type OptionKinds<Options> = { readonly [Name in keyof Required<Options>]: OptionKind };

const isNumber = (value: unknown): value is number => typeof value === 'number';
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

export const BOOLEAN: OptionKind = ['true or false', (value) => typeof value === 'boolean'];
export const FUNCTION: OptionKind = ['a function', (value) => typeof value === 'function'];
export const OBJECT: OptionKind = ['an object', isObject];
export const TEXT: OptionKind = ['a string', (value) => typeof value === 'string'];
export const ADDRESS: OptionKind = [
  'a string or a URL',
  (value) => typeof value === 'string' || value instanceof URL,
];
export const BYTES: OptionKind = ['bytes, above 0', (value) => isNumber(value) && value > 0];
export const POSITIVE: OptionKind = ['a number above 0', (value) => isNumber(value) && value > 0];
export const MILLISECONDS: OptionKind = [
  'milliseconds above 0',
  (value) => Number.isFinite(value) && Number(value) > 0,
];
export const COUNT: OptionKind = [
  'an integer from 1 up',
  (value) => Number.isSafeInteger(value) && Number(value) > 0,
];
export const NAMES: OptionKind = ['a list of names', Array.isArray];
// Of another realm, such as a frame's, it is no instance of this one's class.
export const SIGNAL: OptionKind = [
  'an AbortSignal',
  (value) => isObject(value) && 'aborted' in value && 'addEventListener' in value,
];
export const SIGNAL_OPTIONS: OptionKinds<{ signal?: AbortSignal }> = { signal: SIGNAL };
/** Sizes by the names of dimensions. */
export const SIZES: OptionKind = [
  'integers from 0 up, by the names of dimensions',
  (value) =>
    isObject(value) &&
    Object.values(value).every((size) => Number.isSafeInteger(size) && Number(size) >= 0),
];

/** One of a few words. */
export function oneOf(...words: readonly string[]): OptionKind {
  return [
    words.map((word) => `"${word}"`).join(' or '),
    (value) => words.includes(value as string),
  ];
}

/** Either of two kinds. */
export function either([one, fitsOne]: OptionKind, [other, fitsOther]: OptionKind): OptionKind {
  return [`${one} or ${other}`, (value) => fitsOne(value) || fitsOther(value)];
}

/** Throws UsageError for an option that does not exist or has a value of another kind. */
export function checkOptions<Options extends object>(
  where: string,
  options: Options,
  kinds: OptionKinds<Options>,
): void {
  if (!isObject(options)) {
    throw new UsageError({ where, got: describe(options), expected: 'an object with options' });
  }
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name as keyof Options] : undefined;
    if (kind === undefined) {
      const got = `an unknown option ${JSON.stringify(name)}`;
      throw new UsageError({ where, got, expected: `only ${Object.keys(kinds).join(', ')}` });
    }
    const [expected, fits] = kind;
    if (value !== undefined && !fits(value)) {
      throw new UsageError({ where, got: `${name} ${describe(value)}`, expected });
    }
  }
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return 'a function';
  if (!isObject(value)) return String(value);
  try {
    return JSON.stringify(value).slice(0, 100);
  } catch {
    return 'an object';
  }
}
