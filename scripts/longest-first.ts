import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest files, slowest first: they compile hundreds of kernels for a driver in software. */
const LONGEST = [
  // It collects garbage again and again, which is quick while there is little.
  'src/runtime/heap',
  'src/compiler/testing/gradient-programs/gradient-programs',
  'src/device/webgpu/tuning/variants',
  'tools/memory/load-cycles',
  'tools/faults/device-faults',
  'tools/differential/fuzz/fuzz',
  'tools/conformance/model-memory',
  'src/device/operators/',
  'src/device/webgpu/',
  'src/text/',
  'src/frontend/onnx/',
];

/**
 * Begins with the files that take longest, so that no core ends with one of them while the others rest.
 * Without it a run that knows no earlier one begins with the longest texts.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const found = LONGEST.findIndex((path) => moduleId.includes(path));
  return found === -1 ? LONGEST.length : found;
}
