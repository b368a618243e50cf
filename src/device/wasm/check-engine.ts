import { DeviceError } from '../../core/errors.ts';
import { encodeModule } from '../../wasm/encode-module.ts';
import { f32x4, i32, multiplyAdd } from '../../wasm/expression.ts';
import { store } from '../../wasm/statement.ts';

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

/** Whether the engine adds products with one rounding. */
export function hasRelaxedSimd(): boolean {
  const value = multiplyAdd(f32x4(1), f32x4(1), f32x4(1));
  const body = [store('v128', { address: i32(0) }, value)];
  const groups = [[{ name: 'probe', params: [], body }]];
  return WebAssembly.validate(encodeModule({ groups, isRelaxed: true }));
}

const compile = (engine: typeof WebAssembly, bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module =>
  new engine.Module(bytes);

const UPDATE = 'Use Chrome 91, Firefox 89, Safari 16.4 or later.';
const ALLOW = "Add 'wasm-unsafe-eval' to script-src of its Content-Security-Policy.";

function unavailable(got: string, remedy: string, cause?: unknown): DeviceError {
  const where = "device 'wasm'";
  return new DeviceError({ where, got, expected: 'WebAssembly with SIMD', remedy }, { cause });
}
