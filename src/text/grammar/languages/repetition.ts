import { type Expression, repeat } from '../expression.ts';
import type { TextCursor } from './text-cursor.ts';

const BOUNDS = /\{(\d+)(?:(,)(\d*))?\}/y;

/** Parses what may follow a part of a grammar or regular expression: `*`, `+`, `?`, `{m}`, `{m,}`, `{m,n}`. */
export function parseRepetition(cursor: TextCursor, body: Expression): Expression {
  const start = cursor.at;
  if (cursor.take('*')) return repeat(body, 0);
  if (cursor.take('+')) return repeat(body, 1);
  if (cursor.take('?')) return repeat(body, 0, 1);
  const bounds = cursor.match(BOUNDS);
  if (bounds === undefined) return body;
  const [, first, comma, last] = bounds;
  const min = Number(first);
  const max = comma === undefined ? min : last === '' ? Number.POSITIVE_INFINITY : Number(last);
  if (min > max)
    throw cursor.error('a first number that is not above the second', bounds[0], start);
  return repeat(body, min, max);
}
