import { ALL_DTYPES } from './tensor/dtype.ts';
import { UsageError } from './errors.ts';
import { nearestName } from './nearest-name.ts';

/** The values that an option may have, in words, the test for them, and the words that it may be. */
type OwnKind = readonly [
  expected: string,
  fits: (value: unknown) => boolean,
  words?: readonly string[],
];

/** One of those that many options share, or an own one. */
export type OptionKind = keyof typeof KINDS | OwnKind;

/** A kind for each option of a type: one that is missing here does not compile. */
export type OptionKinds<Options> = { readonly [Name in keyof Required<Options>]: OptionKind };

const isNumber = (value: unknown): value is number => typeof value === 'number' && value === value;
const isText = (value: unknown): boolean => typeof value === 'string';
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
/** An object with fields of its own, or without any a plain one: a Promise, a Map or a signal has none to read. */
const isPlain = (value: unknown): value is object =>
  isObject(value) &&
  !Array.isArray(value) &&
  !ArrayBuffer.isView(value) &&
  (Object.keys(value).length > 0 || textOf(value) === '{}');
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isFunction = (value: unknown): boolean => typeof value === 'function';
const hasMethod = (value: unknown, name: string): boolean =>
  isFunction(Reflect.get(Object(value), name));

const KINDS = {
  boolean: ['true or false', (value) => typeof value === 'boolean'],
  function: ['a function', isFunction],
  object: ['an object', isPlain],
  list: ['a list', Array.isArray],
  numbers: ['a list of numbers', (value) => Array.isArray(value) || ArrayBuffer.isView(value)],
  text: ['a string', isText],
  names: ['a list of names', (value) => Array.isArray(value) && value.every(isText)],
  address: ['a string or a URL', (value) => isText(value) || value instanceof URL],
  number: ['a number', isNumber],
  positive: ['a number above 0', (value) => isNumber(value) && value > 0],
  bytes: ['bytes, above 0', (value) => isNumber(value) && value > 0],
  milliseconds: ['milliseconds above 0', (value) => Number.isFinite(value) && Number(value) > 0],
  integer: ['an integer', Number.isSafeInteger],
  count: ['an integer from 1 up', (value) => isCount(value) && value !== 0],
  'count from 0': ['an integer from 0 up', isCount],
  shape: ['a list of sizes from 0 up', (value) => Array.isArray(value) && value.every(isCount)],
  dtype: [
    `one of ${ALL_DTYPES.join(', ')}`,
    (value) => (ALL_DTYPES as readonly unknown[]).includes(value),
    ALL_DTYPES,
  ],
  // Of another realm, such as a frame's, it is no instance of this one's class.
  signal: [
    'an AbortSignal',
    (value) => isObject(value) && 'aborted' in value && 'addEventListener' in value,
  ],
  /** By the names of dimensions. */
  sizes: [
    'integers from 0 up, by the names of dimensions',
    (value) => isPlain(value) && Object.values(value).every(isCount),
  ],
  operators: ['new Operators([…]) of weft-vm/operators', (value) => hasMethod(value, 'get')],
} satisfies Readonly<Record<string, OwnKind>>;

const ownKind = (kind: OptionKind): OwnKind => (typeof kind === 'string' ? KINDS[kind] : kind);

export function fits(kind: OptionKind, value: unknown): boolean {
  return ownKind(kind)[1](value);
}

export function oneOf(...words: readonly string[]): OptionKind {
  return [
    words.map((word) => `"${word}"`).join(' or '),
    (value) => words.includes(value as string),
    words,
  ];
}

export function listOf(kind: OptionKind): OptionKind {
  const isOne = (value: unknown): boolean => fits(kind, value);
  return [
    `a list, each ${ownKind(kind)[0]}`,
    (value) => Array.isArray(value) && value.every(isOne),
  ];
}

export function either(one: OptionKind, other: OptionKind): OptionKind {
  const expected = `${ownKind(one)[0]} or ${ownKind(other)[0]}`;
  return [expected, (value) => fits(one, value) || fits(other, value)];
}

export function someOf(all: object): OptionKind {
  const names = Object.keys(all);
  return [
    `an object of ${names.join(', ')}`,
    (value) => isPlain(value) && Object.keys(value).every((name) => names.includes(name)),
  ];
}

