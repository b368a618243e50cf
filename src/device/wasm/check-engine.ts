import { DeviceError } from '../../core/errors.ts';
import { encodeModule } from '../../wasm/encode-module.ts';
import { apply, f32x4, i32, i32x4, multiplyAdd, vector } from '../../wasm/expression.ts';
import { store } from '../../wasm/statement.ts';
import type { WasmCode } from './wasm-code.ts';

/**
 * Throws DeviceError where WebAssembly cannot run: the engine lacks it or its SIMD, or the policy of the
 * page forbids to compile it.
 */
export function checkEngine(): void {
  const { WebAssembly: engine } = globalThis as { WebAssembly?: typeof WebAssembly };
  if (engine === undefined) throw unavailable('an engine without WebAssembly', UPDATE);
  const body = [store('v128', { address: i32(0) }, f32x4(0))];
  const probe = encodeModule({ groups: [[{ name: 'probe', params: [], body }]] });
  if (!engine.validate(probe)) throw unavailable('an engine without SIMD of 128 bits', UPDATE);
  try {
    compile(engine, probe);
  } catch (cause) {
    throw unavailable('a policy of the page that forbids to compile', ALLOW, cause);
  }
}

/** Returns true if the engine has relaxed SIMD, which adds products in one instruction. */
export function hasRelaxedSimd(): boolean {
  const value = multiplyAdd(f32x4(1), f32x4(1), f32x4(1));
  const body = [store('v128', { address: i32(0) }, value)];
  const groups = [[{ name: 'probe', params: [], body }]];
  return WebAssembly.validate(encodeModule({ groups, isRelaxed: true }));
}

/**
 * Returns true if the dot product of bytes of relaxed SIMD gives the right sums. V8 11.3 doubles
 * them in code that it has not optimized yet.
 */
export function hasByteProducts(): boolean {
  const [bytes, codes] = [new Int8Array(16).fill(-3), new Int8Array(16).fill(15)];
  const operands = [vector(bytes), vector(codes), i32x4(1)];
  const sum = apply('i32x4.relaxed_dot_i8x16_i7x16_add_s', ...operands);
  const groups = [[{ name: 'probe', params: [], body: [store('v128', { address: i32(0) }, sum)] }]];
  const memory = new WebAssembly.Memory({ initial: 1 });
  const module = new WebAssembly.Module(encodeModule({ groups }));
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  (exports[0] as WasmCode)();
  return new Int32Array(memory.buffer)[0] === 1 - 4 * 3 * 15;
}

const compile = (engine: typeof WebAssembly, bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module =>
  new engine.Module(bytes);

const UPDATE = 'Use Chrome 91, Firefox 89, Safari 16.4 or later.';
const ALLOW = "Add 'wasm-unsafe-eval' to script-src of its Content-Security-Policy.";

function unavailable(got: string, remedy: string, cause?: unknown): DeviceError {
  const where = "device 'wasm'";
  return new DeviceError({ where, got, expected: 'WebAssembly with SIMD', remedy }, { cause });
}
