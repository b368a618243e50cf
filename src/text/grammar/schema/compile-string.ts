import { UsageError } from '../../../core/errors.ts';
import { counted } from '../automaton/count-repetitions.ts';
import { type Expression, sequence, text } from '../expression.ts';
import { requireSize } from '../measure-expression.ts';
import { matchAnywhere, parseRegex, wholeMatch } from '../languages/regex.ts';
import { inJsonString, jsonString } from './json-string.ts';
import type { SchemaDocument } from './schema-document.ts';
import type { SchemaObject } from './schema-types.ts';
import { countWork } from '../../../core/limits/work-meter.ts';
import {
  integerWithin,
  JSON_INTEGER,
  JSON_NUMBER,
  type NumberBounds,
  numberWithin,
} from './json-number.ts';

/** Steps for a number with bounds, which has some thousand parts. */
const NUMBER_WORK = 10_000;

/** Numbers or integers, of at most 16 digits before the point, within bounds. */
export function compileNumber(
  schema: SchemaObject,
  type: 'number' | 'integer',
  document: SchemaDocument,
): Expression {
  const bound = (keyword: string) => document.numberAt(schema, keyword);
  const lower = [bound('minimum') ?? -Infinity, bound('exclusiveMinimum') ?? -Infinity] as const;
  const upper = [bound('maximum') ?? Infinity, bound('exclusiveMaximum') ?? Infinity] as const;
  const bounds: NumberBounds = {
    min: Math.max(...lower),
    max: Math.min(...upper),
    isMinExcluded: lower[1] >= lower[0] && lower[1] > -Infinity,
    isMaxExcluded: upper[1] <= upper[0] && upper[1] < Infinity,
  };
  const isBounded = bounds.min > -Infinity || bounds.max < Infinity;
  if (!isBounded) return type === 'integer' ? JSON_INTEGER : JSON_NUMBER;
  countWork(NUMBER_WORK);
  const where = document.pointer(schema);
  if (type === 'integer') return integerWithin(bounds, where);
  for (const keyword of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']) {
    const value = bound(keyword) ?? 0;
    if (Number.isInteger(value)) continue;
    throw document.unsupported(schema, keyword, `the bound ${value} of a number`, 'an integer');
  }
  return numberWithin(bounds, where);
}

const DAY_28 = '(?:0[1-9]|1[0-9]|2[0-8])';
const MONTH_DAY = `(?:(?:0[1-9]|1[0-2])-${DAY_28}|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)`;
/** Divisible by 4, but not by 100 unless by 400. */
const LEAP_YEAR = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)';
const DATE = `(?:[0-9]{4}-${MONTH_DAY}|${LEAP_YEAR}-02-29)`;
const CLOCK = '(?:[01][0-9]|2[0-3]):[0-5][0-9]';
const TIME = `${CLOCK}:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-]${CLOCK})`;
const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?';

/** Formats of strings in a JSON schema, as regular expressions. */
const STRING_FORMATS: Readonly<Record<string, string>> = {
  date: DATE,
  time: TIME,
  'date-time': `${DATE}T${TIME}`,
  uuid: '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}',
  email: `${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})+`,
  ipv4: `${OCTET}(?:\\.${OCTET}){3}`,
};

/** Strings with a number of code points, a pattern or a format. */
export function compileString(schema: SchemaObject, document: SchemaDocument): Expression {
  const min = document.countAt(schema, 'minLength');
  const max = document.countAt(schema, 'maxLength');
  const pattern = document.textAt(schema, 'pattern');
  const format = document.textAt(schema, 'format');
  const [other] = ['format', 'minLength', 'maxLength'].filter((name) =>
    Object.hasOwn(schema, name),
  );
  if (pattern !== undefined) {
    if (other !== undefined) throw together(document, schema, other, 'pattern');
    const where = document.pointer(schema, 'pattern');
    return requireSize(counted(quoted(matchAnywhere(parseRegex(pattern, { where })))), where);
  }
  if (format !== undefined) {
    if (min !== undefined || max !== undefined) {
      throw together(document, schema, min === undefined ? 'maxLength' : 'minLength', 'format');
    }
    if (!Object.hasOwn(STRING_FORMATS, format)) {
      const expected = `one of ${Object.keys(STRING_FORMATS).join(', ')}`;
      throw document.unsupported(schema, 'format', `the format ${format}`, expected);
    }
    return quoted(wholeMatch(parseRegex(STRING_FORMATS[format] ?? '', { where: format })));
  }
  if (min !== undefined && max !== undefined && min > max) {
    throw new UsageError({
      where: document.pointer(schema, 'minLength'),
      got: `${min}`,
      expected: `at most maxLength, ${max}`,
    });
  }
  return jsonString(min, max);
}

const quoted = (body: Expression): Expression => sequence(text('"'), inJsonString(body), text('"'));

function together(document: SchemaDocument, schema: SchemaObject, keyword: string, other: string) {
  return document.unsupported(schema, keyword, `${keyword} beside ${other}`, 'one of them');
}
