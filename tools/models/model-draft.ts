import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { elementCount, type Shape } from '../../src/core/tensor/shape.ts';
import type { OnnxAttribute, OnnxInputSpec, OnnxNodeSpec } from '../../src/testing/onnx-writer.ts';
import { writeOnnxModel, writeOnnxTensor } from '../../src/testing/onnx-writer.ts';
import { seededRandom } from '../../src/core/random.ts';

/** A model as a folder: `model.onnx` and what it shall give for what inputs. */
export interface OwnModel {
  readonly onnx: Uint8Array;
  readonly dataSets: readonly DataSet[];
}

export interface DataSet {
  /** In the order of the model. */
  readonly inputs: readonly HostTensor[];
  readonly outputs: readonly HostTensor[];
}

type Types = readonly OnnxInputSpec[];

/** A graph that grows node by node; each value has the name it is given. */
export class ModelDraft {
  readonly #nodes: OnnxNodeSpec[] = [];
  readonly #initializers: Record<string, HostTensor> = {};
  readonly #random: () => number;

  constructor(seed = 0) {
    this.#random = seededRandom(seed);
  }

  constant(name: string, tensor: HostTensor): string {
    this.#initializers[name] = tensor;
    return name;
  }

  ints(name: string, values: readonly number[]): string {
    return this.constant(name, HostTensor.from('int64', [values.length], values.map(BigInt)));
  }

  int(name: string, value: number): string {
    return this.constant(name, HostTensor.from('int64', [], [BigInt(value)]));
  }

  float(name: string, value: number): string {
    return this.constant(name, HostTensor.from('float32', [], [value]));
  }

  /** Seeded numbers around `center`, evenly up to `spread` from it. */
  weights(name: string, shape: Shape, { center = 0, spread = 1 } = {}): HostTensor {
    const values = Array.from(
      { length: elementCount(shape) },
      () => center + spread * (2 * this.#random() - 1),
    );
    const tensor = HostTensor.from('float32', shape, values);
    this.constant(name, tensor);
    return tensor;
  }

  /** A node with one output, which has its name. */
  node(
    op: string,
    name: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
  ): string {
    this.#nodes.push({ op, name, inputs, outputs: [name], attributes });
    return name;
  }

  /** A node with several outputs. */
  split(
    name: string,
    inputs: readonly string[],
    attributes: { axis: number; num_outputs: number },
  ): string[] {
    const outputs = Array.from({ length: attributes.num_outputs }, (_, i) => `${name}.${i}`);
    this.#nodes.push({ op: 'Split', name, inputs, outputs, attributes });
    return outputs;
  }

  toOnnx({ inputs, outputs }: { readonly inputs: Types; readonly outputs: Types }): Uint8Array {
    return writeOnnxModel({
      opset: 18,
      producer: 'weft scripts/models',
      nodes: this.#nodes,
      initializers: this.#initializers,
      inputs,
      outputs: outputs.map(({ name }) => name),
      outputTypes: Object.fromEntries(outputs.map(({ name, ...type }) => [name, type])),
    });
  }
}

/** Files of a model by their path in its folder. `names` are those of inputs and outputs. */
export function filesOf({ onnx, dataSets }: OwnModel): Map<string, Uint8Array> {
  const files = new Map([['model.onnx', onnx]]);
  for (const [set, { inputs, outputs }] of dataSets.entries()) {
    for (const [kind, tensors] of Object.entries({ input: inputs, output: outputs })) {
      for (const [i, tensor] of tensors.entries()) {
        files.set(`test_data_set_${set}/${kind}_${i}.pb`, writeOnnxTensor(tensor));
      }
    }
  }
  return files;
}
