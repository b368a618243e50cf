import { casesOfAllDTypes } from '../../conformance/dtype-variants.ts';
import type { TestedOp } from '../../ops/testing/tested-ops.ts';
import type { Device } from '../device.ts';
import { launchCases } from './compare-operator.ts';
import { downloadTensors } from './device-tensors.ts';

interface CaseBytes {
  readonly title: string;
  readonly bytes: Uint8Array;
}

async function resultBytes(device: Device, op: TestedOp): Promise<readonly CaseBytes[]> {
  const launched = await launchCases(device, op, casesOfAllDTypes(op));
  const results = await downloadTensors(
    device,
    launched.map(({ output }) => output),
  );
  for (const { tensors } of launched) for (const { buffer } of tensors) buffer.destroy();
  return results.map(({ data }, i) => ({
    title: launched[i]?.title ?? '',
    bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
  }));
}

/** A line for each case of an operator whose result has other bytes on `device` than on `other`. */
export async function differentBytes(
  op: TestedOp,
  device: Device,
  other: Device,
): Promise<readonly string[]> {
  const [found, wanted] = [await resultBytes(device, op), await resultBytes(other, op)];
  if (found.length !== wanted.length) {
    return [`got ${found.length} results, expected ${wanted.length}`];
  }
  return found.flatMap(({ title, bytes }, i) => {
    const expected = wanted[i]?.bytes ?? new Uint8Array();
    const at = bytes.findIndex((byte, k) => byte !== expected[k]);
    if (at === -1 && bytes.length === expected.length) return [];
    const place = at === -1 ? bytes.length : at;
    return [`${title}: got ${bytes[place]}, expected ${expected[place]} in byte ${place}`];
  });
}
