import { writeFileSync } from 'node:fs';
import { quantizeOnnx } from '../../src/frontend/index.ts';
import { FLOAT16_MODELS } from '../../src/frontend/quantize/testing/float16-models.ts';
import {
  bytesOf,
  inputsOf,
  SMALL_MODELS,
} from '../../src/frontend/quantize/testing/quantized-models.ts';
import { openPeerModel } from '../onnxruntime/open-onnxruntime.ts';

const FILE = new URL(
  '../../src/frontend/quantize/testing/onnxruntime-outputs.json',
  import.meta.url,
);

/** Writes what onnxruntime-node gives for the small quantised models of the tests. */
export async function main(): Promise<number> {
  const outputs: Record<string, number[]> = {};
  for (const [name, model] of Object.entries({ ...SMALL_MODELS, ...FLOAT16_MODELS })) {
    const peer = await openPeerModel(quantizeOnnx(bytesOf(model), model.options).model);
    const { y } = await peer.run(inputsOf(model));
    outputs[name] = Array.from((y?.data ?? []) as Float32Array, (value) =>
      Number(value.toPrecision(7)),
    );
    await peer.release();
  }
  writeFileSync(FILE, `${JSON.stringify(outputs)}\n`);
  return 0;
}
