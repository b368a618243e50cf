import { expect, test } from 'vitest';
import { compile, parseModule } from '../../compiler/index.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { VirtualMachine } from '../virtual-machine.ts';
import { DebuggedCall } from './debugged-call.ts';

const LOOP = compile(
  parseModule(`def @main(%x: Tensor[(3,), float32], %n: int) -> Tensor[(3,), float32] {
    if (int_lt(%n, #1)) { %x } else { @main(mul(%x, 1.01f), int_sub(%n, #1)) }
  }`),
);

test('goes back from the last snapshot before a place, not from the start', async () => {
  const device = createHostDevice();
  const machine = await VirtualMachine.create(LOOP, { devices: [device] });
  const inputs = [HostTensor.from('float32', [3], [1, 2, 3]), 1e9];
  const launchesBack: number[] = [];
  const seen: unknown[] = [];
  for (const checkpointMs of [0, Number.POSITIVE_INFINITY]) {
    const call = new DebuggedCall(machine, { functionName: 'main', inputs, checkpointMs });
    await call.start();
    // A snapshot each, where there are any.
    for (let executed = 2000; executed <= 20_000; executed += 2000) await call.seek(executed);
    const there = [call.registers(0), await call.value(0, 0, [])];
    const before = device.counters().launches;
    await call.seek(19_000);
    launchesBack.push(device.counters().launches - before);
    await call.seek(20_000);
    expect([call.registers(0), await call.value(0, 0, [])]).toEqual(there);
    seen.push(there);
    await call.close(new Error('enough'));
  }
  const [fromSnapshot = 0, fromStart = 0] = launchesBack;
  expect(fromSnapshot).toBeLessThan(fromStart / 5);
  expect(seen[1]).toEqual(seen[0]);
  expect(machine.memory().liveBytes).toBe(0);
  machine.dispose();
});
