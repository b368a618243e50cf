import { casesOfAllDTypes } from '../../conformance/dtype-variants.ts';
import type { TestedOp } from '../../ops/testing/tested-ops.ts';
import type { Device } from '../device.ts';
import { launchCases } from './compare-operator.ts';
import { downloadTensors } from './device-tensors.ts';

/** The results of an operator's cases, byte by byte, a line for each with its title. */
export async function resultBytes(device: Device, op: TestedOp): Promise<readonly string[]> {
  const launched = await launchCases(device, op, casesOfAllDTypes(op));
  const results = await downloadTensors(
    device,
    launched.map(({ output }) => output),
  );
  for (const { tensors } of launched) for (const { buffer } of tensors) buffer.destroy();
  return results.map(({ data }, i) => {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return `${launched[i]?.title}: ${bytes.join(' ')}`;
  });
}
