import { expect, test } from 'vitest';
import { compile } from '../../../src/compiler/compile.ts';
import { printModule } from '../../../src/compiler/ir/text/print.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { createHostDevice } from '../../../src/device/host/host-device.ts';
import { importOnnx } from '../../../src/frontend/onnx/import-onnx.ts';
import { VirtualMachine } from '../../../src/runtime/virtual-machine.ts';
import { tensorsOf, VARIANTS } from './run-graph.ts';
import { shapeChain } from './shape-chain.ts';

const COUNT = 60;
const FIRST_SEED = 1;
/** The sizes of one program in turn. */
const SIZES = [
  { n: 2, m: 3 },
  { n: 5, m: 4 },
  { n: 1, m: 1 },
  { n: 7, m: 1 },
];

test(`${COUNT} random chains of sizes in ONNX give what integers give`, async () => {
  const device = createHostDevice();
  for (let seed = FIRST_SEED; seed < FIRST_SEED + COUNT; seed++) {
    const { bytes, expected } = shapeChain(seed);
    const module = importOnnx(bytes);
    for (const { title, without } of VARIANTS.slice(0, 2)) {
      const vm = await VirtualMachine.create(compile(module, { without }), { devices: [device] });
      for (const sizes of SIZES) {
        const x = HostTensor.zeros('float32', [sizes.n, sizes.m, 3]);
        const result = await vm.get('main')(x);
        const tensors = await vm.read(tensorsOf(result));
        vm.release(result);
        const wanted = expected(sizes);
        const found = tensors.map(({ shape, data }, i) =>
          wanted[i]?.elements === undefined
            ? { shape }
            : { shape, elements: Array.from(data as ArrayLike<number | bigint>, Number) },
        );
        const where = `seed ${seed}, ${title}, ${JSON.stringify(sizes)}`;
        expect(found, `${where}\n${printModule(module)}`).toEqual(wanted);
      }
      vm.dispose();
    }
  }
  device.destroy();
}, 180_000);
