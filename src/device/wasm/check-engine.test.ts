import { afterEach, expect, test, vi } from 'vitest';
import { DeviceError } from '../../core/errors.ts';
import { checkEngine } from './check-engine.ts';
import { createWasmDevice } from './wasm-device.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

test('an engine with all of it passes', () => {
  expect(() => checkEngine()).not.toThrow();
});

test('an engine without WebAssembly is refused', () => {
  vi.stubGlobal('WebAssembly', undefined);
  expect(() => createWasmDevice()).toThrowErrorMatchingInlineSnapshot(
    `[DeviceError: device 'wasm': got an engine without WebAssembly, expected WebAssembly with SIMD. Use Chrome 91, Firefox 89, Safari 16.4 or later.]`,
  );
});

test('an engine without SIMD is refused', () => {
  vi.stubGlobal('WebAssembly', { ...WebAssembly, validate: () => false });
  expect(() => createWasmDevice()).toThrowErrorMatchingInlineSnapshot(
    `[DeviceError: device 'wasm': got an engine without SIMD of 128 bits, expected WebAssembly with SIMD. Use Chrome 91, Firefox 89, Safari 16.4 or later.]`,
  );
});

test('a policy that forbids it is named, with the directive to add', () => {
  const forbidden = vi.fn(function refuse() {
    throw new EvalError('refused');
  });
  vi.stubGlobal('WebAssembly', { validate: () => true, Module: forbidden });
  expect(() => createWasmDevice()).toThrowErrorMatchingInlineSnapshot(
    `[DeviceError: device 'wasm': got a policy of the page that forbids to compile, expected WebAssembly with SIMD. Add 'wasm-unsafe-eval' to script-src of its Content-Security-Policy.]`,
  );
  expect(() => createWasmDevice()).toThrow(DeviceError);
});
