import { DeviceTensor, Session, Tensor } from '../../src/client/index.ts';
import type { MachineFigure, SizedProgram } from './machine-steps.ts';
import { sourceAt } from './runtime.ts';

const REPEATS = 15;

/**
 * The time of one number, and the speed of many, from the device to the page. What is read was computed before. Sizes
 * of the programs are numbers of floats, the smaller first.
 */
export async function readback(programs: readonly SizedProgram[]): Promise<MachineFigure[]> {
  const times: number[] = [];
  for (const { size, url } of programs) {
    await using session = await Session.load(sourceAt(url), { device: 'webgpu' });
    const x = new Tensor('float32', new Float32Array(size).fill(1), [size]);
    const { y } = await session.run({ x }, { keep: 'device' });
    if (!(y instanceof DeviceTensor)) throw new Error('internal: nothing to read');
    (await y.read()).dispose();
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < REPEATS; i++) {
      const begin = performance.now();
      const read = await y.read();
      least = Math.min(least, performance.now() - begin);
      read.dispose();
    }
    times.push(least);
  }
  const [shortMs = Number.NaN, longMs = Number.NaN] = times;
  const [small = 0, large = 0] = programs.map(({ size }) => size * Float32Array.BYTES_PER_ELEMENT);
  return [
    { what: 'reading one number back', value: shortMs, unit: 'ms' },
    {
      what: `reading ${large / 2 ** 20} MB back`,
      value: (large - small) / (longMs - shortMs) / 1e6,
      unit: 'GB/s',
    },
  ];
}
