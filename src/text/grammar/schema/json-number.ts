import { UsageError } from '../../../core/errors.ts';
import {
  character,
  choice,
  type Expression,
  optional,
  repeat,
  sequence,
  text,
} from '../expression.ts';

/** Bounds of a number; those that are missing are infinite. */
export interface NumberBounds {
  readonly min: number;
  readonly max: number;
  readonly isMinExcluded: boolean;
  readonly isMaxExcluded: boolean;
}

/** Digits before the point, and at most behind it: the values are finite, and a model cannot go on forever. */
const MAX_DIGITS = 16;
/** Decimal digits that a double always keeps, so that what is below a bound as text is not rounded to it. */
const EXACT_DIGITS = 15;

const digits = (first: number, last: number): Expression =>
  character(first > last ? [] : [[0x30 + first, 0x30 + last]]);
const DIGIT = digits(0, 9);
const WHOLE = choice(text('0'), sequence(digits(1, 9), repeat(DIGIT, 0, MAX_DIGITS - 1)));

const LARGEST = 10 ** MAX_DIGITS - 1;

/** A JSON number, of at most 16 digits before and behind its point and an exponent of two. */
export const JSON_NUMBER = sequence(
  optional(text('-')),
  WHOLE,
  optional(sequence(text('.'), repeat(DIGIT, 1, MAX_DIGITS))),
  optional(
    sequence(
      choice(text('e'), text('E')),
      optional(choice(text('+'), text('-'))),
      repeat(DIGIT, 1, 2),
    ),
  ),
);

/** An integer of at most 16 digits. */
export const JSON_INTEGER = choice(
  WHOLE,
  sequence(text('-'), digits(1, 9), repeat(DIGIT, 0, MAX_DIGITS - 1)),
);

/** The integers within bounds. Throws UsageError if there are none. */
export function integerWithin(bounds: NumberBounds, where: string): Expression {
  const { min, max, isMinExcluded, isMaxExcluded } = bounds;
  const first = Math.ceil(min) + (isMinExcluded && Number.isInteger(min) ? 1 : 0);
  const last = Math.floor(max) - (isMaxExcluded && Number.isInteger(max) ? 1 : 0);
  const options = [
    ...naturals(Math.max(0, first), last),
    ...naturals(Math.max(1, -last), -first).map((natural) => sequence(text('-'), natural)),
  ];
  if (options.length === 0) throw noNumber(bounds, where);
  return choice(...options);
}

/** The numbers within bounds that are integers, without exponents. Throws UsageError if there are none. */
export function numberWithin(bounds: NumberBounds, where: string): Expression {
  const { min, max, isMinExcluded, isMaxExcluded } = bounds;
  const positive = magnitudes({
    min: Math.max(0, min),
    max,
    isMinExcluded: isMinExcluded && min >= 0,
    isMaxExcluded,
  });
  const negative = magnitudes({
    min: Math.max(0, -max),
    max: -min,
    isMinExcluded: max >= 0 || isMaxExcluded,
    isMaxExcluded: isMinExcluded,
  });
  const options = [...positive, ...negative.map((magnitude) => sequence(text('-'), magnitude))];
  if (options.length === 0) throw noNumber(bounds, where);
  return choice(...options);
}

/** Alternatives for the numbers between two integers that are not negative. */
function magnitudes({ min, max, isMinExcluded, isMaxExcluded }: NumberBounds): Expression[] {
  if (min > Math.min(max, LARGEST) || (min === max && (isMinExcluded || isMaxExcluded))) return [];
  const bound = max === Number.POSITIVE_INFINITY ? min : max;
  const places = Math.max(0, EXACT_DIGITS - String(bound).length);
  const zero = optional(sequence(text('.'), repeat(text('0'), 1, places)));
  if (min === max) return [sequence(text(String(min)), zero)];
  const any = optional(sequence(text('.'), repeat(DIGIT, 1, places)));
  const atMin = sequence(text(String(min)), isMinExcluded ? nonzeroFraction(places) : any);
  const between = naturals(min + 1, max - 1).map((natural) => sequence(natural, any));
  const atMax = isMaxExcluded || max > LARGEST ? [] : [sequence(text(String(max)), zero)];
  return [atMin, ...between, ...atMax];
}

/** A point and up to so many digits, one of which is not zero. */
function nonzeroFraction(places: number): Expression {
  const options = Array.from({ length: places }, (_, zeros) =>
    sequence(text('0'.repeat(zeros)), digits(1, 9), repeat(DIGIT, 0, places - 1 - zeros)),
  );
  return sequence(text('.'), choice(...options));
}

/** Alternatives for the integers from `first` to `last`, neither negative, one for each number of digits. */
function naturals(first: number, last: number): Expression[] {
  const lowest = String(first);
  const highest = String(Math.min(last, LARGEST));
  if (first > Math.min(last, LARGEST)) return [];
  const options: Expression[] = [];
  for (let length = lowest.length; length <= highest.length; length++) {
    const from = length === lowest.length ? lowest : `1${'0'.repeat(length - 1)}`;
    const to = length === highest.length ? highest : '9'.repeat(length);
    options.push(digitsBetween(from, to));
  }
  return options;
}

/** Decimal numbers between two of as many digits. */
function digitsBetween(from: string, to: string): Expression {
  if (/^0*$/.test(from) && /^9*$/.test(to)) return repeat(DIGIT, to.length, to.length);
  const [first, last] = [Number(from[0]), Number(to[0])];
  const [fromRest, toRest] = [from.slice(1), to.slice(1)];
  if (first === last) return sequence(digits(first, first), digitsBetween(fromRest, toRest));
  const zeros = fromRest.replace(/./g, '0');
  const nines = toRest.replace(/./g, '9');
  return choice(
    sequence(digits(first, first), digitsBetween(fromRest, nines)),
    sequence(digits(first + 1, last - 1), digitsBetween(zeros, nines)),
    sequence(digits(last, last), digitsBetween(zeros, toRest)),
  );
}

function noNumber({ min, max }: NumberBounds, where: string): UsageError {
  return new UsageError({
    where,
    got: `no number from ${min} to ${max}`,
    expected: 'at least one',
  });
}
