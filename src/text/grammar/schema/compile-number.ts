import { countWork } from '../../../core/limits/work-meter.ts';
import type { Expression } from '../expression.ts';
import {
  integerWithin,
  JSON_INTEGER,
  JSON_NUMBER,
  type NumberBounds,
  numberWithin,
} from './json-number.ts';
import type { SchemaDocument } from './schema-document.ts';
import type { SchemaObject } from './schema-types.ts';

/** Steps for a number with bounds, which has some thousand parts. */
const WORK = 10_000;

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
  countWork(WORK);
  const where = document.pointer(schema);
  if (type === 'integer') return integerWithin(bounds, where);
  for (const keyword of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']) {
    const value = bound(keyword) ?? 0;
    if (Number.isInteger(value)) continue;
    throw document.unsupported(schema, keyword, `the bound ${value} of a number`, 'an integer');
  }
  return numberWithin(bounds, where);
}
