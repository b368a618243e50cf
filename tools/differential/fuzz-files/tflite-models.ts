import { compileTflite } from '../../../src/frontend/index.ts';
import { SAMPLE_MODELS } from '../../../src/frontend/tflite/testing/sample-models.ts';
import { writeTflite } from '../../../src/frontend/tflite/testing/tflite-writer.ts';
import { Chance } from './chance.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { runExecutable } from './run-executable.ts';

/** So often a file that compiles is run as well. */
const RUN = 0.2;
/** So often nothing moves, so that most offsets stay right. */
const IN_PLACE = 0.9;

/** TensorFlow Lite files with changed bytes. */
export function tfliteModels(): FuzzTarget {
  const files = SAMPLE_MODELS.map((model) => writeTflite(model));
  return {
    input: async (seed) => {
      const chance = new Chance(seed);
      let bytes = Uint8Array.from(chance.pick(files));
      for (let changes = 1 + chance.below(3); changes > 0; changes--) {
        bytes = chance.often(IN_PLACE) ? chance.change(bytes) : chance.mutate(bytes);
      }
      return bytes;
    },
    run: async (bytes) => {
      const executable = compileTflite(bytes);
      // By its contents, so that an input does the same each time.
      if (new Chance(bytes.length).often(RUN)) await runExecutable(executable.toBytes());
    },
  };
}
