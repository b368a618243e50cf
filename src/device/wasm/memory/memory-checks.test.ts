import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeModule } from '../../../wasm/encode-module.ts';
import { i32, load, local } from '../../../wasm/expression.ts';
import { store } from '../../../wasm/statement.ts';
import type { Device } from '../../device.ts';
import { compareOperator } from '../../testing/compare-operator.ts';
import { MemoryChecks } from '../module-compiler.ts';
import { OPERATORS_ON_WASM } from '../testing/operators-on-wasm.ts';
import { createWasmDevice } from '../wasm-device.ts';

const checks = new MemoryChecks();
let device: Device;
beforeAll(() => {
  device = createWasmDevice({ checks });
});
afterAll(() => device.destroy());

test.each(OPERATORS_ON_WASM.map((op, i) => [`${i} ${op.name}`, op] as const))(
  '%s accesses nothing but its tensors and temporaries',
  async (_, op) => {
    expect((await compareOperator(device, op)).differences).toEqual([]);
  },
);

test('accesses are checked', async () => {
  const before = checks.count;
  for (const op of OPERATORS_ON_WASM.slice(0, 10)) await compareOperator(device, op);
  expect(checks.count - before).toBeGreaterThan(100);
});

test.each([
  ['the bytes that are allowed', 64, false],
  ['a byte before them', 63, true],
  ['a byte behind them', 65, true],
])('%s', (_, address, isOutside) => {
  const own = new MemoryChecks();
  own.allow(72, 4);
  own.allow(128, 4);
  const to = local('i32');
  const body = [store('i32', { address: i32(128) }, load('i32', to, 8))];
  const groups = [[{ name: 'copy', params: [to], body }]];
  const memory = new WebAssembly.Memory({ initial: 1 });
  const module = new WebAssembly.Module(encodeModule({ groups, isChecked: true }));
  const { 0: copy } = new WebAssembly.Instance(module, {
    env: { memory, check: own.check },
  }).exports;
  if (typeof copy !== 'function') throw new Error('no function');
  if (isOutside) expect(() => copy(address)).toThrow(`4 bytes at ${address + 8}, outside`);
  else copy(address);
  own.clear();
  expect(() => copy(64)).toThrow('outside');
});
