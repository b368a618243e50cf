import type { DType } from '../../../src/core/tensor/dtype.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import {
  type OnnxAttribute,
  type OnnxGraphSpec,
  type OnnxInputSpec,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../../src/testing/onnx-writer.ts';
import { ints } from './draw.ts';

export interface BuiltModel {
  readonly bytes: Uint8Array;
  readonly outputs: readonly string[];
  readonly text: string;
}

interface NodeOptions {
  readonly domain?: string;
  readonly attributes?: Readonly<Record<string, OnnxAttribute | undefined>>;
}

/** Builds a graph node by node; each value has a name of its own in the whole model. */
export class GraphBuilder {
  readonly #names: { count: number };
  readonly #nodes: OnnxNodeSpec[] = [];
  readonly #inputs: OnnxInputSpec[] = [];
  readonly #initializers: Record<string, HostTensor> = {};
  readonly #lines: string[] = [];

  constructor(names = { count: 0 }) {
    this.#names = names;
  }

  input(name: string, dtype: DType, shape: readonly (number | string)[]): string {
    this.#inputs.push({ name, dtype, shape });
    this.#lines.push(`${name}: ${dtype}[${shape.join(',')}]`);
    return name;
  }

  constant(tensor: HostTensor): string {
    const name = this.#fresh('c');
    this.#initializers[name] = tensor;
    const values = tensor.elementCount <= 8 ? `{${tensor.data.join(',')}}` : '';
    this.#lines.push(`${name} = ${tensor.dtype}[${tensor.shape.join(',')}]${values}`);
    return name;
  }

  ints(...values: readonly number[]): string {
    return this.constant(ints(values));
  }

  int(value: number): string {
    return this.constant(HostTensor.from('int64', [], [value]));
  }

  float(value: number): string {
    return this.constant(HostTensor.from('float32', [], [value]));
  }

  /** The first output of a node. */
  add(op: string, inputs: readonly string[], attributes: NodeOptions['attributes'] = {}): string {
    const [first = ''] = this.many(op, inputs, { attributes, outputs: 1 });
    return first;
  }

  many(
    op: string,
    inputs: readonly string[],
    { attributes = {}, outputs, domain }: NodeOptions & { readonly outputs: number },
  ): string[] {
    const names = Array.from({ length: outputs }, () => this.#fresh('v'));
    const given = Object.entries(attributes).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value] as const],
    );
    this.#nodes.push({
      op,
      inputs,
      outputs: names,
      attributes: Object.fromEntries(given),
      ...(domain === undefined ? {} : { domain }),
    });
    this.#lines.push(
      `${names.join(', ')} = ${op}(${inputs.join(', ')}) ${given.map(([key, value]) => attributeText(key, value)).join(' ')}`,
    );
    return names;
  }

  /** A graph of an attribute; it may read the values of this one. */
  graph(build: (inner: GraphBuilder) => readonly string[]): { readonly graph: OnnxGraphSpec } {
    const inner = new GraphBuilder(this.#names);
    const outputs = build(inner);
    this.#lines.push(`{\n${inner.text(outputs)}\n}`);
    return { graph: inner.spec(outputs) };
  }

  spec(outputs: readonly string[]): OnnxGraphSpec {
    return {
      nodes: this.#nodes,
      inputs: this.#inputs,
      outputs,
      initializers: this.#initializers,
    };
  }

  text(outputs: readonly string[]): string {
    return [...this.#lines, `→ ${outputs.join(', ')}`].join('\n');
  }

  model(opset: number, outputs: readonly string[]): BuiltModel {
    const opsets = { 'com.microsoft': 1 };
    return {
      bytes: writeOnnxModel({ ...this.spec(outputs), opset, opsets }),
      outputs,
      text: `opset ${opset}\n${this.text(outputs)}`,
    };
  }

  #fresh(prefix: string): string {
    return `${prefix}${this.#names.count++}`;
  }
}

function attributeText(key: string, value: OnnxAttribute): string {
  if (value instanceof HostTensor) return `${key}=${value.dtype}[${value.shape.join(',')}]`;
  return typeof value === 'object' && ('graph' in value || 'sparse' in value)
    ? `${key}={…}`
    : `${key}=${JSON.stringify(value)}`;
}
