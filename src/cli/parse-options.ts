import { InvalidArgumentError, Option } from 'commander';
import type { DevicePair } from '../compiler/compile.ts';
import type { NodeTypes } from '../core/contracts/node-function.ts';
import { type CompileLimits, requireLimits } from '../core/limits/compile-limits.ts';

/** One `NAME=VALUE` of a repeatable option, gathered into a record. */
export function collectPairs(
  pair: string,
  previous: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const at = pair.indexOf('=');
  if (at <= 0 || at === pair.length - 1) {
    throw new InvalidArgumentError('Write it as NAME=VALUE.');
  }
  return { ...previous, [pair.slice(0, at)]: pair.slice(at + 1) };
}

/** As {@link collectPairs}, for `my.domain::Op=fn (…) -> …`: types of functions that compute nodes. */
export function collectNodeTypes(pair: string, previous: NodeTypes = {}): NodeTypes {
  const types = Object.entries(collectPairs(pair)).map(([name, type]) => [name, { type }]);
  return { ...previous, ...Object.fromEntries(types) };
}

/** As {@link collectPairs}, for `NAME=N` with N an integer from 0 up. */
export function collectDims(
  pair: string,
  previous: Readonly<Record<string, number>> = {},
): Record<string, number> {
  const pairs = Object.entries(collectPairs(pair));
  const dims = pairs.map(([name, text]): [string, number] => {
    if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Write it as NAME=N, N an integer.');
    return [name, Number(text)];
  });
  return { ...previous, ...Object.fromEntries(dims) };
}

/** As {@link collectPairs}, for limits of compiling: `nodes=200000`, `milliseconds=none`. */
export function collectLimits(pair: string, previous: CompileLimits = {}): CompileLimits {
  const limits = { ...previous };
  for (const [name, text] of Object.entries(collectPairs(pair))) {
    const value = text === 'none' ? Infinity : Number(text);
    if (!(value > 0)) throw new InvalidArgumentError('Write it as NAME=N, or NAME=none.');
    Object.assign(limits, { [name]: value });
  }
  requireLimits(limits);
  return limits;
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value >= 0)) throw new InvalidArgumentError('It has to be a number from 0 up.');
  return value;
}

const BYTE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
};

/** Bytes as people write them: `300000`, `500MB`, `1.5GiB`. */
function parseBytes(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?) ?([kKMG]i?B)?$/.exec(text) ?? [];
  const byteLength = Math.floor(Number(digits) * (BYTE_UNITS[unit] ?? Number.NaN));
  if (byteLength > 0) return byteLength;
  throw new InvalidArgumentError('Write it as a number of bytes, or as 64MiB or 500MB.');
}

/** The most memory that a program may take. */
export const budgetOption = (): Option =>
  new Option('--budget <BYTES>', 'the most memory that it may take: 500MB, 1.5GiB').argParser(
    parseBytes,
  );

/** The option of compiling for so many bytes: `300000`, `64MiB`. */
export function memoryBudgetOption(): Option {
  return new Option(
    '--memory-budget <BYTES>',
    'compute values again rather than hold more in a function; also 64MiB, 1.5GiB',
  ).argParser(parseBytes);
}

/** Names with commas between them, of an option that may be given more than once. */
export function splitNames(text: string, previous: readonly string[] = []): string[] {
  const names = text.split(',').map((name) => name.trim());
  return [...previous, ...names.filter((name) => name !== '')];
}

export function parseDevices(text: string): DevicePair {
  if (text !== 'webgpu,wasm') throw new InvalidArgumentError('Write webgpu,wasm.');
  return ['webgpu', 'wasm'];
}

const DEVICES = ['auto', 'host', 'wasm', 'webgpu', 'browser'] as const;
type DeviceName = (typeof DEVICES)[number];

/** Devices with commas between them. */
export function deviceNames(text: string): readonly DeviceName[] {
  const names = splitNames(text);
  const known = names.filter((name): name is DeviceName => DEVICES.some((one) => one === name));
  if (known.length === names.length && names.length > 0) return known;
  throw new InvalidArgumentError(`Write some of ${DEVICES.join(', ')}.`);
}

/** `--threads N`, of the device `wasm`. */
export const threadsOption = (): Option =>
  new Option(
    '--threads <n>',
    'threads of wasm, 1 to 64; default: all cores but one, at most 8',
  ).argParser(threadNumber);

function threadNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 64) return value;
  throw new InvalidArgumentError('It has to be an integer from 1 to 64.');
}

/** Files with inputs, for commands that draw all others. */
export const inputsOption = (): Option =>
  new Option(
    '-i, --input <NAME=FILE>',
    'a .pb, .npy or .json file (a number for an int or float input); repeatable; others are random',
  ).argParser(collectPairs);
