import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { DEVICES } from '../../device/testing/node-devices.ts';
import { compile } from '../compile.ts';
import type { Module } from '../ir/expr.ts';
import { parseModule } from '../ir/text/parse.ts';
import { printModule } from '../ir/text/print.ts';
import type { Placement } from '../passes/place-devices.ts';
import { f32, loadProgram } from '../testing/load-program.ts';

const TEXT = readFileSync(new URL('float64.ir', import.meta.url), 'utf8');

const f64 = (...values: readonly number[]) => HostTensor.from('float64', [values.length], values);

test('the float64 part takes two copies, and each of its calls is reported', () => {
  const placements: Placement[] = [];
  let placed: Module | undefined;
  compile(parseModule(TEXT), {
    onPlacement: (placement) => placements.push(placement),
    dump: (pass, module) => {
      if (pass === 'place-devices') placed = module;
    },
  });
  const mean = placed?.functions.get('mean');
  if (placed === undefined || mean === undefined) throw new Error('no @mean');
  const text = printModule({ ...placed, functions: new Map([['mean', mean]]) });
  expect(text).toMatchInlineSnapshot(`
    "def @mean(%x: Tensor[(n, 3), float32]) -> Tensor[(n,), float32] {
      %0 = relu(%x);
      %1 = device_copy(%0, device="host");
      %2 = cast(%1, to="float64", on_device="host");
      %3 = add(%2, 1e-12f64, on_device="host");
      %4 = matmul(%3, [1f64, 1f64, 1f64], on_device="host");
      %5 = div(%4, 3f64, on_device="host");
      %6 = cast(%5, to="float32", on_device="host");
      %7 = device_copy(%6, device="session");
      mul(%7, 2f)
    }
    "
  `);
  expect(text.match(/device_copy/g)).toHaveLength(2);
  const inMean = placements.filter(({ node }) => /^ir:[5-9]:/.test(node));
  expect(inMean).toMatchInlineSnapshot(`
    [
      {
        "node": "ir:5:15",
        "operator": "cast",
        "reason": "WebGPU has no kernels for float64",
      },
      {
        "node": "ir:6:21",
        "operator": "add",
        "reason": "WebGPU has no kernels for float64",
      },
      {
        "node": "ir:6:14",
        "operator": "matmul",
        "reason": "WebGPU has no kernels for float64",
      },
      {
        "node": "ir:7:20",
        "operator": "div",
        "reason": "WebGPU has no kernels for float64",
      },
      {
        "node": "ir:7:15",
        "operator": "cast",
        "reason": "WebGPU has no kernels for float64",
      },
    ]
  `);
});

describe.each(DEVICES)('on $title', ({ open }) => {
  test('float64 is computed on the host, exactly, and the rest on the device', async () => {
    const device = await open();
    const { run, launches, vm } = await loadProgram(TEXT, { device });
    expect(await run('mean', f32([2, 3], 1, -2, 3, 4, 5, 6))).toEqual([
      Math.fround(Math.fround(4 / 3) * 2),
      10,
    ]);
    expect(await run('double', f64(1 / 3, 1e300))).toEqual([2 / 3, 2e300]);
    expect(await run('branch', f32([2], 0, 1), 0)).toEqual([-0, -1]);
    expect(await run('branch', f32([2], 0, 1), 1)).toEqual([1, Math.fround(Math.E)]);
    expect(await run('choose', f64(0.5, 0.5 + 2 ** -50), f32([2], 1, 2))).toEqual([-1, 2]);
    expect(await launches('mean', f32([1, 3], 1, 2, 3))).toHaveLength(5);
    vm.dispose();
    device.destroy();
  });

  test('a kernel may have the sizes of a float64 tensor, whose elements it cannot read', async () => {
    const device = await open();
    const text = `def @main(%x: Tensor[(n,), float64], %y: Tensor[(m,), float32]) {
      (slice(%y, starts=[0], ends=[n], steps=[1]), neg(%x), full(shape=[2 * n], value=1))
    }`;
    const { run, vm } = await loadProgram(text, { device });
    const y = f32([4], 1, 2, 3, 4);
    expect(await run('main', f64(5, 6), y)).toEqual([0, [1, 2], [-5, -6], [1, 1, 1, 1]]);
    expect(await run('main', f64(7), y)).toEqual([0, [1], [-7], [1, 1]]);
    vm.dispose();
    device.destroy();
  });
});
