import { looksLikeTflite } from '../../core/bytes/sniff.ts';
import type { ModelFormat } from '../../frontend/model-format.ts';

/** Formats of models but ONNX, by how their files begin. Each is a file of its own, which only its models need. */
const FORMATS: readonly (readonly [
  fits: (bytes: Uint8Array) => boolean,
  load: () => Promise<ModelFormat>,
])[] = [[looksLikeTflite, () => import('../../frontend/tflite/import-tflite.ts')]];

/** What reads a model, by its content; undefined for ONNX. */
export async function importFormat(bytes: Uint8Array): Promise<ModelFormat | undefined> {
  return FORMATS.find(([fits]) => fits(bytes))?.[1]();
}
