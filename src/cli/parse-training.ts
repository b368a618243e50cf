import { InvalidArgumentError } from 'commander';
import {
  LOSS_ATTRIBUTES,
  type LossName,
  OPTIMIZER_SIGNATURES,
  type OptimizerName,
  type OptimizerSignature,
  SCHEDULE_ATTRIBUTES,
  type ScheduleName,
} from '../compiler/ir/operators/training-operators.ts';
import type { Attributes, AttributeValue } from '../core/contracts/primitive-function.ts';

/** An operator of training with settings, as `adamw:decay=0.1,beta2=0.95` writes it. */
interface WrittenSetting<Name extends string> {
  readonly name: Name;
  readonly settings: Attributes;
}

type Specs = OptimizerSignature['attributes'];
type AttributeSpec = Specs[string];

/** The losses by their names on the command line. */
export const LOSSES: Readonly<Record<string, { name: LossName | 'output'; attributes: Specs }>> = {
  ...Object.fromEntries(
    Object.entries(LOSS_ATTRIBUTES).map(([name, attributes]) => [
      dashed(name),
      { name: name as LossName, attributes },
    ]),
  ),
  output: { name: 'output', attributes: {} },
};

/** The optimisers by their names on the command line. */
export const OPTIMIZERS = Object.fromEntries(
  Object.entries(OPTIMIZER_SIGNATURES).map(([name, { attributes }]) => [
    name,
    { name: name as OptimizerName, attributes },
  ]),
);

/** The schedules by their names on the command line. */
export const SCHEDULES = Object.fromEntries(
  Object.entries(SCHEDULE_ATTRIBUTES).map(([name, attributes]) => [
    dashed(name.replace(/_rate$/, '')),
    { name: name as ScheduleName, attributes: withoutRate(attributes) },
  ]),
);

/** The rate has an option of its own. */
function withoutRate(attributes: Specs): Specs {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => name !== 'rate'));
}

/** `cross-entropy:smoothing=0.1`. Throws InvalidArgumentError. */
export const parseLoss = (text: string) => parseSetting(text, LOSSES);

/** `adamw:decay=0.1`. Throws InvalidArgumentError. */
export const parseOptimizer = (text: string) => parseSetting(text, OPTIMIZERS);

/** `cosine:steps=1000,warmup=100`. Throws InvalidArgumentError. */
export const parseSchedule = (text: string) => parseSetting(text, SCHEDULES);

/** A number above 0, or `input`. */
export function parseRate(text: string): number | 'input' {
  if (text === 'input') return text;
  return positive(text, 'a number above 0, or input');
}

/** A number above 0, or `dynamic`. */
export function parseLossScale(text: string): number | 'dynamic' {
  if (text === 'dynamic') return text;
  return positive(text, 'a number above 0, or dynamic');
}

/** Parses limits of gradients: `norm=1,value=0.5`. */
export function parseClip(text: string): { norm?: number; value?: number } {
  const limits: { norm?: number; value?: number } = {};
  for (const [name, value] of pairsOf(text)) {
    if (name !== 'norm' && name !== 'value') {
      throw new InvalidArgumentError('Write it as norm=NUMBER, value=NUMBER or both with a comma.');
    }
    limits[name] = positive(value, 'a number above 0');
  }
  return limits;
}

/** Parses the rank of adapters: `RANK` or `RANK:ALPHA`. */
export function parseLora(text: string): { rank: number; alpha?: number } {
  const [rank = '', alpha] = text.split(':');
  if (!/^[1-9]\d*$/.test(rank)) throw new InvalidArgumentError('Write it as RANK or RANK:ALPHA.');
  if (alpha === undefined) return { rank: Number(rank) };
  return { rank: Number(rank), alpha: positive(alpha, 'RANK:ALPHA, ALPHA above 0') };
}

/** Parses an integer from 1 on. */
export function parseCount(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It has to be an integer from 1 on.');
}

function parseSetting<Name extends string>(
  text: string,
  known: Readonly<Record<string, { readonly name: Name; readonly attributes: Specs }>>,
): WrittenSetting<Name> {
  const at = text.indexOf(':');
  const word = at < 0 ? text : text.slice(0, at);
  const entry = Object.hasOwn(known, word) ? known[word] : undefined;
  if (entry === undefined) {
    throw new InvalidArgumentError(`Expected one of ${Object.keys(known).join(', ')}.`);
  }
  const settings: Record<string, AttributeValue> = {};
  for (const [name, value] of at < 0 ? [] : pairsOf(text.slice(at + 1))) {
    const spec = Object.hasOwn(entry.attributes, name) ? entry.attributes[name] : undefined;
    if (spec === undefined) {
      const names = Object.keys(entry.attributes).join(', ');
      throw new InvalidArgumentError(
        `${word} has no setting ${name}; ${names === '' ? 'it has none' : `it has ${names}`}.`,
      );
    }
    settings[name] = valueOf(value, spec);
  }
  const missing = Object.entries(entry.attributes).find(
    ([name, spec]) => spec.default === undefined && settings[name] === undefined,
  );
  if (missing !== undefined) {
    throw new InvalidArgumentError(`${word} needs ${missing[0]}: ${word}:${missing[0]}=1000.`);
  }
  return { name: entry.name, settings };
}

function valueOf(text: string, { type }: AttributeSpec): AttributeValue {
  if (type === 'bool') {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new InvalidArgumentError('Write true or false.');
  }
  const value = Number(text);
  const isValid = type === 'int' ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (text !== '' && isValid) return value;
  throw new InvalidArgumentError(`${text} is no ${type === 'int' ? 'integer' : 'number'}.`);
}

function pairsOf(text: string): [string, string][] {
  return text.split(',').map((pair) => {
    const at = pair.indexOf('=');
    if (at <= 0) throw new InvalidArgumentError('Write settings as NAME=VALUE, with commas.');
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
}

function positive(text: string, expected: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError(`Expected ${expected}.`);
}

function dashed(name: string): string {
  return name.replaceAll('_', '-');
}
