import { expect, test } from 'vitest';
import { errorFromData, errorToData, ShapeError } from './errors.ts';

test('an error crosses as data with class, details and cause', () => {
  const cause = new RangeError('too far');
  const error = new ShapeError('too square', { cause, details: { side: 4 } });
  const copy = errorFromData(structuredClone(errorToData(error)));
  expect(copy).toBeInstanceOf(ShapeError);
  expect(copy).toMatchObject({ name: 'ShapeError', message: 'too square', details: { side: 4 } });
  expect(copy.cause).toMatchObject({ name: 'RangeError', message: 'too far' });
  expect(copy.stack).toBe(error.stack);
});

test('an error that is its own cause crosses too', () => {
  const error = new Error('round and round');
  error.cause = error;
  const causes = [];
  for (let at: unknown = errorFromData(errorToData(error)); at instanceof Error; at = at.cause) {
    causes.push(at.message);
  }
  expect(causes).toEqual(Array.from({ length: 9 }, () => 'round and round'));
});

test('what is no error crosses as text', () => {
  expect(errorToData('paper jam')).toEqual({ name: 'Error', message: 'paper jam', details: {} });
});
