import { FormatError } from '../../../core/errors.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** Returns true if a value of JSON is an object. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text that is one object of JSON. Throws FormatError for any other. */
export function parseJson(text: string, where: string): JsonRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const got = cause instanceof Error ? cause.message : 'another text';
    throw new FormatError({ where, got, expected: 'JSON' }, { cause });
  }
  if (isRecord(value)) return value;
  throw new FormatError({ where, got: 'JSON of another kind', expected: 'an object of JSON' });
}
