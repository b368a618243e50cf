import { expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { DEVICES } from '../../device/testing/node-devices.ts';
import { TensorValue } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { compile } from '../compile.ts';
import { parseModule } from '../ir/text/parse.ts';

/** Positions are made on the host, of a size that only a tensor of the device has. */
const POSITIONS = `def @main(%x: Tensor[(n, 2), float32], %y: Tensor[(3,), float32]) {
  add(cast(arange(start=[n], size=[3]), to="float32"), %y)
}`;

test.each(DEVICES)(
  'no tensor is read for its sizes, and calls are repeated, on $title',
  async ({ open }) => {
    const device = await open();
    const devices = [device, createHostDevice()];
    const vm = await VirtualMachine.create(compile(parseModule(POSITIONS)), { devices });
    const y = vm.tensor(HostTensor.from('float32', [3], [0, 10, 20]));
    for (const n of [4, 5, 4, 4]) {
      const x = vm.tensor(HostTensor.zeros('float32', [n, 2]));
      const { readbacks } = device.counters();
      const result = await vm.invoke('main', [x, y]);
      if (!(result instanceof TensorValue)) throw new Error('no tensor');
      expect(device.counters().readbacks).toBe(readbacks);
      const [read] = await vm.read([result]);
      expect([...(read?.data ?? [])]).toEqual([n, n + 11, n + 22]);
      vm.release(result);
      vm.release(x);
    }
    if (device.kind === 'webgpu') expect(vm.replays().replayed).toBeGreaterThan(0);
    vm.dispose();
    device.destroy();
  },
);
