import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A model of models/ and its test data, in files that are not read yet. */
interface OwnModelFiles {
  readonly onnx: Uint8Array;
  readonly dataSets: readonly {
    readonly name: string;
    /** TensorProtos in the order of the model. */
    readonly inputs: readonly Uint8Array[];
    readonly outputs: readonly Uint8Array[];
  }[];
}

/** `digits`, `detector` or `transformer`; tools/models writes them. */
export function ownModel(name: string): OwnModelFiles {
  const folder = fileURLToPath(new URL(`../../../models/${name}/`, import.meta.url));
  const sets = readdirSync(folder).filter((entry) => entry.startsWith('test_data_set_'));
  return {
    onnx: new Uint8Array(readFileSync(`${folder}model.onnx`)),
    dataSets: sets.sort().map((set) => {
      const files = readdirSync(`${folder}${set}`);
      const those = (kind: string): Uint8Array[] =>
        files
          .filter((file) => file.startsWith(kind))
          .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
          .map((file) => new Uint8Array(readFileSync(`${folder}${set}/${file}`)));
      return { name: set, inputs: those('input_'), outputs: those('output_') };
    }),
  };
}
