import { expect, test } from 'vitest';
import * as rpcErrors from '../rpc/errors.ts';
import { errorHelp } from './error-help.ts';
import * as errors from './errors.ts';

const { DeviceLostError, errorFromData, errorToData, ShapeError, WeftError } = errors;

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

test('each class has a code, which stays', () => {
  const classes = Object.values({ ...errors, ...rpcErrors }).filter(
    (value): value is typeof WeftError => typeof value === 'function' && 'errorName' in value,
  );
  expect(classes.map((errorClass) => new errorClass('').code).sort()).toEqual([
    'WEFT',
    'WEFT_ACCESS',
    'WEFT_COMPILE_LIMIT',
    'WEFT_DEVICE',
    'WEFT_DEVICE_LOST',
    'WEFT_DOWNLOAD',
    'WEFT_FORMAT',
    'WEFT_LIMIT',
    'WEFT_OUT_OF_MEMORY',
    'WEFT_PARSE',
    'WEFT_PROTOCOL',
    'WEFT_REMOTE_LOST',
    'WEFT_RUNTIME',
    'WEFT_SHAPE',
    'WEFT_STORAGE',
    'WEFT_TYPE_CHECK',
    'WEFT_UNSUPPORTED',
    'WEFT_USAGE',
    'WEFT_VERIFY',
    'WEFT_WORKER',
  ]);
});

test('a code crosses, and leads to a section of the documentation', () => {
  const error = errorFromData(structuredClone(errorToData(new DeviceLostError('gone'))));
  if (!(error instanceof WeftError)) throw error;
  expect(error.code).toBe('WEFT_DEVICE_LOST');
  expect(errorHelp(error)).toBe('weft-vm/docs/troubleshooting.md#weft_device_lost');
});
