import {
  checkOptions,
  fits,
  type OptionKind,
  type OptionKinds,
  requireCount,
  requireKind,
} from '../../core/check-options.ts';
import { formatType } from '../../compiler/ir/type.ts';
import { type ArrayState, requireLive } from '../array-state.ts';
import { type Entry, placeOf, within } from '../call-site.ts';
import { LeastRecent } from '../runners/least-recent.ts';
import { type NdArray, wrap } from '../nd-array.ts';
import { ProgramCore } from '../program.ts';
import { currentFrame } from '../trace.ts';
import type { LeafSpec } from '../data/value-spec.ts';

/** As many draws stay compiled, one for each function, its settings and the types of its operands. */
const MOST_DRAWS = 64;

const DRAWS = new LeastRecent<ProgramCore>(MOST_DRAWS);

/** An interval of random numbers. */
export interface Range {
  /** The least number. Default 0. */
  readonly min?: number;
  /** Above all numbers. Default 1. */
  readonly max?: number;
}

const isHeld = (value: unknown): boolean => Number.isFinite(Math.fround(Number(value)));
const NUMBER: OptionKind = [
  'a number that float32 holds',
  (value) => typeof value === 'number' && isHeld(value),
];
const RANGE: OptionKinds<Range> = { min: NUMBER, max: NUMBER };
const SIZE: OptionKind = [
  'a size from 0 up, or its name',
  (value) => fits('count from 0', value) || /^(string|object)$/.test(typeof value),
];
const SETTINGS: Readonly<Record<string, OptionKind>> = {
  shape: [
    'a list of sizes',
    (value) => Array.isArray(value) && value.every((size) => fits(SIZE, size)),
  ],
  count: SIZE,
  size: SIZE,
};

/** A function of random numbers: operands, and settings that its operators depend on. */
interface Draw {
  readonly operands: () => readonly ArrayState[];
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The options of those of an interval, which is among the settings. */
  readonly range?: Range;
  /** What elements of the operand behind the key are, where the page gave them as float32. */
  readonly elements?: readonly [name: string, kind: OptionKind];
  readonly write: (operands: readonly ArrayState[]) => ArrayState;
}

/** Writes a function of random numbers into the body of a program, or runs it as a program of its own. */
export function draw(
  entry: Entry,
  args: ArrayLike<unknown>,
  { operands: given, settings = {}, range, elements, write }: Draw,
): NdArray {
  return within(entry, () => {
    // A bundler may rename functions of one name.
    const name = `random.${entry.name.replace(/\$.*/, '')}`;
    const where = placeOf(name);
    for (const [name, value] of Object.entries(settings)) {
      const kind = SETTINGS[name];
      if (kind) requireKind(where, kind, [name, value]);
    }
    if (range !== undefined) {
      checkOptions(where, range, RANGE);
      const { min, max } = settings;
      const isAbove = Number(max) >= Number(min) && isHeld(Number(max) - Number(min));
      const expected = 'at least min, at a distance that float32 holds';
      requireKind(where, [expected, () => isAbove], ['max', max]);
    }
    const operands = given();
    const [, other] = operands;
    if (elements && other?.type.dtype === 'float32') {
      const [name, kind] = elements;
      for (const value of other.given?.data ?? []) requireKind(where, kind, [name, value]);
    }
    // Least and most are one argument.
    requireCount(where, args, operands.length + Object.keys(settings).length - (range ? 1 : 0));
    if (currentFrame() !== undefined) return wrap(write(operands));
    for (const operand of operands) requireLive(operand);
    const types = operands.map(({ type }) => formatType(type)).join(' ');
    const key = `${entry.name} ${types} ${JSON.stringify(settings)}`;
    const core = DRAWS.of(key, () => {
      const params = operands.map(({ type }): LeafSpec => ({ ...type, kind: 'array' }));
      const body = (args: readonly NdArray[]): NdArray =>
        within(entry, () => wrap(write(args.map(({ state }) => state))));
      const source = { params, result: undefined, body, options: { name: entry.name } };
      return new ProgramCore({ ...source, isShared: true });
    });
    return core.call(operands.map(wrap)) as NdArray;
  });
}
