import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Executable } from '../../bytecode/file/executable-file.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { GPU_CLASSES, HOST, WEBGPU } from '../../device/testing/node-devices.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { compile } from '../compile.ts';
import { parseModule } from '../ir/text/parse.ts';
import { f32, loadProgram } from '../testing/load-program.ts';

const TEXT = readFileSync(new URL('kernels.ir', import.meta.url), 'utf8');

/** The program without its last kernel, which has no alternative. */
const BLUR = TEXT.slice(0, TEXT.indexOf('// No alternative'));

const IMAGE = f32([2, 3], 3, 6, 9, 0, 0, 30);
const BLURRED = [
  [4, 6, 8],
  [0, 10, 20],
];

describe.each(GPU_CLASSES)('on $title', ({ open }) => {
  test('kernels run with their grids, and no operator of an alternative does', async () => {
    const device = await open();
    const { run, launches, vm } = await loadProgram(TEXT, { device });
    expect(await run('blur', IMAGE)).toEqual(BLURRED);
    const wide = f32([9, 21], ...Array.from({ length: 189 }, () => 3));
    expect(await run('blur', wide)).toEqual(Array.from({ length: 9 }, () => Array(21).fill(3)));
    const timings = await vm.profile('blur', [IMAGE]);
    expect(timings.timings.map(({ label }) => label)).toEqual(['blur']);
    vm.release(timings.result);
    expect(await launches('blur', IMAGE)).toHaveLength(1);
    const numbers = HostTensor.from(
      'int32',
      [131],
      Array.from({ length: 131 }, (_, i) => i),
    );
    expect(await run('pairs', numbers)).toEqual(
      Array.from({ length: 66 }, (_, i) => (i === 65 ? 130 : 4 * i + 1)),
    );
    vm.dispose();
    device.destroy();
  });
});

test('the host runs the alternative', async () => {
  const device = await HOST.open();
  const { run, executable, vm } = await loadProgram(BLUR, { device });
  expect(await run('blur', IMAGE)).toEqual(BLURRED);
  expect(Executable.fromText(executable.toText()).primitives).toEqual(executable.primitives);
  expect(Executable.fromBytes(executable.toBytes()).primitives).toEqual(executable.primitives);
  vm.dispose();
  device.destroy();
});

test('the host refuses a kernel without one when the program is loaded', async () => {
  await expect(
    VirtualMachine.create(compile(parseModule(TEXT)), { devices: [createHostDevice()] }),
  ).rejects.toThrowErrorMatchingInlineSnapshot(`
    [UnsupportedError: The host device cannot run 1 of 4 primitive functions:
      pairs.1: kernel pairs: got WGSL of the program on the host device, expected a session on WebGPU. Give the kernel an alternative of other operators.]
  `);
});

test('what does not compile is told with the name of the kernel and the line', async () => {
  const device = await WEBGPU.open();
  const wrong = compile(parseModule(BLUR.replace('/ 3f);\n}\n"""', '/ three);\n}\n"""')));
  await expect(
    VirtualMachine.create(wrong, { devices: [device, createHostDevice()] }),
  ).rejects.toThrow(
    /^shader blur does not compile: line \d+:\d+: unresolved value 'three'\n {2}store\(row/,
  );
  device.destroy();
});
