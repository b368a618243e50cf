import { afterEach, expect, test, vi } from 'vitest';
import { describeMediaError } from './describe-media-error.ts';

afterEach(() => vi.unstubAllGlobals());

const refused = (name: string) => new DOMException('Requested device not found', name);

test('says what is missing and what to do, and leaves other errors as they are', () => {
  vi.stubGlobal('navigator', { mediaDevices: {} });
  const say = (error: unknown) => describeMediaError(error, 'camera', 'Open a picture instead.');
  expect(say(refused('NotFoundError'))).toBe('There is no camera here. Open a picture instead.');
  expect(say(refused('NotAllowedError'))).toBe(
    "This page may not use the camera: the browser's settings of this site can allow it. Open a picture instead.",
  );
  expect(say(refused('NotReadableError'))).toBe(
    'The camera does not answer: another program may be using it. Open a picture instead.',
  );
  expect(say(refused('DataError'))).toBe('DataError: Requested device not found');
  expect(say(new RangeError('too long'))).toBe('RangeError: too long');
});

test('a page that is not secure has no devices', () => {
  vi.stubGlobal('navigator', {});
  expect(describeMediaError(new TypeError('x'), 'microphone', 'Play the recording.')).toBe(
    'Browsers give the microphone only to pages at https: or localhost. Play the recording.',
  );
});