export function instanceOf(
  expected: string,
  type: abstract new (...args: never[]) => unknown,
): OptionKind {
  return [expected, (value) => value instanceof type];
}

export function having(expected: string, ...methods: readonly string[]): OptionKind {
  return [expected, (value) => methods.every((name) => hasMethod(value, name))];
}

/** WebGPU, or a device of it. */
export const GPU_KIND: OptionKind = [
  'a GPU or a GPUDevice',
  (value) => hasMethod(value, 'requestAdapter') || hasMethod(value, 'createBuffer'),
];

export const THREADS_KIND: OptionKind = [
  'an integer from 1 to 64',
  (value) => fits('count', value) && Number(value) <= 64,
];

/** Where a call stands: that of a program is looked up when it is told. */
type Where = string | (() => string);

/** Throws UsageError for an option that does not exist, with the nearest one, or has a value of another kind. */
export function checkOptions<Options extends object>(
  where: Where,
  options: Options,
  kinds: OptionKinds<Options>,
): void {
  if (!isPlain(options)) {
    throw wrong(where, describe(options), 'an object with options');
  }
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name as keyof Options] : undefined;
    if (kind === undefined) {
      const names = Object.keys(kinds);
      const got = `an unknown option ${describe(name)}`;
      throw wrong(where, got, `only ${names.join(', ')}`, nearestName(name, names));
    }
    if (value !== undefined) requireKind(where, kind, [name, value]);
  }
}

/** Throws UsageError for the value of an option, or an argument, of another kind. */
export function requireKind(
  where: Where,
  kind: OptionKind,
  [name, value]: readonly [name: string, value: unknown],
): void {
  const [expected, isGood, words] = ownKind(kind);
  if (isGood(value)) return;
  const remedy = words && nearestName(String(value), words);
  throw wrong(where, `${name} ${describe(value)}`, expected, remedy);
}

/** Throws UsageError for more arguments than a function takes, which JavaScript drops. */
export function requireCount(where: Where, { length }: ArrayLike<unknown>, most: number): void {
  if (length > most) throw wrong(where, `${length} arguments`, `at most ${most}`);
}

/** Throws UsageError for a constructor that the caller called, in place of what makes such objects. */
export function requireMaker(maker: string, isMade: boolean): void {
  if (!isMade) throw wrong(maker, 'a call of the constructor', `${maker}(…)`);
}

/** Throws UsageError for what is no bytes of a file. */
export function requireBytes(where: string, bytes: unknown): void {
  const isBytes = ArrayBuffer.isView(bytes) && Reflect.get(bytes, 'BYTES_PER_ELEMENT') === 1;
  requireKind(where, ['a Uint8Array', () => isBytes], ['bytes that are', bytes]);
}

function wrong(
  ...[where, got, expected, remedy]: readonly [Where, string, string, string?]
): UsageError {
  const place = typeof where === 'string' ? where : where();
  return new UsageError({ where: place, got, expected, remedy });
}

/** The most of a value that a message shows. */
const SHOWN = 80;

/** A value as a message shows it: what it is where it is long. */
export function describe(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (!isObject(value)) {
    return cut(typeof value === 'string' ? JSON.stringify(value) : String(value));
  }
  try {
    return cut(textOf(value));
  } catch {
    // It holds itself, or a bigint.
    return 'an object';
  }
}

function textOf(value: object): string {
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1);
  if (!/^(Object|Array)$/.test(tag)) return `${/^[AEIO]/.test(tag) ? 'an' : 'a'} ${tag}`;
  if (Array.isArray(value)) {
    return value.length > SHOWN ? `an array of ${value.length}` : jsonOf(value);
  }
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
  if (isPlain) return jsonOf(value);
  const { toString } = value as { readonly toString: () => string };
  return toString === Object.prototype.toString ? 'an object' : toString.call(value);
}

/** Parts that are no plain data are described. */
function jsonOf(value: object): string {
  return JSON.stringify(value, (_, part: unknown) => {
    const isOwn = part === value || !isObject(part) || Array.isArray(part);
    const isPlain = isOwn || Object.getPrototypeOf(part) === Object.prototype;
    return isPlain && typeof part !== 'function' ? part : describe(part);
  });
}

function cut(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text;
}
